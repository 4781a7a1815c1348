"""The shapes in which other programs write tables and distance matrices (CSV)."""

import numpy as np
import pytest

from specahd import api
from specahd.core.errors import FileError

TABLE = "name,x,y,demand\ndepot,0,0,\na,3,4,1\nb,4,3,1\n"
BARE = "0,3,4\n3,0,5\n4,5,0\n"
NAMED = ",depot,a,b\ndepot,0,3,4\na,3,0,5\nb,4,5,0\n"
DEMANDS = "name,demand\ndepot,\na,1\nb,2\n"


def numbered(text, first, heading=""):
    """Return a table with a column of row numbers before it."""
    head, *rows = text.splitlines()
    lines = [f"{number},{row}" for number, row in enumerate(rows, first)]
    return "\n".join([f"{heading},{head}", *lines]) + "\n"


def without_names(text):
    return "".join(line.partition(",")[2] for line in text.splitlines(keepends=True))


def read(tmp_path, text, capacity=3, **options):
    (tmp_path / "stops.csv").write_text(text)
    return api.read(tmp_path / "stops.csv", capacity=capacity, **options)


def read_matrix(tmp_path, text):
    """Return the distances that a file states for a table of three stops."""
    (tmp_path / "km.csv").write_text(text)
    return read(tmp_path, DEMANDS, matrix=tmp_path / "km.csv").data.matrix.tolist()


@pytest.mark.parametrize(
    "text",
    [
        numbered(TABLE, 0),
        numbered(TABLE, 1, '""'),
        numbered(TABLE, 0, "Unnamed: 0"),
        numbered(without_names(TABLE), 0),
        "sep=;\n" + TABLE.replace(",", ";"),
        "SEP=|\r\n" + TABLE.replace(",", "|"),
        "sep=\t\n" + TABLE.replace(",", "\t"),
        TABLE.replace(",", ";").replace("demand", "\tdemand"),
        '\n"sep=;"\n' + TABLE.replace(",", ";"),
    ],
)
def test_row_numbers_and_stated_separators_change_no_table(tmp_path, text):
    plain, found = read(tmp_path, TABLE), read(tmp_path, text)
    assert found.problem.name == "cvrp"
    assert np.array_equal(found.data.coords, plain.data.coords)
    assert np.array_equal(found.data.demands, plain.data.demands)


@pytest.mark.parametrize(
    "text",
    [
        BARE.replace(",", "\t"),
        NAMED.replace(",", "\t"),
        "sep=;\n" + BARE.replace(",", ";"),
        BARE.replace(",", "\t;"),
        NAMED.replace(",depot", "name,depot", 1),
        NAMED.replace(",depot", "id,depot", 1),
        NAMED.replace(",depot", "from,depot", 1),
        NAMED.replace(",depot", "Unnamed: 0,depot", 1),
        "depot,a,b\n" + BARE,
    ],
)
def test_matrices_are_told_from_tables(tmp_path, text):
    assert read_matrix(tmp_path, text) == [[0, 3, 4], [3, 0, 5], [4, 5, 0]]
    alone = read(tmp_path, text, capacity=None)
    assert (alone.problem.name, alone.size) == ("tsp", 3)


@pytest.mark.parametrize("corner", ["", "name"])
def test_names_that_are_numbers_are_no_distances(tmp_path, corner):
    text = f"{corner},0,1,2\n0,0,3,4\n1,3,0,5\n2,4,5,0\n"
    assert read(tmp_path, text, capacity=None).size == 3
    with pytest.raises(FileError, match="row 1 is named '0', expected 'depot'"):
        read_matrix(tmp_path, text)


def test_names_are_compared(tmp_path):
    """In the first line alone too; row numbers are names where there are no others."""
    with pytest.raises(FileError, match="row 2 is named 'b', expected 'a' as line 3"):
        read_matrix(tmp_path, "depot,b,a\n" + BARE)
    (tmp_path / "km.csv").write_text(",1,0,2\n1,0,3,4\n0,3,0,5\n2,4,5,0\n")
    with pytest.raises(FileError, match="row 1 is named '1', expected '0'"):
        read(tmp_path, numbered(without_names(TABLE), 0), matrix=tmp_path / "km.csv")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (",x,y,demand\ndepot,0,0,0\na,3,4,1\n", "no heading for column 1, .* with index=False"),
        (numbered(TABLE, 0).replace("\n2,", "\n7,"), "no heading for column 1"),
        (TABLE.replace("demand", "demand,").replace("1\n", "1,x\n"), "no heading for column 5"),
        ("id," + TABLE, "columns id and name, which both mean name"),
        ("sep=!\n" + TABLE, "sep= names the separator '!'"),
        ("sep=\n" + TABLE, "sep= names the separator ''"),
        ("sep=;\n", "holds 0 stops"),
        ("sep=;\n" + TABLE.replace(",", ";").replace("a;3", "a;q"), "line 4 holds the x q"),
    ],
)
def test_what_is_open_in_a_table_is_refused(tmp_path, text, sentence):
    with pytest.raises(FileError, match=sentence):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (BARE.replace(",", " "), "line 1 separates its distances by blanks, expected commas"),
        ("depot,a,b\n0,3,4\n3,0,5\n", "line 1 holds 3 names, expected 2, one for each row below"),
        # As a line and a column of names it would be a smaller matrix.
        ("x0,3,4,6\n3,0,5,1\n4,5,0,2\n6,1,2,0\n", "line 1 holds the distance 'x0'"),
        ("name,x,y\ndepot,0,0\na,3,4\n", "this is a table of stops"),
    ],
)
def test_what_is_open_in_a_matrix_is_refused(tmp_path, text, sentence):
    with pytest.raises(FileError, match=sentence):
        read_matrix(tmp_path, text)


def test_a_long_line_that_states_a_separator_takes_no_time(tmp_path):
    with pytest.raises(FileError, match="sep= names the separator"):
        read(tmp_path, "sep=" + " " * 500_000 + "x\n" + TABLE)
