import numpy as np
import pytest
import vrplib as other_reader

from routing.formats.refusals import assert_refused
from specahd.core.errors import FileError
from specahd.routing.formats import vrplib
from specahd.routing.geometry import Convention


def test_reads_odd_whitespace_and_puts_the_depot_first(data):
    tiny = vrplib.read(data / "tiny.vrp")
    assert (tiny.name, tiny.capacity, tiny.convention) == ("tiny", 10, Convention.EUC_2D)
    assert tiny.comment == "Six nodes by hand; the depot is node 3"
    assert tiny.coords.tolist() == [[0, 0], [0, 30], [40, 0], [30, 40], [0, -7], [-1.5, 2]]
    assert tiny.demands.tolist() == [0, 4, 5, 6, 1, 10]
    assert tiny.weights is None


@pytest.mark.parametrize("name", ["tiny", "tiny-explicit"])
def test_text_reads_back(data, tmp_path, name):
    first = vrplib.read(data / f"{name}.vrp")
    path = tmp_path / "copy.vrp"
    path.write_text(vrplib.dumps(first))
    second = vrplib.read(path)
    for field in ("name", "comment", "capacity", "convention"):
        assert getattr(first, field) == getattr(second, field)
    for field in ("coords", "weights", "demands"):
        np.testing.assert_array_equal(getattr(first, field), getattr(second, field))
    assert vrplib.dumps(second) == vrplib.dumps(first)


def test_other_tools_read_our_text(data, tmp_path):
    tiny = vrplib.read(data / "tiny.vrp")
    path = tmp_path / "tiny.vrp"
    path.write_text(vrplib.dumps(tiny))
    theirs = other_reader.read_instance(path)
    np.testing.assert_array_equal(theirs["node_coord"], tiny.coords)
    np.testing.assert_array_equal(theirs["demand"], tiny.demands)
    assert (theirs["capacity"], theirs["depot"].tolist()) == (10, [0])
    assert theirs["edge_weight_type"] == "EUC_2D"


