import numpy as np
import pytest
import vrplib as other_reader

from specahd.core.errors import FileError
from specahd.problems.sdvrp.deliveries import Delivery
from specahd.problems.sdvrp.instance import SDVRPInstance
from specahd.problems.sdvrp.problem import SDVRP
from specahd.repair.cases import case_of_solution
from specahd.routing.base import Region
from specahd.routing.geometry import Convention, distances


def plan(*routes):
    return tuple(tuple(Delivery(*stop) for stop in route) for route in routes)


@pytest.fixture
def square():
    coords = np.array([[0, 0], [10, 0], [10, 10], [0, 10]], float)
    return SDVRPInstance("square", coords, np.array([0, 4, 12, 3]), 10)


SOLUTION = plan([(1, 4), (2, 6)], [(2, 6), (3, 3)])


def test_the_child_sees_the_instance(square):
    problem = SDVRP()
    arrays = {
        name: np.zeros(shape, dtype) for name, (dtype, shape) in problem.layout(square).items()
    }
    problem.fill(square, arrays)
    np.testing.assert_array_equal(arrays["coords"], square.coords)
    np.testing.assert_array_equal(arrays["demands"], square.demands)
    assert arrays["capacity"].tolist() == [10]
    matrix = distances(square.coords[:, None], square.coords[None], Convention.EUC_2D)
    np.testing.assert_array_equal(arrays["distance_matrix"], matrix)


def test_inputs_of_the_runners(square):
    problem = SDVRP(max_regions=3, max_size=20)
    made = problem.operator.selector.inputs(square, SOLUTION)
    assert [array.tolist() for array in made] == [[2, 2], [1, 2, 2, 3], [4, 6, 6, 3], [3, 20]]
    [customers] = problem.operator.inputs(square, SOLUTION, Region((3, 1)))
    assert customers.tolist() == [1, 3]
    assert {array.dtype for array in (*made, customers)} == {np.dtype(np.int64)}


def test_repairing_by_hand(square):
    problem = SDVRP()
    [region] = problem.operator.selector.validate(
        square, SOLUTION, [np.array([3]), np.array([3, 2, 3])]
    ).regions
    rebuilt = [np.array([1, 0, 1, 2]), np.array([10, 0, 2, 3])]
    merged = problem.operator.merge(square, SOLUTION, region, rebuilt)
    assert merged == plan([(1, 4)], [(2, 10)], [(2, 2), (3, 3)])
    assert problem.check(square, merged) == ()
    assert problem.describe(square, SOLUTION, region).shape == (len(problem.descriptor_names),)


def test_a_flood_of_stops_merges_to_nothing(square):
    region = Region((2, 3))
    crumbs = np.tile([1, 0], 3_000)
    output = [crumbs, np.ones_like(crumbs)]
    assert SDVRP().operator.merge(square, SOLUTION, region, output) is None


def test_solution_files(square, tmp_path):
    problem = SDVRP()
    path = tmp_path / "x.sol"
    text = problem.solution_files("x", SOLUTION, problem.cost(square, SOLUTION))[".sol"]
    path.write_text(text)
    assert problem.read_solution(path) == (SOLUTION, 68.0)
    theirs = other_reader.read_solution(path)
    assert (theirs["routes"], theirs["cost"]) == ([[1, 2], [2, 3]], 68)


def test_a_plain_solution_delivers_whole_demands(square, tmp_path):
    problem = SDVRP()
    path = tmp_path / "x.sol"
    path.write_text("Route #1: 1 3\nCost 34\n")
    solution, cost = problem.read_solution(path)
    assert cost == problem.cost(square, solution) == 34
    assert [v.kind for v in problem.check(square, solution)] == ["missing_customer"]
    assert problem.solution_files("x", solution, cost)[".sol"] == path.read_text()
    # It is an incumbent like any other.
    path.write_text("Route #1: 1 3\nRoute #2: 2\nCost 62\n")
    light = SDVRPInstance("light", square.coords, np.array([0, 4, 9, 3]), 10)
    solution, _ = problem.read_solution(path)
    assert problem.check(light, solution) == ()
    assert problem.operator.selector.inputs(light, solution)[2].tolist() == [4, 3, 9]
    written = plan([(1, 4), (3, 3)], [(2, 9)])
    region = Region((1, 2))
    np.testing.assert_array_equal(
        problem.describe(light, solution, region), problem.describe(light, written, region)
    )
    rebuilt = [np.array([2, 1]), np.array([6, 4])]
    merged = problem.operator.merge(light, solution, region, rebuilt)
    path.write_text(problem.solution_files("x", merged, 1.0)[".sol"])
    assert problem.read_solution(path)[0] == merged


def test_a_stop_without_quantity_in_a_given_file_is_refused(square, tmp_path):
    path = tmp_path / "x.sol"
    text = SDVRP().solution_files("x", SOLUTION, 1.0)[".sol"]
    path.write_text(text)
    assert case_of_solution(SDVRP(), square, path).baseline == SOLUTION
    # Route 1 would only pass customer 3, which route 2 serves.
    for stops, given in (("1 3 2", "4 0 6"), ("1 2 3", "4 6 0"), ("3 1 2", "0 4 6")):
        path.write_text(text.replace("#1: 1 2", f"#1: {stops}").replace("#1: 4 6", f"#1: {given}"))
        with pytest.raises(FileError, match=r"x\.sol does not solve square: Route 1 delivers 0"):
            case_of_solution(SDVRP(), square, path)


def test_the_engine_takes_solutions_and_gives_them_back(square):
    problem = SDVRP()
    whole = plan([(1, None), (2, 6)], [(2, 6), (3, 3)])
    arrays = problem.flat(square, whole)
    assert [array.tolist() for array in arrays] == [[1, 2, 0, 2, 3, 0], [4, 6, 0, 6, 3, 0]]
    assert problem.unflat(square, arrays) == SOLUTION


@pytest.mark.parametrize(
    "arrays",
    [
        [],
        [np.array([1, 2, 3])],
        [np.array([1, 2, 3]), np.array([4, 12])],
        [np.array([1.0, 2.0]), np.array([4, 12])],
        [np.array([[1, 2]]), np.array([[4, 12]])],
        [np.array([1]), np.array([4]), np.array([0])],
    ],
)
def test_arrays_that_are_no_deliveries_are_no_solution(square, arrays):
    assert SDVRP().unflat(square, arrays) is None


def test_the_bound_is_each_customers_share_of_its_round_trips():
    coords = np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 10.0]])
    instance, problem = SDVRPInstance("two", coords, np.array([0, 6, 15]), 10), SDVRP()
    # 6/10 of 2 x 5 and 15/10 of 2 x 10.
    assert problem.lower_bound(instance) == pytest.approx(6 + 30)
    assert problem.cost(instance, problem.baseline(instance)) >= 36
