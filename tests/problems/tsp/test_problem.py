import numpy as np
import pytest

from specahd.core.errors import FileError
from specahd.core.program import Level
from specahd.problems.tsp import construct
from specahd.problems.tsp.contracts import APPEND
from specahd.problems.tsp.instance import TSPInstance
from specahd.problems.tsp.problem import TSP
from specahd.problems.tsp.regions import whole_tour
from specahd.routing.base import Region, contracts
from specahd.routing.formats.tsplib import dumps_tour
from specahd.routing.geometry import Convention, distances
from specahd.sandbox.definition import define

select_next_node = define(APPEND.seed.source, "select_next_node")

SQUARE = TSPInstance("square", np.array([[0, 0], [9, 9], [9, 0], [0, 9], [5, 10]], float))
EXPLICIT = TSPInstance(
    "three",
    np.zeros((3, 2)),
    Convention.EXPLICIT,
    np.array([[0, 7, 1], [7, 0, 2], [1, 2, 0]], float),
)


def block(problem, instance):
    arrays = {
        name: np.zeros(shape, dtype) for name, (dtype, shape) in problem.layout(instance).items()
    }
    problem.fill(instance, arrays)
    return arrays


@pytest.mark.parametrize("instance", [SQUARE, EXPLICIT], ids=["square", "explicit"])
def test_the_child_sees_the_instance(instance):
    arrays = block(TSP(), instance)
    assert list(arrays) == ["coords", "distance_matrix"]
    np.testing.assert_array_equal(arrays["coords"], instance.coords)
    matrix = instance.matrix
    if matrix is None:
        matrix = distances(instance.coords[:, None], instance.coords[None], Convention.EUC_2D)
    np.testing.assert_array_equal(arrays["distance_matrix"], matrix)


def test_inputs_of_the_runners():
    problem = TSP(max_regions=2, max_size=20)
    tour, budget = problem.operator.selector.inputs(SQUARE, (3, 1, 2, 0, 4))
    assert (tour.tolist(), budget.tolist()) == ([3, 1, 2, 0, 4], [2, 20])
    [nodes] = problem.operator.inputs(SQUARE, (3, 1, 2, 0, 4), Region((4, 3, 1, 2)))
    # The anchors stay outside, and what is between them does not tell its order.
    assert nodes.tolist() == [4, 1, 3, 2]
    assert {array.dtype for array in (tour, budget, nodes)} == {np.dtype(np.int64)}


def test_repairing_by_hand():
    problem = TSP()
    crossed = (0, 1, 3, 2, 4)
    [region] = problem.operator.selector.validate(
        SQUARE, crossed, [np.array([4]), np.array([2, 4, 0, 1])]
    ).regions
    assert region == Region((2, 4, 0, 1))
    merged = problem.operator.merge(SQUARE, crossed, region, [np.array([1, 2])])
    assert merged == (4, 1, 3, 2, 0)
    assert problem.check(SQUARE, merged) == ()
    assert problem.describe(SQUARE, crossed, region).shape == (len(problem.descriptor_names),)


@pytest.mark.parametrize("size", [3, 4, 60])
def test_a_whole_tour_is_rebuilt_as_one_region(size):
    problem = TSP()
    coords = np.random.default_rng(size).random((size, 2)) * 100
    instance = TSPInstance("whole", coords, Convention.EXACT_2D)
    incumbent = tuple(np.random.default_rng(1).permutation(size).tolist())
    region = whole_tour(incumbent)
    [nodes] = problem.operator.inputs(instance, incumbent, region)
    assert nodes[0] == nodes[-1] == incumbent[0]
    assert np.isfinite(problem.describe(instance, incumbent, region)).all()
    output = construct.rebuild(select_next_node, block(problem, instance), [nodes]).arrays
    merged = problem.operator.merge(instance, incumbent, region, output)
    assert problem.check(instance, merged) == ()
    # From node 0, nearest next is the baseline.
    if incumbent[0] == 0:
        assert merged == problem.baseline(instance, "nearest")
    from_zero = whole_tour(tuple(range(size)))
    inputs = problem.operator.inputs(instance, from_zero.nodes[:-1], from_zero)
    output = construct.rebuild(select_next_node, block(problem, instance), inputs).arrays
    merged = problem.operator.merge(instance, tuple(range(size)), from_zero, output)
    assert merged == problem.baseline(instance, "nearest")


def test_solution_files(tmp_path):
    problem = TSP()
    path = tmp_path / "x.sol"
    path.write_text(problem.solution_files("x", (3, 1, 0, 4, 2), 31.0)[".sol"])
    assert path.read_text() == "Route #1: 4 2 3 1\nCost 31\n"
    assert problem.read_solution(path) == ((0, 4, 2, 3, 1), 31.0)
    path.write_text("Route #1: 4 2\nRoute #2: 3 1\nCost 31\n")
    with pytest.raises(FileError, match="holds 2 routes, expected one"):
        problem.read_solution(path)
    tour = tmp_path / "x.tour"
    tour.write_text(dumps_tour((3, 1, 0, 4, 2), "x"))
    assert problem.read_solution(tour) == ((3, 1, 0, 4, 2), None)


def test_the_contracts_name_their_runners():
    runners = [contracts(TSP().operator)[level].runner for level in Level]
    assert {runner.partition(":")[0] for runner in runners} == {"specahd.problems.tsp.construct"}
