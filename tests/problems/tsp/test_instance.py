import pytest

from specahd.problems.tsp.checker import check, cost
from specahd.problems.tsp.instance import read
from specahd.problems.tsp.problem import TSP

TRIANGLE = (
    "NAME : three\nTYPE : TSP\nDIMENSION : 3\nEDGE_WEIGHT_TYPE : EUC_2D\n"
    "NODE_COORD_SECTION\n1 0 0\n2 3 4\n3 0 4\nEOF\n"
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
