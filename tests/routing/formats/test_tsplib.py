import numpy as np
import pytest
import vrplib as other_reader

from specahd.core.errors import FileError
from specahd.routing.formats import tsplib
from specahd.routing.geometry import Convention

PLANE = """NAME: five
TYPE : TSP (somebody)
COMMENT : by hand
DIMENSION	:  5
EDGE_WEIGHT_TYPE: CEIL_2D
DISPLAY_DATA_TYPE: COORD_DISPLAY
NODE_COORD_SECTION
0001 0.00 3e1
 3 40  0
2 -1.5 2

4 30 40
5  0 -7
EOF
anything
"""
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
DISPLAY = "DISPLAY_DATA_SECTION\n1 5 5\n2 6 6\n3 7 7\n4 9 9\n"
TOUR = "NAME : x\nTYPE : TOUR\nDIMENSION : 4\nTOUR_SECTION\n2 4\n1\n3\n-1\nEOF\n"


def explicit(layout="UPPER_ROW"):
    numbers = "\n".join(map(str, LAYOUTS[layout]))
    return (
        "NAME : four\nTYPE : TSP\nDIMENSION : 4\nEDGE_WEIGHT_TYPE : EXPLICIT\n"
        f"EDGE_WEIGHT_FORMAT : {layout}\nEDGE_WEIGHT_SECTION   \n{numbers}\n{DISPLAY}EOF\n"
    )


@pytest.fixture
def write(tmp_path):
    def written(text):
        path = tmp_path / "x.tsp"
        path.write_text(text)
        return path

    return written


def test_reads_odd_numbers_and_order(write):
    data = tsplib.read(write(PLANE))
    assert (data.name, data.comment, data.convention) == ("five", "by hand", Convention.CEIL_2D)
    assert data.coords.tolist() == [[0, 30], [-1.5, 2], [40, 0], [30, 40], [0, -7]]
    assert data.weights is None


@pytest.mark.parametrize("layout", LAYOUTS)
def test_explicit_layouts_and_no_coordinates_from_a_drawing(write, layout):
    data = tsplib.read(write(explicit(layout)))
    np.testing.assert_array_equal(data.weights, MATRIX)
    assert data.coords is None


@pytest.mark.parametrize("convention", ["EUC_2D", "CEIL_2D", "GEO", "ATT", "EXACT_2D", "DIMACS"])
def test_text_in_a_plane_reads_back(write, convention):
    first = tsplib.read(write(PLANE.replace("CEIL_2D", convention)))
    assert first.convention == convention
    text = tsplib.dumps(first)
    second = tsplib.read(write(text))
    np.testing.assert_array_equal(second.coords, first.coords)
    assert (second.name, second.comment, second.convention) == ("five", "by hand", convention)
    assert tsplib.dumps(second) == text


def test_explicit_text_reads_back_with_and_without_coordinates(write):
    for text in (
        explicit(),
        explicit().replace("DISPLAY_DATA_SECTION", "NODE_COORD_SECTION"),
    ):
        first = tsplib.read(write(text))
        second = tsplib.read(write(tsplib.dumps(first)))
        np.testing.assert_array_equal(second.weights, MATRIX)
        assert (first.coords is None) == ("DISPLAY" in text)
        np.testing.assert_array_equal(second.coords, first.coords)


def test_other_tools_read_our_text(write):
    data = tsplib.read(write(PLANE))
    theirs = other_reader.read_instance(write(tsplib.dumps(data)), compute_edge_weights=False)
    np.testing.assert_array_equal(theirs["node_coord"], data.coords)
    assert (theirs["dimension"], theirs["type"]) == (5, "TSP")
    assert theirs["edge_weight_type"] == "CEIL_2D"
    data = tsplib.read(write(explicit()))
    theirs = other_reader.read_instance(write(tsplib.dumps(data)))
    np.testing.assert_array_equal(theirs["edge_weight"], MATRIX)


def test_a_section_of_no_fixed_edges_is_no_constraint(write):
    text = PLANE.replace("NODE_COORD_SECTION", "FIXED_EDGES_SECTION\n-1\nNODE_COORD_SECTION")
    assert tsplib.read(write(text)).fixed_edges == ()


def test_fixed_edges_are_read_and_written(write):
    section = "FIXED_EDGES_SECTION\n1 4\n5 2\n-1\n"
    text = PLANE.replace("NODE_COORD_SECTION", f"{section}NODE_COORD_SECTION")
    data = tsplib.read(write(text))
    assert data.fixed_edges == ((0, 3), (4, 1))
    assert tsplib.read(write(tsplib.dumps(data))).fixed_edges == data.fixed_edges


