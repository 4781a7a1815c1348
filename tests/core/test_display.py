"""Text of files reaches a terminal and a spreadsheet without control of either."""

import csv
import pickle
from pathlib import Path

import pytest

from specahd.core.display import csv_text, visible
from specahd.core.errors import FileError, FileWarning


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


@pytest.mark.parametrize("name", ["=HYPERLINK(1)", "+1+1", "-2-3", "@SUM(1)", " =1", "-a", "@"])
def test_a_formula_is_quoted(name):
    assert next(csv.reader([csv_text([[name]])])) == [f"'{name}"]


def test_a_control_character_cannot_hide_a_formula():
    assert csv_text([["\t=1", "\r=1"]]) == "\\x09=1,\\x0d=1\n"


def test_numbers_and_words_stay_as_they_are():
    row = ["+11.82%", "-3", "+30.25% ± 0.35", "-", "+49 30", "a=b", "", "–", -4, 2.5, None]
    assert csv_text([row]) == "+11.82%,-3,+30.25% ± 0.35,-,+49 30,a=b,,–,-4,2.5,\n"
