"""Files that nobody reads get a sentence with the field or the line; fields are no tables."""

import pytest

from specahd import api
from specahd.core.errors import ConfigError, FileError, FileWarning

TYPES = "expected TSP, CVRP, SDVRP, VRPTW or CVRPTW"
COLUMNS = "names none of the columns name, x, y, lon, lat, demand, ready, due, service"
COMMENT = 'COMMENT : "Six nodes by hand; the depot is node 3"\n'


@pytest.fixture
def tiny(data):
    return (data / "tiny.vrp").read_text()


def refusal(tmp_path, text, **options):
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises(FileError) as refused:
        api.read(path, **options)
    said = str(refused.value)
    assert said.startswith(str(path))
    assert said.endswith(".")
    assert "problem=" not in said
    assert "\n" not in said
    return said.removeprefix(str(path))


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("TYPE: ACVRP\n", f": TYPE is 'ACVRP', {TYPES}."),
        ("TYPE:\n", f": TYPE is '', {TYPES}."),
        ("", f": TYPE is missing, {TYPES}."),
        ("TYPE CVRP\n", ": line 3 is 'TYPE CVRP', expected 'TYPE : value'."),
    ],
)
def test_a_type_that_nobody_reads_is_named(tmp_path, tiny, line, sentence):
    assert refusal(tmp_path, tiny.replace("TYPE: CVRP\n", line)) == sentence


@pytest.mark.parametrize("options", [{}, {"capacity": 3}])
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", " is empty, expected an instance of cvrp, "),
        ("\n \n", " is empty"),
        ("stop,longitude_deg\na,13.4\n", f": line 1 is 'stop,longitude_deg' and {COLUMNS}."),
        ("\na,1,2\nb,3,4\n", f": line 2 is 'a,1,2' and {COLUMNS}."),
        ("sep=;\nstop;place\n", f": line 2 is 'stop;place' and {COLUMNS}."),
        ("name x y\ndepot 0 0\na 3 4\n", ": line 1 separates its columns by blanks, expected"),
        ("Whose woods these are\n", ": line 1 is 'Whose woods these are', expected an instance of"),
    ],
)
def test_a_text_that_is_no_instance_gets_a_sentence(tmp_path, text, sentence, options):
    assert refusal(tmp_path, text, **options).startswith(sentence)


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
    path.write_text(tiny.replace("TYPE: CVRP\n", "").replace("EOF", "TYPE: CVRP\nEOF"))
    assert api.read(path).problem.name == "cvrp"
    path.write_text(path.read_text().replace("CAPACITY : 10", ""))
    with pytest.raises(FileError, match="CAPACITY is missing"):
        api.read(path)


def test_the_name_of_a_file_of_solomons_may_hold_a_comma(tmp_path, data):
    text = (data / "elsewhere" / "few-solomon.txt").read_text()
    path = tmp_path / "file"
    path.write_text("name, x\n" + text.partition("\n")[2])
    with pytest.warns(FileWarning, match="looks the same"):
        assert api.read(path).problem.name == "vrptw"