TORN = {
    "coordinates torn": ("4 30 40\n5  0 -7\n", "", "NODE_COORD_SECTION holds 9 numbers"),
    "half a row": ("5  0 -7", "5 0", "NODE_COORD_SECTION holds 14 numbers"),
    "nan coordinate": ("4 30 40", "4 nan 40", r"node 4 at \(nan, 40\)"),
    "infinite coordinate": ("4 30 40", "4 30 inf", r"node 4 at \(30, inf\)"),
    "huge coordinate": ("4 30 40", "4 30 1e200", "expected each to be a number in"),
    "word as coordinate": ("4 30 40", "4 30 4O", "holds '4O', expected numbers"),
    "node twice": (" 3 40", " 2 40", "holds node 2 twice, expected 1 to 5"),
    "node beyond": (" 3 40", " 9 40", "expected 1 to 5, each once"),
    "two nodes": ("DIMENSION	:  5", "DIMENSION : 2", "DIMENSION is 2, expected at least 3"),
    "no dimension": ("DIMENSION	:  5\n", "", "DIMENSION is missing"),
    "dimension no number": (":  5", ": five", "DIMENSION is 'five', expected an integer"),
    "other weights": ("CEIL_2D", "MAN_2D", "EDGE_WEIGHT_TYPE is 'MAN_2D', expected EUC_2D or CEIL"),
    "other type": ("TSP (somebody)", "ATSP", "TYPE is 'ATSP', expected TSP"),
    "no type": ("TYPE : TSP (somebody)\n", "", "TYPE is missing"),
    "other section": ("NODE_COORD", "DEPOT", "DEPOT_SECTION is not supported and may be"),
    "fixed edges": (
        "NODE_COORD_SECTION",
        "FIXED_EDGES_SECTION\n1 4 2\n-1\nNODE_COORD_SECTION",
        "FIXED_EDGES_SECTION holds 3 nodes, expected pairs of nodes from 1 to 5",
    ),
    "fixed edges in a ring": (
        "NODE_COORD_SECTION",
        "FIXED_EDGES_SECTION\n1 4\n4 2\n2 1\n-1\nNODE_COORD_SECTION",
        "FIXED_EDGES_SECTION joins nodes 2 and 1, expected edges that make paths",
    ),
    "fixed edges in a star": (
        "NODE_COORD_SECTION",
        "FIXED_EDGES_SECTION\n1 4\n1 2\n1 3\n-1\nNODE_COORD_SECTION",
        "FIXED_EDGES_SECTION joins nodes 1 and 3, expected edges that make paths",
    ),
    "fixed edge to itself": (
        "NODE_COORD_SECTION",
        "FIXED_EDGES_SECTION\n2 2\n-1\nNODE_COORD_SECTION",
        "FIXED_EDGES_SECTION joins nodes 2 and 2, expected edges that make paths",
    ),
    "field twice": ("NAME: five", "NAME: five\nNAME: six", "NAME occurs twice"),
    "prose": ("COMMENT : by hand", "Dear reader", "line 3 is 'Dear reader', expected"),
}


@pytest.mark.parametrize("case", TORN)
def test_malformed_file_is_named_in_one_sentence(write, case):
    old, new, message = TORN[case]
    assert old in PLANE
    path = write(PLANE.replace(old, new))
    with pytest.raises(FileError, match=message) as caught:
        tsplib.read(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("6\n7\n", "6\n", "holds 5 numbers, expected 6"),
        ("6\n7\n", "6\n-7\n", "holds -7, expected a number in"),
        ("UPPER_ROW", "BAND", "EDGE_WEIGHT_FORMAT is 'BAND', expected FULL_MATRIX or"),
        ("DIMENSION : 4", "DIMENSION : 2000000000", "holds 6 numbers, expected"),
    ],
)
def test_malformed_matrix(write, old, new, message):
    assert old in explicit()
    with pytest.raises(FileError, match=message):
        tsplib.read(write(explicit().replace(old, new)))


def test_every_torn_file_is_refused(write):
    for end in range(PLANE.index("-7")):
        with pytest.raises(FileError):
            tsplib.read(write(PLANE[:end]))


def test_tours_read_back(write):
    tour = tsplib.read_tour(write(TOUR))
    assert tour == (1, 3, 0, 2)
    text = tsplib.dumps_tour(tour, "x", "length 24")
    assert "COMMENT : length 24" in text
    assert tsplib.read_tour(write(text)) == tour


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("-1\nEOF\n", "", "TOUR_SECTION has no end, expected nodes and then -1"),
        ("3\n-1", "-1", "TOUR_SECTION holds 3 nodes, expected 4"),
        ("2 4", "0 4", "TOUR_SECTION holds 0, expected nodes from 1 on"),
        ("2 4", "2.5 4", "TOUR_SECTION holds 2.5, expected nodes from 1 on"),
        ("2 4", "nan 4", "TOUR_SECTION holds 'nan'|line 5 is 'nan 4'"),
        ("2 4", "2 99999999999", "TOUR_SECTION holds 1e.11, expected nodes"),
        ("TYPE : TOUR", "TYPE : TSP", "TYPE is 'TSP', expected TOUR"),
        ("TOUR_SECTION\n2 4\n1\n3\n-1\n", "", "TOUR_SECTION is missing"),
    ],
)
def test_malformed_tours(write, old, new, message):
    assert old in TOUR
    with pytest.raises(FileError, match=message) as caught:
        tsplib.read_tour(write(TOUR.replace(old, new)))
    assert str(caught.value).endswith(".")
