"""Limits of distances beside times: the checker by hand, the search's view, PyVRP's opinion."""

from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
import pyvrp

from specahd import api
from specahd.api.fleets import judged, searched, servable, start_of
from specahd.core.errors import ConfigError
from specahd.repair.cases import Case
from specahd.routing.distances import LENGTHS, LIMITS, LONGEST, PRICES, SHIFTS, TYPE_LENGTHS
from specahd.routing.formats import vrplib
from specahd.routing.vehicles.baselines import problem_data
from specahd.routing.vehicles.feasibility import check, cost
from specahd.routing.vehicles.fleet import (
    limits_both,
    penalty,
    reduced,
    relaxed,
    searches_types,
    unservable,
)
from specahd.routing.vehicles.instance import OUT_OF_REACH

PLAIN = "name,x,y,demand\ndepot,0,0,\na,3,4,1\nb,0,10,2\nc,6,8,3\n"
"""The stops are 5, 10 and 10 from the depot; a and b are 6.7 apart, a and c 5, b and c 6.3."""
TIMED = "name,x,y,demand,ready,due,service\ndepot,0,0,,0,200,\na,3,4,1,30,,5\nb,0,10,2,,,5\n"
WAYS = np.rint(10 * np.random.default_rng(2).uniform(1, 9, (4, 4))) * (1 - np.eye(4))
VAN = {"name": "van", "capacity": 9}


@pytest.fixture(autouse=True)
def _place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def read(text=PLAIN, **options):
    Path("x.csv").write_text(text)
    return api.read("x.csv", **options).data


def kinds(data, *routes):
    return [each.kind for each in check(data, routes)]


def both(distance, duration, **options):
    ways = {"matrix": WAYS, "durations": 2 * WAYS.T}
    limits = {"max_distance": distance, "max_duration": duration}
    return read(capacity=9, **ways, **limits, **options)


def test_both_limits_are_checked():
    walk, back = [0, 1, 2, 0], [0, 2, 1, 0]
    length, time = WAYS[walk[:-1], walk[1:]].sum(), 2 * WAYS[back[:-1], back[1:]].sum()
    # The way back has the other distances, and here the times are those of the way back.
    assert kinds(both(length, time), (1, 2), (3,)) == []
    assert kinds(both(length - 0.1, time), (1, 2)) == ["missing_customer", "distance"]
    assert kinds(both(length, time - 0.1), (1, 2)) == ["missing_customer", "duration"]


def test_a_limit_of_distances_holds_beside_windows_in_which_a_vehicle_waits():
    data = read(TIMED, capacity=9, max_distance=20)
    assert limits_both(data)
    assert kinds(data, (1,), (2,)) == []
    assert kinds(data, (1, 2)) == ["distance"]
    [detail] = [each.detail for each in check(data, ((1, 2),))]
    assert detail == "Route 1 is 21.70820393 long, more than 20."


def test_a_stop_that_is_too_far_is_out_of_reach_whatever_the_time():
    data = read(TIMED, capacity=9, max_distance=19, max_duration=None)
    assert unservable(data) == {2: OUT_OF_REACH}
    assert unservable(replace(data, open=True)) == {}
    assert unservable(replace(data, demands=np.array([0, 1, 99]))) == {2: "too heavy"}
    near = read(fleet=[VAN | {"max_distance": 19}, VAN | {"name": "slow", "max_duration": 18}])
    assert unservable(near) == {2: OUT_OF_REACH, 3: OUT_OF_REACH}
    with pytest.raises(
        ConfigError, match="no route to one customer alone holds to max_distance of 9"
    ):
        read(TIMED, capacity=9, max_distance=9)


def test_the_search_sees_the_distances_beside_the_times():
    data = both(180, 700, fixed_cost=8.0, vehicles=2)
    seen = reduced(relaxed(data))
    columns = seen.type_columns
    assert np.array_equal(columns[LENGTHS], WAYS)
    assert np.array_equal(columns[TYPE_LENGTHS], [[WAYS[0], WAYS[:, 0]]])
    assert columns[LONGEST].tolist() == [[180, 700]]
    assert columns[SHIFTS].tolist() == [[0, 700]]
    assert columns[LIMITS].tolist() == [[9, 2]]
    assert np.array_equal(seen.durations, 2 * WAYS.T)
    walk = [0, 1, 2, 0]
    assert columns[PRICES][0, walk[:-1], walk[1:]].sum() == cost(data, ((1, 2),))
    for each in (data, both(180, 700)):
        assert relaxed(each).prizes[1] == penalty(each)
    assert (seen.fleet, seen.fixed_cost, seen.max_distance) == (None, 0.0, None)


