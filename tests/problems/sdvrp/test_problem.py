import numpy as np
import pytest
import vrplib as other_reader

from offered import problem
from problems.instances import instance_of, plan
from specahd.core.errors import FileError
from specahd.repair.cases import case_of_file
from specahd.routing.base import Region
from specahd.routing.kernels.descriptors import GROUP_NAMES

SDVRP = problem("sdvrp")
CORNERS = [[0, 0], [10, 0], [10, 10], [0, 10]]
SQUARE = instance_of("sdvrp", CORNERS, [0, 4, 12, 3])
SOLUTION = plan([(1, 4), (2, 6)], [(2, 6), (3, 3)])
WRITTEN = SDVRP.solution_files("x", SOLUTION, SDVRP.cost(SQUARE, SOLUTION))[".sol"]


def test_another_reader_takes_the_routes_of_a_solution_file(tmp_path):
    path = tmp_path / "x.sol"
    path.write_text(WRITTEN)
    assert SDVRP.read_solution(path) == (SOLUTION, 68.0)
    theirs = other_reader.read_solution(path)
    assert (theirs["routes"], theirs["cost"]) == ([[1, 2], [2, 3]], 68)


def test_a_plain_solution_delivers_whole_demands(tmp_path):
    path = tmp_path / "x.sol"
    path.write_text("Route #1: 1 3\nRoute #2: 2\nCost 62\n")
    light = instance_of("sdvrp", CORNERS, [0, 4, 9, 3])
    solution, cost = SDVRP.read_solution(path)
    assert cost == SDVRP.cost(light, solution) == 62
    assert SDVRP.check(light, solution) == ()
    assert SDVRP.solution_files("x", solution, cost)[".sol"] == path.read_text()
    # It is an incumbent like any other.
    assert SDVRP.operator.selector.inputs(light, solution)[2].tolist() == [4, 3, 9]
    written, region = plan([(1, 4), (3, 3)], [(2, 9)]), Region((1, 2))
    np.testing.assert_array_equal(
        SDVRP.describe(light, solution, region), SDVRP.describe(light, written, region)
    )
    rebuilt = [np.array([2, 1]), np.array([6, 4])]
    merged = SDVRP.operator.merge(light, solution, region, rebuilt)
    path.write_text(SDVRP.solution_files("x", merged, 1.0)[".sol"])
    assert SDVRP.read_solution(path)[0] == merged


def test_a_stop_without_quantity_in_a_given_file_is_refused(tmp_path):
    path = tmp_path / "x.sol"
    path.write_text(WRITTEN)
    assert case_of_file(SDVRP, SQUARE, path).baseline == SOLUTION
    # Route 1 would only pass customer 3, which route 2 serves.
    for stops, given in (("1 3 2", "4 0 6"), ("1 2 3", "4 6 0"), ("3 1 2", "0 4 6")):
        text = WRITTEN.replace("#1: 1 2", f"#1: {stops}").replace("#1: 4 6", f"#1: {given}")
        path.write_text(text)
        with pytest.raises(FileError, match=r"x\.sol does not solve x: Route 1 delivers 0"):
            case_of_file(SDVRP, SQUARE, path)


def test_descriptor_by_hand():
    instance = instance_of("sdvrp", [[0, 0], [3, 4], [6, 8], [0, 5]], [0, 2, 12, 3])
    solution = plan([(1, 2), (2, 8)], [(2, 4)], [(3, 3)])
    values = problem("sdvrp").describe(instance, solution, Region((2, 1)))
    found = dict(zip(SDVRP.descriptor_names, values, strict=True))
    # Three deliveries of 2, 8 and 4 on two routes; the third route is not touched.
    expected = {
        "log_size": np.log(3),
        "log_routes": np.log(2),
        "completeness": 1.0,
        "slack": 1 - 14 / 20,
        "demand_mean": 14 / 3 / 10,
        "demand_variation": np.std([2, 8, 4]) / np.mean([2, 8, 4]),
        "customer_demand": 7 / 10,
        "log_splits": np.log(3 / 2),
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    assert SDVRP.descriptor_names[:14] == GROUP_NAMES


def test_descriptor_without_a_split_is_the_shared_one():
    coords = [[0, 0], [3, 4], [6, 8], [0, 5], [-5, 0]]
    instance = instance_of("sdvrp", coords, [0, 2, 4, 3, 1])
    solution = plan([(1, 2), (2, 4)], [(3, 3)], [(4, 1)])
    found = problem("sdvrp").describe(instance, solution, Region((2, 1)))
    expected = problem("cvrp").describe(instance, ((1, 2), (3,), (4,)), Region((2, 1)))
    np.testing.assert_allclose(found[:14], expected)
    assert found[15] == 0.0
