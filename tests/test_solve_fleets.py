"""Solving with limits and prices of vehicles; PyVRP gives a second opinion of every solution."""

import numpy as np
import pytest
from pyvrp import CostEvaluator, Solution

from specahd import api
from specahd.core.errors import RunFailed
from specahd.routing.vehicles.baselines import problem_data

HOURS = 3600


@pytest.fixture(scope="module")
def stops(tmp_path_factory):
    """A table of 60 stops without times, and one with windows that a third of them have."""
    rng = np.random.default_rng(3)
    places = rng.integers(0, 1000, (61, 2)).tolist()
    demands = rng.integers(1, 6, 61).tolist()
    folder = tmp_path_factory.mktemp("stops")
    plain, timed = ["name,x,y,demand"], ["name,x,y,demand,ready,due,service"]
    for number, ((x, y), demand) in enumerate(zip(places, demands, strict=True)):
        name = "depot" if number == 0 else f"s{number}"
        demand = demand if number else 0
        plain.append(f"{name},{x},{y},{demand}")
        window = "1500,3500,20" if number % 3 == 1 else "0,,20"
        timed.append(f"{name},{x},{y},{demand},{window if number else '0,6000,0'}")
    paths = folder / "plain.csv", folder / "timed.csv"
    for path, lines in zip(paths, (plain, timed), strict=True):
        path.write_text("\n".join(lines) + "\n")
    return paths


def second_opinion(found, routes):
    """Return PyVRP's cost of routes, in the file's unit; they are feasible to it."""
    data = found.data
    theirs = problem_data(data, data.whole_matrix("pyvrp"))
    solution = Solution(theirs, [[node - 1 for node in route] for route in routes])
    assert solution.is_feasible()
    parts = theirs.distance_matrix(0)[0, 1] / data.between(0, 1)
    return CostEvaluator([1], 1, 1).penalised_cost(solution) / float(parts) / data.parts


@pytest.mark.parametrize(
    ("table", "options"),
    [
        (0, {"max_distance": 3200.0}),
        (0, {"max_duration": 3200.0, "fixed_cost": 250.0}),
        (0, {"vehicles": 10, "fixed_cost": 10.0}),
        (1, {"vehicles": 12}),
        (1, {"fixed_cost": 400.0}),
    ],
)
def test_the_solution_holds_to_every_limit_by_both_checkers(stops, table, options):
    found = api.read(stops[table], capacity=20, **options)
    solved = api.solve(found, repairs=60_000, seed=1)
    assert found.problem.check(found.data, solved.data) == ()
    assert solved.cost == pytest.approx(found.problem.cost(found.data, solved.data), rel=1e-12)
    assert second_opinion(found, solved.routes) == pytest.approx(solved.cost, rel=1e-4)
    assert solved.cost < solved.incumbent_cost
    again = api.solve(found, repairs=60_000, seed=1)
    assert again.data == solved.data


@pytest.fixture
def tight(tmp_path):
    """A table whose construction takes 20 vehicles, where 18 have room for all demands."""
    rng = np.random.default_rng(5)
    places = rng.integers(0, 1000, (61, 2)).tolist()
    demands = [0, *rng.integers(3, 12, 61).tolist()[1:]]
    lines = [f"s{n},{x},{y},{demands[n]}" for n, (x, y) in enumerate(places)]
    path = tmp_path / "tight.csv"
    path.write_text("\n".join(["name,x,y,demand", *lines]) + "\n")
    return path


def test_the_fleet_is_kept_from_a_start_with_more_vehicles(tight):
    free = api.read(tight, capacity=24)
    assert len(free.problem.baseline(free.data, "savings")) == 20
    solved = api.solve(api.read(tight, capacity=24, vehicles=18), repairs=60_000)
    assert len(solved.routes) == 18
    assert solved.case.source == "savings, 18 vehicles"
    assert solved.cost <= solved.incumbent_cost


def test_a_fleet_for_which_no_plan_is_found_is_a_sentence(tight):
    found = api.read(tight, capacity=24, vehicles=18)
    with pytest.raises(RunFailed, match=r"no plan with 18 vehicles was found in .* the best has"):
        api.solve(found, repairs=500)


def test_a_price_of_vehicles_saves_vehicles(tight):
    solved = api.solve(api.read(tight, capacity=24, fixed_cost=5000.0), repairs=60_000)
    assert len(solved.routes) == 18


def test_the_baseline_of_pyvrp_knows_the_limits_too(stops):
    found = api.read(stops[0], capacity=20, max_distance=3200.0, fixed_cost=100.0)
    solution = found.problem.baseline(found.data, "pyvrp")
    assert found.problem.check(found.data, solution) == ()