def test_open_routes_and_types_have_their_distances():
    Path("x.csv").write_text(PLAIN.replace("b,", "home,1,1,\nb,"))
    kinds = [VAN | {"start": "home", "max_distance": 25}, VAN | {"name": "w", "max_duration": 50}]
    data = api.read("x.csv", fleet=kinds).data
    columns = reduced(data).type_columns
    assert columns[LONGEST].tolist() == [[25, np.inf], [np.inf, 50]]
    assert columns[TYPE_LENGTHS][0, 0, 1:].tolist() == data.between(4, np.arange(1, 4)).tolist()
    assert columns[TYPE_LENGTHS][:, 1, 1].tolist() == [5, 5]
    # Only the second type has a limit of its time.
    assert columns[SHIFTS][1].tolist() == [0, 50]
    assert columns[SHIFTS][0, 1] > 30
    data = api.read("x.csv", fleet=kinds, open=True).data
    assert not reduced(data).type_columns[TYPE_LENGTHS][:, 1].any()


@pytest.mark.parametrize(
    "options",
    [{"max_distance": 30}, {"max_duration": 30}, {"fleet": [VAN | {"max_distance": 30}]}],
)
def test_one_limit_alone_is_the_window_of_the_depot(options):
    data = read(**({"capacity": 9} | options))
    assert not limits_both(data)
    assert searches_types(data) == ("fleet" in options)
    seen = reduced(data)
    assert LENGTHS not in seen.type_columns
    assert seen.windows.due[0] == 30


def test_a_start_halves_the_routes_that_are_too_long():
    data = read(capacity=9, max_distance=25, max_duration=60)
    problem, seen = searched(api.make_problem("cvrp"), judged(data))
    part, nodes = servable(seen)
    start = start_of(problem, data, Case(part, ((1,), (2, 3)), 0.0, "x"), nodes)
    assert sorted(start.baseline) == [(1,), (2,), (3,)]
    assert start.source == "x"


def test_a_start_halves_no_route_for_which_a_vehicle_is_missing():
    data = read(fleet=[VAN | {"count": 1}])
    problem, seen = searched(api.make_problem("cvrp"), judged(data))
    part, nodes = servable(seen)
    start = start_of(problem, data, Case(part, ((1, 2), (3,)), 0.0, "x"), nodes)
    # Half of the first route would be cheaper.
    assert start.baseline == ((3,),)


def test_what_is_written_states_both_limits():
    Path("x.vrp").write_text(vrplib.dumps(read(capacity=9, max_distance=40.0).data()))
    assert api.read("x.vrp").data.max_distance == 40
    text = vrplib.dumps(read(capacity=9, max_distance=40.0, max_duration=50.0).data())
    assert "COMMENT : max_distance=40\n" in text
    assert "DISTANCE : 50\nSERVICE_TIME : 0\n" in text
    timed = read(TIMED.replace(",30,", ",,"), capacity=9, max_distance=40.0, max_duration=50.0)
    assert "COMMENT : max_duration=50; max_distance=40\n" in vrplib.dumps(timed.data())
    assert "DISTANCE :" not in vrplib.dumps(timed.data())


def test_pyvrp_is_told_both_limits():
    data = both(180.5, 700.5)
    theirs = problem_data(data, data.whole_matrix("x"))
    kind = theirs.vehicle_type(0)
    assert (kind.max_distance, kind.shift_duration) == (180, 700)
    assert theirs.duration_matrix(0)[0, 1] == 2 * WAYS[1, 0]
    alone = read(capacity=9, matrix=WAYS, durations=WAYS.T, max_distance=180)
    theirs = problem_data(alone, alone.whole_matrix("x"))
    assert theirs.vehicle_type(0).shift_duration == 180
    assert theirs.duration_matrix(0)[0, 1] == WAYS[0, 1]
    typed = read(fleet=[VAN | {"max_distance": 90, "max_duration": 90}])
    with pytest.raises(ConfigError, match="whose types of vehicles limit distances beside times"):
        problem_data(typed, typed.whole_matrix("x"))


