import numpy as np
import pytest
import vrplib as other_reader

from routing.formats.good_files import PLANE, TOUR
from specahd.routing.formats import tsplib
from specahd.routing.geometry import Convention

MATRIX = np.array([[0, 3, 4, 8], [3, 0, 5, 6], [4, 5, 0, 7], [8, 6, 7, 0]])
DISPLAY = "DISPLAY_DATA_SECTION\n1 5 5\n2 6 6\n3 7 7\n4 9 9\n"
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
    assert data.matrix is None


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
    """A drawing has none, and other tools read the matrix."""
    for text in (EXPLICIT, EXPLICIT.replace("DISPLAY_DATA_SECTION", "NODE_COORD_SECTION")):
        first = tsplib.read(write(text))
        path = write(tsplib.dumps(first))
        second = tsplib.read(path)
        for weights in (second.matrix, other_reader.read_instance(path)["edge_weight"]):
            np.testing.assert_array_equal(weights, MATRIX)
        assert (first.coords is None) == ("DISPLAY" in text)
        np.testing.assert_array_equal(second.coords, first.coords)


def test_fixed_edges_are_read_and_written(write):
    for section, edges in (("1 4\n5 2\n-1\n", ((0, 3), (4, 1))), ("-1\n", ())):
        text = PLANE.replace("NODE_COORD", f"FIXED_EDGES_SECTION\n{section}NODE_COORD")
        data = tsplib.read(write(text))
        assert data.fixed_edges == edges
        assert tsplib.read(write(tsplib.dumps(data))).fixed_edges == edges


def test_tours_read_back(write):
    tour = tsplib.read_tour(write(TOUR))
    assert tour == (1, 3, 0, 2)
    text = tsplib.dumps_tour(tour, "x", "length 24")
    assert "COMMENT : length 24" in text
    assert tsplib.read_tour(write(text)) == tour
