import numpy as np
import pytest

from specahd.core.errors import FileError
from specahd.problems.cvrp.instance import CVRPInstance
from specahd.problems.cvrp.problem import CVRP
from specahd.repair.cases import case_of_solution
from specahd.routing.base import Region
from specahd.routing.formats.sol import dumps_deliveries
from specahd.routing.geometry import Convention, distances


@pytest.mark.parametrize("name", ["tiny", "tiny-explicit"])
def test_the_child_sees_the_instance(data, name):
    problem = CVRP()
    instance = problem.read(data / f"{name}.vrp")
    arrays = {
        name: np.zeros(shape, dtype) for name, (dtype, shape) in problem.layout(instance).items()
    }
    problem.fill(instance, arrays)
    np.testing.assert_array_equal(arrays["coords"], instance.coords)
    np.testing.assert_array_equal(arrays["demands"], instance.demands)
    assert arrays["capacity"].tolist() == [instance.capacity]
    matrix = instance.matrix
    if matrix is None:
        coords = instance.coords
        matrix = distances(coords[:, None], coords[None], Convention.EUC_2D)
    np.testing.assert_array_equal(arrays["distance_matrix"], matrix)


def test_inputs_of_the_runners(data):
    problem = CVRP(max_regions=3, max_size=20)
    tiny = problem.read(data / "tiny.vrp")
    lengths, values, budget = problem.operator.selector.inputs(tiny, ((1, 3), (2, 4), (5,)))
    assert (lengths.tolist(), values.tolist()) == ([2, 2, 1], [1, 3, 2, 4, 5])
    assert budget.tolist() == [3, 20]
    [customers] = problem.operator.inputs(tiny, (), Region((4, 1, 3)))
    assert customers.tolist() == [1, 3, 4]
    assert {array.dtype for array in (lengths, values, budget, customers)} == {np.dtype(np.int64)}


def test_repairing_by_hand(data):
    problem = CVRP()
    tiny = problem.read(data / "tiny.vrp")
    solution = ((5,), (4, 1, 2), (3,))
    output = [np.array([3]), np.array([3, 4, 1])]
    [region] = problem.operator.selector.validate(tiny, solution, output).regions
    rebuilt = [np.array([1, 2, 0, 3])]
    merged = problem.operator.merge(tiny, solution, region, rebuilt)
    assert merged == ((5,), (2,), (1, 3), (4,))
    assert problem.check(tiny, merged) == ()
    assert problem.describe(tiny, solution, region).shape == (len(problem.descriptor_names),)


def test_solution_files(data, tmp_path):
    problem = CVRP()
    routes, cost = problem.read_solution(data / "tiny.sol")
    assert cost == problem.cost(problem.read(data / "tiny.vrp"), routes)
    assert problem.solution_files("x", routes, cost)[".sol"] == (data / "tiny.sol").read_text()


def test_a_file_may_repeat_the_demands_of_its_instance(data, tmp_path):
    problem, tiny = CVRP(), CVRP().read(data / "tiny.vrp")
    routes, cost = problem.read_solution(data / "tiny.sol")
    path = tmp_path / "x.sol"
    given = [[int(tiny.demands[node]) for node in route] for route in routes]
    path.write_text(dumps_deliveries(routes, given, cost))
    assert "Delivery #1: " in path.read_text()
    assert case_of_solution(problem, tiny, path).baseline == routes
    given[0][0] -= 1
    path.write_text(dumps_deliveries(routes, given, cost))
    with pytest.raises(FileError, match="a line 'Delivery #k' gives customer 1 the quantity"):
        case_of_solution(problem, tiny, path)


@pytest.mark.parametrize(
    "arrays",
    [[], [np.ones(2)], [np.ones((1, 2), np.int64)], [np.ones(8, np.int64)], [np.ones(1, int)] * 2],
)
def test_arrays_that_are_no_routes_are_no_solution(arrays):
    few = CVRPInstance("few", np.zeros((4, 2)), np.array([0, 1, 1, 1]), 2)
    assert CVRP().unflat(few, CVRP().flat(few, ((1, 2), (3,)))) == ((1, 2), (3,))
    assert CVRP().unflat(few, arrays) is None
