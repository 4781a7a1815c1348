"""Text of files reaches a terminal and a spreadsheet without control of either."""

import csv
import io
import pickle
from pathlib import Path

import pytest
from rich.console import Console

from specahd.core.display import csv_text, visible
from specahd.core.errors import FileError, FileWarning
from specahd.reporting.document import Code, Document, Figure, Section, Table
from specahd.tracking.observers import ProgressObserver
from specahd.tracking.tables import new_table, stdout_console


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Köln – Süd", "Köln – Süd"),
        ("a\x1b[31mb", r"a\x1b[31mb"),
        ("a\nb\tc\rd", r"a\x0ab\x09c\x0dd"),
        ("\x7f\x85\x9b", r"\x7f\x85\x9b"),
        ("fdp.\u202etxt", r"fdp.\u202etxt"),
        ("\u2066a\u2069\u2028", r"\u2066a\u2069\u2028"),
        (Path("not text \udcff"), r"not text \udcff"),
    ],
)
def test_control_characters_are_shown_as_escapes(text, shown):
    assert visible(text) == shown


def test_errors_and_warnings_about_files_are_safe_sentences():
    for kind in (FileError, FileWarning):
        raised = kind("file a\x1b]0;b\x07:\nsecond line")
        assert str(raised) == "file a\\x1b]0;b\\x07:\nsecond line"
        assert str(pickle.loads(pickle.dumps(raised))) == str(raised)


def test_no_part_of_a_report_holds_control_characters(tmp_path):
    name = "run\x1b[31m\u202e"
    table = Table([name], [["=1\x1b"]])
    figure = Figure("a.svg", name, f"<svg>{name}</svg>", b"")
    document = Document(name, [Section(name, [name, table, Code(name, f"\tx{name}"), figure])])
    figure.write(tmp_path)
    svg = (tmp_path / "a.svg").read_text()
    for text in (document.markdown(), document.html(), document.latex(), table.csv(), svg):
        assert not {"\x1b", "\u202e"} & set(text)
    assert r"<p>run\x1b[31m\u202e</p>" in document.html()
    # A tab of a source is no control character.
    assert "\tx" in document.html()


def test_no_line_of_the_display_holds_control_characters(capsys):
    text = io.StringIO()
    observer = ProgressObserver(Console(file=text, width=200))
    observer.on_phase("files of a\x1b[31m [bold]", 1)
    observer.on_warning("b\u202e:\nsecond line")
    assert text.getvalue() == "files of a\\x1b[31m [bold] (1)\nb\\u202e:\nsecond line\n"
    table = new_table("c\x1b [bold]", "[red]d")
    table.add_column("a column that is wide enough")
    stdout_console().print(table)
    assert "c\\x1b [bold]" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["=HYPERLINK(1)", "+1+1", "-2-3", "@SUM(1)", " =1", "-a", "@"])
def test_a_formula_is_quoted(name):
    assert next(csv.reader([csv_text([[name]])])) == [f"'{name}"]


def test_a_control_character_cannot_hide_a_formula():
    assert csv_text([["\t=1", "\r=1"]]) == "\\x09=1,\\x0d=1\n"


def test_numbers_and_words_stay_as_they_are():
    row = ["+11.82%", "-3", "+30.25% ± 0.35", "-", "+49 30", "a=b", "", "–", -4, 2.5, None]
    assert csv_text([row]) == "+11.82%,-3,+30.25% ± 0.35,-,+49 30,a=b,,–,-4,2.5,\n"
