"""Limits of durations where a vehicle may wait: by hand, by every departure, and by PyVRP."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import pyvrp

from routing.vehicles.test_both_limits import least_cost
from specahd import api
from specahd.api.fleets import judged, searched, servable, start_of
from specahd.core.errors import ConfigError
from specahd.repair.cases import Case
from specahd.reporting.route_page import route_page
from specahd.routing import itinerary
from specahd.routing.distances import LONGEST
from specahd.routing.vehicles.assignment import assign, timing, vehicle_types
from specahd.routing.vehicles.baselines import problem_data
from specahd.routing.vehicles.feasibility import check
from specahd.routing.vehicles.fleet import (
    limits_both,
    limits_routes,
    penalty,
    reduced,
    relaxed,
    unservable,
)
from specahd.routing.vehicles.instance import OUT_OF_REACH

TABLE = "name,x,y,demand,ready,due,service\ndepot,0,0,,0,200,\na,3,4,1,30,,5\nb,0,10,2,50,60,5\n"
"""The stops are 5 and 10 from the depot, and 6.7 apart."""
VAN, BIKE = {"name": "van", "capacity": 9}, {"name": "bike", "capacity": 2}


@pytest.fixture(autouse=True)
def _place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def read(text=TABLE, **options):
    Path("x.csv").write_text(text)
    return api.read("x.csv", **({"capacity": 9} | options)).data


def details(data, *routes):
    return [each.detail for each in check(data, routes)]


def test_a_duration_is_the_least_of_all_departures():
    # The vehicle leaves at 33.29, so that it is at a at 38.29, at b at 50, and back at 65.
    least = 5 + 5 + np.hypot(3, 6) + 5 + 10
    assert details(read(max_duration=least), (1, 2)) == []
    assert details(read(max_duration=31.7), (1, 2)) == ["Route 1 takes 31.7082, more than 31.7."]
    # A first stop that closes at 20 makes the vehicle wait for the second one.
    early = TABLE.replace("30,,5", "10,20,5")
    assert details(read(early, max_duration=50), (1, 2)) == []
    assert details(read(early, max_duration=49.9), (1, 2)) == ["Route 1 takes 50, more than 49.9."]
    # A vehicle that does not return ends when it has served.
    assert details(read(early, max_duration=40, open=True), (1, 2)) == []
    assert details(read(early, max_duration=39.9, open=True), (1, 2)) != []


def test_a_shift_bounds_the_departure():
    early = TABLE.replace("30,,5", "10,20,5")
    kinds = [VAN | {"max_duration": 50}, VAN | {"name": "late", "shift_start": 16}]
    data = read(early, fleet=kinds)
    [late] = assign(replace(data, types=data.types[1:]), ((1, 2),)).types
    assert details(replace(data, types=(late,)), (1, 2))[0].startswith("Customer 'a' on route 1 is")
    assert details(data, (1, 2)) == []
    tight = read(early, fleet=[VAN | {"max_duration": 49}])
    assert details(tight, (1, 2)) == ["Route 1 (van) takes 50, more than 49."]
    # The type that may drive for so long serves it.
    both = read(early, fleet=[VAN | {"max_duration": 49}, VAN | {"name": "long", "fixed_cost": 9}])
    assert [each.name for each in assign(both, ((1, 2),)).types] == ["long"]


def test_a_route_that_is_late_is_not_made_later():
    # b is served at 61.7, whenever the vehicle leaves from 45 on, where a opens at 50.
    late = read(TABLE.replace("30,,5", "50,,5"), max_duration=31.7)
    assert details(late, (1, 2)) == [
        "Customer 'b' on route 1 is served at 61.7082, after 60.",
        "Route 1 takes 31.7082, more than 31.7.",
    ]
    assert timing(late, (1, 2), vehicle_types(late)[0])[0] == pytest.approx(45)


def test_a_shift_that_begins_too_late_for_a_stop_makes_the_route_no_longer():
    early = TABLE.replace("30,,5", "10,20,5")
    late = read(early, fleet=[VAN | {"shift_start": 16, "max_duration": 49.5}])
    # It is at a at 21, at b at 50, and back at 65.
    assert details(late, (1, 2)) == ["Customer 'a' on route 1 is served at 21, after 20."]


def test_with_a_speed_durations_are_times():
    data = read(speed=2.0, max_duration=15.0)
    assert unservable(data) == {}
    assert details(data, (2,), (1,)) == []
    assert reduced(relaxed(data)).type_columns[LONGEST].tolist() == [[np.inf, 30]]
    theirs = problem_data(data, data.whole_matrix("x"))
    assert theirs.vehicle_type(0).shift_duration == 30_000
    assert details(read(speed=2.0, max_duration=14.0), (2,)) == [
        "Customer 'a' is not visited.",
        "Route 1 takes 15, more than 14.",
    ]


def test_durations_are_told_in_the_form_of_the_times():
    dates = TABLE.replace("0,200,", "2026-12-01 08:00,2026-12-01 18:00,").replace(
        "30,,5", ",,00:20"
    )
    dates = dates.replace("50,60,5", "2026-12-01 10:00,,00:30")
    data = read(dates, max_duration=3000)
    expected = "Route 1 takes 00:50:22, more than 00:50:00."
    assert details(data, (1, 2)) == [expected]


def test_a_stop_alone_needs_no_waiting():
    data = read(max_duration=24.9)
    assert unservable(data) == {2: OUT_OF_REACH}
    assert unservable(read(max_duration=25)) == {}
    assert unservable(read(max_duration=15, open=True)) == {}
    with pytest.raises(
        ConfigError, match="customer alone holds to max_duration of 14, expected larger"
    ):
        read(max_duration=14)


def test_the_search_keeps_durations_where_a_vehicle_may_wait():
    data = read(max_duration=40)
    assert limits_routes(data)
    assert not limits_both(data)
    assert relaxed(data).prizes[1] == penalty(data)
    none_waits = TABLE.replace("30,,5", ",,5").replace("50,60", ",60")
    assert not limits_routes(read(none_waits, max_duration=40))
    assert not limits_routes(read(TABLE.replace("0,200", "50,200"), max_duration=40))


def test_a_start_halves_the_routes_that_take_too_long():
    data = read(max_duration=31)
    problem, seen = searched(api.make_problem("vrptw"), judged(data))
    part, nodes = servable(seen)
    start = start_of(problem, data, Case(part, ((1, 2),), 0.0, "x"), nodes)
    assert start.baseline == ((1,), (2,))


@pytest.mark.parametrize("fleet", [None, [BIKE, VAN | {"max_duration": 60}]])
def test_a_vehicle_leaves_as_late_as_it_can_without_ending_later(fleet):
    early = TABLE.replace("30,,5", "10,20,5")
    limit = {} if fleet else {"max_duration": 60.0}
    data = read(early, fleet=fleet, **limit)
    [[depot, a, b, home]] = itinerary.times(data, ((1, 2),))
    assert (depot["departure"], a["arrival"], a["wait"]) == (15, 20, 0)
    assert (b["start"], home["arrival"]) == (50, 65)
    lasts = home["arrival"] - depot["departure"]
    tight = read(early, max_duration=lasts - 0.1)
    assert details(tight, (1, 2)) == ["Route 1 takes 50, more than 49.9."]
    # Without a limit it leaves just in time for its first stop.
    [[depot, a, *_]] = itinerary.times(read(early), ((1, 2),))
    assert (depot["departure"], a["wait"]) == (5, 0)
    assert '<td class="left">' in route_page(data, ((1, 2),), 21.7)


def roads(rng, size):
    """Write a table of stops with windows; return distances, and times that differ from them."""
    places = rng.integers(0, 100, (size + 1, 2))
    lines = ["name,x,y,demand,ready,due,service", f"depot,{places[0, 0]},{places[0, 1]},,0,900,"]
    for node, (x, y) in enumerate(places[1:].tolist(), start=1):
        opens = int(rng.integers(0, 400))
        closes, lasts = opens + int(rng.integers(20, 250)), int(rng.integers(0, 15))
        lines.append(f"s{node},{x},{y},{1 + node % 5},{opens},{closes},{lasts}")
    Path("x.csv").write_text("\n".join(lines) + "\n")
    ways = np.rint(np.hypot(*(places[:, None] - places[None]).T)).T
    return ways, np.rint(ways * rng.uniform(0.6, 1.8, ways.shape))


def native(data, ways, times, limits):
    """Return PyVRP's own data, with its own limits of each type."""
    windows, nodes = data.windows, range(1, data.size + 1)
    return pyvrp.ProblemData(
        locations=[pyvrp.Location(0, 0)] * len(ways),
        clients=[
            pyvrp.Client(
                location=node,
                delivery=[int(data.demands[node])],
                tw_early=int(windows.ready[node]),
                tw_late=int(windows.due[node]),
                service_duration=int(windows.service[node]),
            )
            for node in nodes
        ],
        depots=[pyvrp.Depot(location=0)],
        vehicle_types=[
            pyvrp.VehicleType(
                num_available=count,
                capacity=[30],
                tw_early=opens,
                tw_late=900,
                max_distance=distance,
                shift_duration=duration,
                unit_distance_cost=rate,
            )
            for distance, duration, rate, opens, count in limits
        ],
        distance_matrices=[ways.astype(int)],
        duration_matrices=[times.astype(int)],
    )


