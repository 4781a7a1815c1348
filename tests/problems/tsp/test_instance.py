import numpy as np
import pytest

from specahd.problems.tsp.checker import check, cost
from specahd.problems.tsp.instance import dumps, read
from specahd.problems.tsp.problem import TSP

TRIANGLE = (
    "NAME : three\nTYPE : TSP\nDIMENSION : 3\nEDGE_WEIGHT_TYPE : EUC_2D\n"
    "NODE_COORD_SECTION\n1 0 0\n2 3 4\n3 0 4\nEOF\n"
)
EXPLICIT = (
    "NAME : four\nTYPE : TSP\nDIMENSION : 4\nEDGE_WEIGHT_TYPE : EXPLICIT\n"
    "EDGE_WEIGHT_FORMAT : LOWER_ROW\nEDGE_WEIGHT_SECTION\n3\n4 5\n8 6 7\nEOF\n"
)


@pytest.fixture
def write(tmp_path):
    def written(text):
        path = tmp_path / "x.tsp"
        path.write_text(text)
        return path

    return written


def test_three_nodes_are_an_instance(write):
    triangle = read(write(TRIANGLE))
    assert (triangle.name, triangle.size, triangle.coords_from_scaling) == ("three", 3, False)
    with pytest.raises(ValueError, match="read-only"):
        triangle.coords[0, 0] = 1.0
    problem = TSP()
    for name in problem.baselines:
        tour = problem.baseline(triangle, name)
        assert check(triangle, tour) == ()
        assert cost(triangle, tour) == 12


def test_explicit_instance_gets_coordinates(write, tmp_path):
    four = read(write(EXPLICIT))
    assert four.coords_from_scaling
    assert four.coords.shape == (4, 2)
    assert cost(four, (0, 1, 2, 3)) == 3 + 5 + 7 + 8
    copy = tmp_path / "copy.tsp"
    copy.write_text(dumps(four))
    again = read(copy)
    assert again.coords_from_scaling
    np.testing.assert_array_equal(again.coords, four.coords)
    np.testing.assert_array_equal(again.matrix, four.matrix)