def roads(seed, size):
    """Write a table of stops; return the distances, and times that differ from them."""
    rng = np.random.default_rng(seed)
    places = rng.integers(0, 100, (size + 1, 2))
    lines = [f"s{n},{x},{y},{n and 1 + n % 5}" for n, (x, y) in enumerate(places.tolist())]
    Path("x.csv").write_text("\n".join(["name,x,y,demand", *lines]) + "\n")
    ways = np.rint(np.hypot(*(places[:, None] - places[None]).T)).T
    times = np.rint(ways * rng.uniform(0.5, 2.0, ways.shape))
    return ways, times


def native(data, ways, times, limits):
    """Return PyVRP's own data, with its own limits of each type."""
    return pyvrp.ProblemData(
        locations=[pyvrp.Location(0, 0)] * len(ways),
        clients=[
            pyvrp.Client(location=node, delivery=[int(data.demands[node])])
            for node in range(1, len(ways))
        ],
        depots=[pyvrp.Depot(location=0)],
        vehicle_types=[
            pyvrp.VehicleType(
                num_available=data.size,
                capacity=[99],
                max_distance=distance,
                shift_duration=duration,
                unit_distance_cost=rate,
            )
            for distance, duration, rate in limits
        ],
        distance_matrices=[ways.astype(int)],
        duration_matrices=[times.astype(int)],
    )


@pytest.mark.parametrize("typed", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_pyvrp_agrees_on_cost_and_feasibility(seed, typed):
    ways, times = roads(seed, 40)
    # Trips to one stop and back are at most that long, and then as slow.
    trips = ((each[0] + each[:, 0]).max() for each in (ways, times))
    most = tuple(int(share * trip) for share, trip in zip((1.3, 1.0), trips, strict=True))
    limits = [(*most, 1)]
    options = dict(zip(("max_distance", "max_duration"), most, strict=True)) | {"capacity": 99}
    if typed:
        limits = [(*most, 2), (most[0] // 2, 10**6, 1)]
        columns = ("max_distance", "max_duration", "cost_per_distance")
        rows = [dict(zip(columns, each, strict=True)) for each in limits]
        options = {
            "fleet": [{"name": str(place), "capacity": 99} | row for place, row in enumerate(rows)]
        }
    found = api.read("x.csv", matrix=ways, durations=times, **options)
    solved = api.solve(found, repairs=40_000, seed=1)
    assert solved.unserved == []
    assert check(found.data, solved.data) == ()
    theirs = native(found.data, ways, times, limits)
    names = solved.types or ["0"] * len(solved.routes)
    routes = [
        pyvrp.Route(theirs, [node - 1 for node in route], int(name))
        for route, name in zip(solved.routes, names, strict=True)
    ]
    opinion = pyvrp.Solution(theirs, routes)
    assert opinion.is_feasible()
    assert pyvrp.CostEvaluator([1], 1, 1).penalised_cost(opinion) == solved.cost
    best = pyvrp.solve(theirs, pyvrp.stop.MaxIterations(300), seed=1, display=False)
    assert best.is_feasible()
    assert solved.cost <= 1.05 * best.cost()
    if not typed:
        free = api.read("x.csv", matrix=ways, durations=times, **(options | {"max_distance": None}))
        assert api.solve(free, repairs=40_000, seed=1).cost < solved.cost
        assert check(found.data, found.problem.baseline(found.data, "pyvrp")) == ()


def least_cost(data):
    """Return the cost of the cheapest feasible ones of many routes of six customers."""
    return min(
        cost(data, routes)
        for order in permutations(range(1, 7))
        for cuts in ((), (1,), (2,), (3,), (4,), (5,), (2, 4), (1, 3), (3, 4), (1, 2, 4))
        if not check(
            data,
            routes := tuple(
                order[start:end] for start, end in zip((0, *cuts), (*cuts, 6), strict=True)
            ),
        )
    )


@pytest.mark.parametrize("seed", range(3))
def test_tiny_instances_are_solved_to_the_optimum(seed):
    ways, times = roads(seed, 6)
    limits = {"max_distance": 2.1 * ways[0].max(), "max_duration": 2.1 * times.max()}
    found = api.read("x.csv", capacity=99, matrix=ways, durations=times, **limits)
    assert api.solve(found, repairs=20_000).cost <= least_cost(found.data)