@pytest.mark.parametrize("form", ["alike", "types", "open"])
@pytest.mark.parametrize("seed", range(3))
def test_pyvrp_agrees_on_durations_cost_and_feasibility(seed, form):
    rng = np.random.default_rng(seed)
    ways, times = roads(rng, 30)
    service = 15
    most = int((times[0] + times[:, 0]).max()) + service
    far = 10**6 if seed == 0 else int(1.5 * (ways[0] + ways[:, 0]).max())
    options = {"capacity": 30, "max_duration": most, "open": form == "open"}
    options["max_distance"] = None if seed == 0 else far
    limits = [(far, most, 1, 0, 30)]
    if form == "types":
        limits = [(far, most, 2, 0, 30), (10**6, most - 20, 1, 40, 4)]
        columns = ("max_distance", "max_duration", "cost_per_distance", "shift_start", "count")
        rows = [dict(zip(columns, each, strict=True)) for each in limits]
        if seed == 0:
            rows = [row | {"max_distance": None} for row in rows]
        kinds = [{"name": str(place), "capacity": 30} | row for place, row in enumerate(rows)]
        options = {"fleet": kinds}
    found = api.read("x.csv", matrix=ways, durations=times, **options)
    if form == "open":
        ways[:, 0] = times[:, 0] = 0
    solved = api.solve(found, repairs=40_000, seed=1)
    theirs = native(found.data, ways, times, limits)
    names = solved.types or ["0"] * len(solved.routes)
    routes = [
        pyvrp.Route(theirs, [node - 1 for node in route], int(name))
        for route, name in zip(solved.data, names, strict=True)
    ]
    assert solved.unserved == []
    assert check(found.data, solved.data) == ()
    opinion = pyvrp.Solution(theirs, routes)
    assert opinion.is_feasible()
    assert pyvrp.CostEvaluator([1], 1, 1).penalised_cost(opinion) == solved.cost
    for route, stops in zip(routes, itinerary.times(found.data, solved.data), strict=True):
        end = stops[-1].get("departure", stops[-1]["arrival"])
        assert end - stops[0]["departure"] == route.duration()
    best = pyvrp.solve(theirs, pyvrp.stop.MaxIterations(300), seed=1, display=False)
    assert best.is_feasible()
    assert solved.cost <= 1.05 * best.cost()
    # Routes of any stops: the checker says what PyVRP says, and so does every departure.
    kinds, verdicts = vehicle_types(found.data), []
    for _ in range(200):
        walk = rng.permutation(np.arange(1, 31))[: rng.integers(1, 5)].tolist()
        place = int(rng.integers(len(kinds)))
        route = pyvrp.Route(theirs, [node - 1 for node in walk], place)
        one = found.data
        if one.types:
            one = replace(one, types=kinds[place : place + 1])
        wrong = {each.kind for each in check(one, (walk,))} - {"missing_customer"}
        assert route.is_feasible() == (not wrong)
        verdicts.append(wrong == {"duration"})
        if not wrong & {"late", "late_return"}:
            leaves, back, _ = timing(one, walk, kinds[place])
            assert back - leaves == route.duration() == least(one, walk, times, kinds[place])
    assert any(verdicts)
    if form == "alike":
        free = api.read("x.csv", matrix=ways, durations=times, capacity=30)
        assert api.solve(free, repairs=40_000, seed=1).cost < solved.cost
    if form == "alike" or seed == 0:
        assert check(found.data, found.problem.baseline(found.data, "pyvrp")) == ()