MATRIX = np.array([[0, 3, 4, 8], [3, 0, 5, 6], [4, 5, 0, 7], [8, 6, 7, 0]])
LAYOUTS = {
    "FULL_MATRIX": MATRIX.ravel(),
    "UPPER_ROW": [3, 4, 8, 5, 6, 7],
    "LOWER_COL": [3, 4, 8, 5, 6, 7],
    "LOWER_ROW": [3, 4, 5, 8, 6, 7],
    "UPPER_COL": [3, 4, 5, 8, 6, 7],
    "UPPER_DIAG_ROW": [0, 3, 4, 8, 0, 5, 6, 0, 7, 0],
    "LOWER_DIAG_COL": [0, 3, 4, 8, 0, 5, 6, 0, 7, 0],
    "LOWER_DIAG_ROW": [0, 3, 0, 4, 5, 0, 8, 6, 7, 0],
    "UPPER_DIAG_COL": [0, 3, 0, 4, 5, 0, 8, 6, 7, 0],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_explicit_layouts(data, tmp_path, layout):
    text = (data / "tiny-explicit.vrp").read_text()
    text = text.replace("LOWER_ROW", layout)
    text = text.replace("  3\n  4 5\n  8 6 7", "\n".join(map(str, LAYOUTS[layout])))
    path = tmp_path / "x.vrp"
    path.write_text(text)
    np.testing.assert_array_equal(vrplib.read(path).weights, MATRIX)


TORN = {
    "coordinates torn": ("4 30 40\n5  0 -7\n", "", "NODE_COORD_SECTION holds 12 numbers"),
    "half a row": ("5  0 -7", "5 0", "NODE_COORD_SECTION holds 17 numbers"),
    "no demand section": ("DEMAND_SECTION\n", "", "NODE_COORD_SECTION holds 30 numbers"),
    "no depot section": ("DEPOT_SECTION\n\t3\n\t-1\nEOF\n", "", "DEPOT_SECTION is missing"),
    "no depot": ("\t3\n\t-1\n", "", "expected one node and then -1"),
    "two depots": ("\t3\n", "\t3\n\t4\n", "expected one node and then -1"),
    "unknown depot": ("\t3\n", "\t7\n", "names node 7, expected 1 to 6"),
    "depot demand": ("3 0\n4 6", "3 2\n4 6", "the depot 3 the demand 2, expected 0"),
    "nan coordinate": ("4 30 40", "4 nan 40", "node 4 at (nan, 40)"),
    "infinite coordinate": ("4 30 40", "4 30 inf", "node 4 at (30, inf)"),
    "huge coordinate": ("4 30 40", "4 30 1e200", "expected each to be a number in"),
    "word as coordinate": ("4 30 40", "4 30 4O", "holds '4O', expected numbers"),
    "negative demand": ("2 5\n", "2 -5\n", "node 2 the demand -5"),
    "fractional demand": ("2 5\n", "2 5.5\n", "node 2 the demand 5.5"),
    "node twice": ("\n2 40  0", "\n1 40 0", "holds node 1 twice, expected 1 to 6"),
    "node beyond": ("\n2 40  0", "\n9 40 0", "expected 1 to 6, each once"),
    "zero capacity": ("CAPACITY : 10", "CAPACITY : 0", "CAPACITY is '0', expected an integer in"),
    "no capacity": ("CAPACITY : 10\n", "", "CAPACITY is missing"),
    "capacity no number": ("CAPACITY : 10", "CAPACITY : ten", "CAPACITY is 'ten'"),
    "no customer": ("DIMENSION	:  6", "DIMENSION : 1", "expected at least 2"),
    "other weights": ("EUC_2D", "MAN_2D", "EDGE_WEIGHT_TYPE is 'MAN_2D', expected EUC_2D or CEIL"),
    "other type": ("TYPE: CVRP", "TYPE: TSP", "TYPE is 'TSP', expected CVRP"),
    "other section": ("DEMAND_SECTION", "PICKUP_SECTION", "PICKUP_SECTION is not supported"),
    "other constraint": ("CAPACITY", "DISTANCE : 9\nCAPACITY", "DISTANCE is not supported"),
    "section twice": ("DEPOT_SECTION", "DEMAND_SECTION", "DEMAND_SECTION occurs twice"),
    "field twice": ("CAPACITY : 10", "CAPACITY : 10\nCAPACITY : 10", "CAPACITY occurs twice"),
    "prose": ("TYPE: CVRP", "Dear reader", "line 3 is 'Dear reader', expected"),
}


@pytest.mark.parametrize("case", TORN)
def test_malformed_file_is_named_in_one_sentence(data, tmp_path, case):
    text = (data / "tiny.vrp").read_text()
    assert_refused(vrplib.read, tmp_path / "x", text, *TORN[case])


def test_every_torn_file_is_refused(data, tmp_path):
    text = (data / "tiny.vrp").read_text()
    path = tmp_path / "torn.vrp"
    # A depot section without its end is whole: some publishers leave the -1 out.
    for end in range(text.index("3\n\t-1\nEOF")):
        path.write_text(text[:end])
        with pytest.raises(FileError):
            vrplib.read(path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("8 6 7", "8 6", "holds 5 numbers, expected 6"),
        ("8 6 7", "8 6 nan", "holds nan, expected a number in"),
        ("8 6 7", "8 6 -7", "holds -7, expected a number in"),
        ("LOWER_ROW", "BAND", "EDGE_WEIGHT_FORMAT is 'BAND', expected FULL_MATRIX or"),
        ("DIMENSION : 4", "DIMENSION : 2000000000", "holds 6 numbers, expected"),
        ("LOWER_ROW", "FULL_MATRIX", "holds 6 numbers, expected 16"),
    ],
)
def test_malformed_matrix(data, tmp_path, old, new, message):
    text = (data / "tiny-explicit.vrp").read_text()
    assert_refused(vrplib.read, tmp_path / "x", text, old, new, message)


def test_asymmetric_matrix(data, tmp_path):
    text = (data / "tiny-explicit.vrp").read_text().replace("LOWER_ROW", "FULL_MATRIX")
    new = "0 3 4 8 3 0 5 6 4 5 0 7 8 6 9 0"
    old = "  3\n  4 5\n  8 6 7"
    assert_refused(vrplib.read, tmp_path / "x", text, old, new, "not symmetric")


def test_what_is_no_text_or_no_file(tmp_path):
    path = tmp_path / "noise.vrp"
    path.write_bytes(bytes(range(256)) * 10)
    with pytest.raises(FileError, match="got binary data"):
        vrplib.read(path)
    path.write_bytes(b"")
    with pytest.raises(FileError, match="TYPE is missing"):
        vrplib.read(path)
    with pytest.raises(FileError, match=r"Cannot read .*missing.vrp"):
        vrplib.read(tmp_path / "missing.vrp")
    with pytest.raises(FileError, match="Cannot read"):
        vrplib.read(tmp_path)
