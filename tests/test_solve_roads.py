"""Solving on directed ways, with durations and open; PyVRP gives a second opinion."""

import csv
import io
import json
import re
from itertools import pairwise

import numpy as np
import pytest
from pyvrp import CostEvaluator, Solution

from specahd import api
from specahd.routing import itinerary
from specahd.routing.vehicles.baselines import problem_data


@pytest.fixture(scope="module")
def roads(tmp_path_factory):
    """Tables of 50 stops without and with windows; metres and seconds, some ways missing."""
    rng = np.random.default_rng(3)
    places = rng.integers(0, 1000, (51, 2))
    straight = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    metres, seconds = (np.round(straight * rng.uniform(1, 2, (51, 51))) for _ in range(2))
    demands = rng.integers(1, 6, 51)
    folder = tmp_path_factory.mktemp("roads")
    plain, timed = ["name,lon,lat,demand"], ["name,lon,lat,demand,ready,due,service"]
    for number, (x, y) in enumerate(places.tolist()):
        row = f"s{number},{x / 1e4},{y / 1e4},{demands[number] if number else 0}"
        plain.append(row)
        window = "2500,4500,20" if number % 3 == 1 else "0,,20"
        timed.append(f"{row},{window if number else '0,7000,0'}")
    for name, lines in (("plain", plain), ("timed", timed)):
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    ways = [ways.tolist() for ways in (metres, seconds)]
    for start, end in rng.integers(1, 51, (300, 2)).tolist():
        if start != end:
            ways[0][start][end] = None
    answer = {"distances": ways[0], "durations": ways[1]}
    (folder / "answer.json").write_text(json.dumps(answer))
    for name, matrix in (("metres", metres), ("seconds", seconds)):
        np.save(folder / f"{name}.npy", matrix)
    return folder


def second_opinion(data, routes):
    """Return PyVRP's cost of routes; they are feasible to it."""
    theirs = problem_data(data, data.whole_matrix("pyvrp"))
    solution = Solution(theirs, [[node - 1 for node in route] for route in routes])
    assert solution.is_feasible()
    return CostEvaluator([1], 1, 1).penalised_cost(solution)


def read(roads, table, *names, **options):
    files = {"matrix": roads / names[0]}
    if len(names) > 1:
        files["durations"] = roads / names[1]
    return api.read(roads / f"{table}.csv", capacity=20, **files, **options)


@pytest.mark.parametrize(
    ("table", "names", "options"),
    [
        ("plain", ["metres.npy"], {}),
        ("plain", ["metres.npy"], {"open": True, "fixed_cost": 300.0}),
        ("plain", ["answer.json"], {"vehicles": 9}),
        ("plain", ["metres.npy", "seconds.npy"], {"max_duration": 4200.0}),
        ("plain", ["metres.npy", "seconds.npy"], {"max_distance": 4200.0, "open": True}),
        ("timed", ["metres.npy"], {}),
        ("timed", ["metres.npy", "seconds.npy"], {"open": True}),
        ("timed", ["answer.json"], {"fixed_cost": 400.0}),
    ],
)
def test_solutions_hold_by_both_checkers(roads, table, names, options):
    found = read(roads, table, *names, **options)
    solved = api.solve(found, repairs=40_000, seed=1)
    assert found.problem.check(found.data, solved.data) == ()
    assert solved.search.failure == ""
    assert solved.cost == found.problem.cost(found.data, solved.data)
    assert second_opinion(found.data, solved.routes) == pytest.approx(solved.cost, rel=1e-12)
    assert solved.cost < solved.incumbent_cost
    assert api.solve(found, repairs=40_000, seed=1).data == solved.data


@pytest.mark.parametrize("name", ["metres.npy", "answer.json"])
@pytest.mark.parametrize("options", [{}, {"open": True, "fixed_cost": 300.0}, {"vehicles": 0}])
def test_split_deliveries_hold_by_both_checkers(roads, name, options):
    """PyVRP is told each delivery as a stop of its own."""
    demand = int(read(roads, "plain", name).data.demands.sum())
    least = {each: -(-demand // 20) for each in options if each == "vehicles"}
    found = read(roads, "plain", name, split=True, **(options | least))
    assert found.problem.name == "sdvrp"
    # It has no times, so those of an answer say nothing.
    assert found.data.durations is None
    solved = api.solve(found, repairs=40_000, seed=1)
    assert found.problem.check(found.data, solved.data) == ()
    assert solved.search.failure == ""
    assert solved.cost < solved.incumbent_cost
    assert len(solved.data) <= least.get("vehicles", 50)
    assert api.solve(found, repairs=40_000, seed=1).data == solved.data
    given = [delivery for route in solved.data for delivery in route]
    demands = found.data.demands
    parts = [demands[node] if part is None else part for node, part in given]
    pieces = found.data.at([0, *(node for node, _ in given)], np.array([0, *parts]))
    numbers = iter(range(1, len(given) + 1))
    routes = [[next(numbers) for _ in route] for route in solved.data]
    assert second_opinion(pieces, routes) == pytest.approx(solved.cost, rel=1e-12)


def test_the_baseline_of_pyvrp_takes_them_too(roads):
    found = read(roads, "timed", "answer.json", open=True)
    solution = found.problem.baseline(found.data, "pyvrp")
    assert found.problem.check(found.data, solution) == ()
    assert second_opinion(found.data, solution) == found.problem.cost(found.data, solution)


@pytest.mark.parametrize("open_routes", [False, True])
def test_outputs_show_a_way_back_unless_routes_are_open(roads, open_routes):
    found = read(roads, "timed", "metres.npy", "seconds.npy", open=open_routes)
    solved = api.solve(found, repairs=2_000, seed=1)
    home = [] if open_routes else [0]
    [first, *_] = solved.visits()
    walk = [0, *solved.routes[0], *home]
    assert [node for node, _ in first] == walk
    data = found.data
    far = sum(data.matrix[pair] for pair in pairwise(walk))
    took = sum(data.durations[pair] for pair in pairwise(walk))
    assert (first[-1][1]["distance"], first[-1][1]["duration"]) == (far, took)
    ends = {
        row["vehicle"]: row["name"]
        for row in csv.DictReader(io.StringIO(solved.content(".csv")[1:]))
    }
    assert (set(ends.values()) == {"s0"}) is not open_routes
    features = json.loads(solved.content(".geojson"))["features"]
    lines = [
        each["geometry"]["coordinates"] for each in features if "order" not in each["properties"]
    ]
    assert all((line[0] == line[-1]) is not open_routes for line in lines)
    page = solved.content(".html")
    paths = re.findall(r'class="d\d" d="M([^"]+)"', page)
    drawn = [path.split("L") for path in paths if "L" in path]
    assert len(drawn) == len(solved.routes)
    assert all((path[0] == path[-1]) is not open_routes for path in drawn)
    assert page.count("<h3>") == len(solved.routes)
    [stops, *_] = re.findall(r"(\d+) stops?, distance ([\d,]*\d)", page)
    assert stops == ("50", f"{solved.cost:,.0f}")
    [*_, last] = itinerary.times(data, solved.data)[0]
    back = last["departure" if open_routes else "arrival"]
    assert back > last["arrival"] or not open_routes
    overview = re.search(r'href="#vehicle-1">1</a>.*', page)
    assert f"<td>{back:.0f}</td>" in overview.group()
    axes = solved.plot().axes[1]
    lines = [line for line in axes.lines if len(line.get_xdata()) > 1]
    ends = {bool(line.get_xdata()[0] == line.get_xdata()[-1]) for line in lines}
    assert ends == {not open_routes}