def least(data, walk, times, kind):
    """Return the least duration of a route with a departure at a whole time."""
    windows, found = data.windows, []
    for leaves in range(int(kind.shift_start or 0), 900):
        time, late = leaves, False
        for before, node in pairwise([0, *walk]):
            time = max(time + times[before, node], windows.ready[node])
            late |= time > windows.due[node]
            time += windows.service[node]
        time += times[walk[-1], 0]
        if not late and time <= 900:
            found.append(time - leaves)
    return min(found)


@pytest.mark.parametrize("seed", range(4))
def test_tiny_instances_are_solved_to_the_optimum(seed):
    ways, times = roads(np.random.default_rng(seed), 6)
    limit = {"max_duration": 1.2 * (times[0] + times[:, 0]).max() + 15}
    found = api.read("x.csv", capacity=99, matrix=ways, durations=times, **limit)
    assert api.solve(found, repairs=20_000).cost <= least_cost(found.data)


def test_pyvrp_is_told_the_longest_duration_of_each_type():
    kinds = [VAN | {"max_duration": 50.5}, VAN | {"name": "long"}]
    theirs = problem_data(data := read(fleet=kinds), data.whole_matrix("x"))
    assert theirs.vehicle_type(0).shift_duration == 50_500
    assert theirs.vehicle_type(1).shift_duration > 10**9
