"""Files that nobody reads get a sentence with the field or the line; fields are no tables."""

import re

import pytest

from specahd import api
from specahd.core.errors import ConfigError, FileError, FileWarning
from specahd.routing.formats import kinds

COMMENT = 'COMMENT : "Six nodes by hand; the depot is node 3"\n'


@pytest.fixture
def tiny(data):
    return (data / "tiny.vrp").read_text()


def refused(tmp_path, text, words, **options):
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises(FileError, match=f"^{re.escape(str(path))}{words}.*[.]$") as caught:
        api.read(path, **options)
    assert "problem=" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("TYPE: ACVRP\n", r": TYPE is 'ACVRP', expected TSP, .* or CVRPTW \(docs/limits.md\)"),
        ("TYPE:\n", ": TYPE is ''"),
        ("", ": TYPE is missing"),
        ("TYPE CVRP\n", ": line 3 is 'TYPE CVRP', expected 'TYPE : value'"),
    ],
)
def test_a_type_that_nobody_reads_is_named(tmp_path, tiny, line, words):
    refused(tmp_path, tiny.replace("TYPE: CVRP\n", line), words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("\n \n", " is empty, expected an instance of cvrp, "),
        ("stop,longitude_deg\na,13.4\n", ": line 1 is 'stop,longitude_deg' and .* columns name, x"),
        ("\na,1,2\nb,3,4\n", ": line 2 is 'a,1,2' and .* columns name, x"),
        ("sep=;\nstop;place\n", ": line 2 is 'stop;place' and .* columns name, x"),
        ("name x y\ndepot 0 0\na 3 4\n", ": line 1 separates its columns by blanks"),
        ("Whose woods these are\n", ": line 1 is 'Whose woods these are'"),
    ],
)
def test_a_text_that_is_no_instance_gets_a_sentence(tmp_path, text, words):
    refused(tmp_path, text, words)
    refused(tmp_path, text, words, capacity=3)


@pytest.mark.parametrize("first", ["NAME\t: foo", "COMMENT : stops at x, y", "name:a, x"])
def test_a_field_on_the_first_line_is_no_heading_of_a_table(tmp_path, tiny, first):
    path = tmp_path / "file"
    rest = tiny.partition("\n")[2].replace(COMMENT, "")
    path.write_text(f"{first}\n{rest}")
    assert api.read(path).problem.name == "cvrp"
    with pytest.raises(ConfigError, match="Expected capacity with a table of stops"):
        api.read(path, capacity=3)


def test_a_type_behind_the_sections_is_read(tmp_path, tiny):
    path = tmp_path / "file"
    behind = tiny.replace("TYPE: CVRP\n", "").replace("EOF", "TYPE: CVRP\nEOF")
    path.write_text(behind)
    assert api.read(path).problem.name == "cvrp"
    refused(tmp_path, behind.replace("CAPACITY : 10", ""), ": CAPACITY is missing")


def test_the_name_of_a_file_of_solomons_may_hold_a_comma(tmp_path, data):
    text = (data / "elsewhere" / "few-solomon.txt").read_text()
    path = tmp_path / "file"
    path.write_text("name, x\n" + text.partition("\n")[2])
    with pytest.warns(FileWarning, match="CUSTOMER holds 4 customers"):
        assert api.read(path).problem.name == "vrptw"


def test_a_line_of_a_megabyte_is_no_heading_and_no_field():
    """Trying all of it would take minutes."""
    assert kinds.identify("x,y" + ",x" * (1 << 18) + "\n1,2\n") is kinds.STOPS
    assert kinds.identify("x,y" + ",x" * (1 << 19) + "\n1,2\n") is None
    assert kinds.begins_with_field("A" * 100 + " :")
    assert not kinds.begins_with_field("A" * 101 + " :")
