import numpy as np
import pytest
import vrplib as other_reader

from routing.formats.refusals import assert_refused
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
DISPLAY = "DISPLAY_DATA_SECTION\n1 5 5\n2 6 6\n3 7 7\n4 9 9\n"
TOUR = "NAME : x\nTYPE : TOUR\nDIMENSION : 4\nTOUR_SECTION\n2 4\n1\n3\n-1\nEOF\n"


EXPLICIT = (
    "NAME : four\nTYPE : TSP\nDIMENSION : 4\nEDGE_WEIGHT_TYPE : EXPLICIT\n"
    "EDGE_WEIGHT_FORMAT : UPPER_ROW\nEDGE_WEIGHT_SECTION   \n3 4\n8 5 6\n7\n"
    f"{DISPLAY}EOF\n"
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


def test_no_coordinates_are_made_from_a_drawing(write):
    data = tsplib.read(write(EXPLICIT))
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
    for text in (EXPLICIT, EXPLICIT.replace("DISPLAY_DATA_SECTION", "NODE_COORD_SECTION")):
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
    data = tsplib.read(write(EXPLICIT))
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


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("DIMENSION	:  5", "DIMENSION : 2", "DIMENSION is 2, expected at least 3"),
        ("CEIL_2D", "MAN_2D", "EDGE_WEIGHT_TYPE is 'MAN_2D', expected EUC_2D or CEIL"),
        ("TSP (somebody)", "ATSP", "TYPE is 'ATSP', expected TSP"),
        ("NODE_COORD", "DEPOT", "DEPOT_SECTION is not supported and may be"),
        ("NODE", "FIXED_EDGES_SECTION\n1 4 2\n-1\nNODE", "FIXED_EDGES_SECTION holds 3 nodes, "),
        (
            "NODE",
            "FIXED_EDGES_SECTION\n1 4\n4 6\n-1\nNODE",
            "holds node 6, expected pairs of nodes",
        ),
        # A ring, a star, and a node beside itself.
        ("NODE", "FIXED_EDGES_SECTION\n1 4\n4 2\n2 1\n-1\nNODE", "joins nodes 2 and 1, expected"),
        ("NODE", "FIXED_EDGES_SECTION\n1 4\n1 2\n1 3\n-1\nNODE", "joins nodes 1 and 3, expected"),
        ("NODE", "FIXED_EDGES_SECTION\n2 2\n-1\nNODE", "joins nodes 2 and 2, expected edges"),
    ],
)
def test_malformed_file_is_named_in_one_sentence(tmp_path, old, new, message):
    assert_refused(tsplib.read, tmp_path / "x", PLANE, old, new, message)


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
        ("2 4", "nan 4", "nan"),
        ("2 4", "2 99999999999", "TOUR_SECTION holds 1e+11, expected nodes"),
        ("TYPE : TOUR", "TYPE : TSP", "TYPE is 'TSP', expected TOUR"),
        ("TOUR_SECTION\n2 4\n1\n3\n-1\n", "", "TOUR_SECTION is missing"),
    ],
)
def test_malformed_tours(tmp_path, old, new, message):
    assert_refused(tsplib.read_tour, tmp_path / "x", TOUR, old, new, message)
