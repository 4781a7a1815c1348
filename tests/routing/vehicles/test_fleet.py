"""Limits and prices of vehicles: what is refused, what the search sees, and the checker by hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import pyvrp

from specahd import api
from specahd.core.errors import ConfigError, FileError
from specahd.core.settings import FleetOptions
from specahd.repair.cases import Case, make_case, share_arrays
from specahd.routing.best_known import best_known
from specahd.routing.formats import vrplib
from specahd.routing.formats.vrplib import TimeWindows
from specahd.routing.geometry import Convention
from specahd.routing.vehicles.baselines import problem_data
from specahd.routing.vehicles.feasibility import check, cost
from specahd.routing.vehicles.fleet import NOT_WORTH as WORTHLESS
from specahd.routing.vehicles.fleet import (
    left_out,
    penalty,
    reduced,
    relaxed,
    with_fleet,
    with_prizes,
)
from specahd.routing.vehicles.instance import VehicleInstance

HEAD = "NAME : x\nTYPE : CVRP\nDIMENSION : 4\nEDGE_WEIGHT_TYPE : EUC_2D\nCAPACITY : 3\n"
BODY = (
    "NODE_COORD_SECTION\n1 0 0\n2 3 4\n3 0 10\n4 6 8\nDEMAND_SECTION\n1 0\n2 1\n3 1\n4 1\n"
    "DEPOT_SECTION\n1\n-1\nEOF\n"
)
"""Customers are 5, 10 and 10 from the depot; 1 and 2 are 7 apart, 1 and 3 are 5, 2 and 3 are 6."""
ALONE = ((1,), (2,), (3,))
PRIZES = np.array([0.0, np.inf, 30.0, 12.5])
"""Customer 1 must be served; the others are worth this much."""
SERVICE = 2.0


def instance(fields="", **changes):
    """Return the instance of a file with these fields."""
    return replace(api.read(written(fields)).data, **changes)


@pytest.fixture(autouse=True)
def _place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def written(fields):
    Path("x.vrp").write_text(HEAD + fields + BODY)
    return "x.vrp"


def kinds(data, solution):
    return [violation.kind for violation in check(data, solution)]


def timed(data, ready=0.0, **changes):
    nodes = data.size + 1
    service = np.full(nodes, SERVICE)
    service[0] = 0.0
    opens = np.full(nodes, ready)
    opens[0] = 0.0
    return replace(data, windows=TimeWindows(opens, np.full(nodes, 90.0), service), **changes)


def test_a_file_states_the_limit_of_a_route_with_or_without_its_stops():
    assert instance("DISTANCE : 24\n").max_distance == 24
    both = instance("DISTANCE : 24\nSERVICE_TIME : 2\n")
    assert (both.max_distance, both.max_duration, both.stop_time) == (None, 24, 2)
    for fields in ("DISTANCE : 24\n", "DISTANCE : 24\nSERVICE_TIME : 2\n", ""):
        data = instance(fields)
        Path("again.vrp").write_text(vrplib.dumps(data.data()))
        again = api.read("again.vrp").data
        names = ("max_distance", "max_duration", "stop_time")
        assert [getattr(again, name) for name in names] == [getattr(data, name) for name in names]
    with pytest.raises(FileError, match="SERVICE_TIME is stated without DISTANCE"):
        instance("SERVICE_TIME : 2\n")
    with pytest.raises(FileError, match="DISTANCE is '0', expected a number in"):
        instance("DISTANCE : 0\n")


def test_what_is_written_states_the_number_of_vehicles_and_their_price():
    data = with_fleet(instance("COMMENT : mine\n"), FleetOptions(vehicles=2, fixed_cost=7.5))
    Path("again.vrp").write_text(vrplib.dumps(data.data()))
    again = api.read("again.vrp").data
    assert (again.vehicles, again.comment) == (2, "mine; fixed_cost=7.5")
    assert pyvrp.read("again.vrp").num_vehicles == 2
    longest = with_fleet(timed(instance()), FleetOptions(max_duration=23.5))
    assert "COMMENT : max_duration=23.5\n" in vrplib.dumps(longest.data())


@pytest.mark.parametrize(
    ("limits", "solution", "found"),
    [
        ({"fleet": 2}, ALONE, ["vehicles"]),
        ({"fleet": 3}, ALONE, []),
        ({"max_distance": 21}, ((1, 3), (2,)), []),
        ({"max_distance": 19.9}, ((1, 3), (2,)), ["distance", "distance"]),
        ({"max_distance": 20}, ((1, 3), (2,)), []),
        ({"max_duration": 22, "stop_time": 1.0}, ((1, 3), (2,)), []),
        ({"max_duration": 21.9, "stop_time": 1.0}, ((1, 3), (2,)), ["duration"]),
    ],
)
def test_the_checker_looks_at_each_limit_by_itself(limits, solution, found):
    assert kinds(instance(**limits), solution) == found


def test_a_violation_says_which_route_by_how_much():
    [violation] = check(instance(max_duration=21.0, stop_time=1.0), ((2,), (1, 3)))
    assert violation.detail == "Route 2 takes 22, more than 21."
    [violation] = check(timed(instance(), max_duration=23.0), ((2,), (1, 3)))
    assert violation.detail == "Route 2 takes 24, more than 23."
    [violation] = check(instance(fleet=1), ((2,), (1, 3)))
    assert violation.detail == "2 vehicles are used, more than 1."


def test_what_must_be_served_and_is_not_is_a_violation_with_its_name():
    data = instance(prizes=PRIZES)
    assert kinds(data, ((1, 3),)) == kinds(data, ((1,),)) == []
    [violation] = check(data, ((2, 3),))
    assert (violation.kind, violation.detail) == ("missing_customer", "Customer 1 is not visited.")
    assert kinds(data, ((1, 3, 3),)) == ["duplicated_customer"]
    # The last one is priced by nothing.
    assert [cost(data, each) for each in (((1,),), ((1, 3),), ((2, 3),))] == [52.5, 50.0, 26.0]


def test_the_search_pays_for_what_it_leaves_out_and_never_serves_what_it_cannot():
    data = instance(prizes=PRIZES)
    assert relaxed(data).prizes.tolist() == [0.0, np.inf, 30.0, 12.5]
    limited = relaxed(replace(data, fleet=1))
    assert limited.prizes[1] == limited.prizes[0] == penalty(data) > cost(data, ALONE) + 42.5
    assert limited.prizes[2:].tolist() == [30.0, 12.5]
    far = relaxed(replace(data, max_distance=19.0))
    assert far.prizes.tolist() == [0.0, np.inf, 0.0, 0.0]
    heavy = replace(instance(), demands=np.array([0, 1, 4, 1]))
    assert relaxed(heavy).prizes.tolist() == [0.0, np.inf, 0.0, np.inf]
    plain = instance(max_distance=99.0)
    assert relaxed(plain) is plain


@pytest.mark.parametrize(
    ("make", "found"),
    [
        (
            lambda: instance(prizes=PRIZES, fleet=1),
            [("no vehicle with room", None), ("no vehicle with room", 30.0), (WORTHLESS, 12.5)],
        ),
        (
            lambda: instance(prizes=PRIZES, fleet=1, open=True),
            [("no vehicle with room", None), *(("no vehicle with room", p) for p in (30.0, 12.5))],
        ),
        (
            lambda: instance(prizes=PRIZES, fleet=1, fixed_cost=10.0),
            [("no vehicle with room", None), (WORTHLESS, 30.0), (WORTHLESS, 12.5)],
        ),
        (
            lambda: timed(instance(fleet=1, demands=np.array([0, 1, 4, 1]))),
            [("no vehicle in time", None), ("too heavy", None), ("no vehicle in time", None)],
        ),
        (
            lambda: instance(max_duration=19.0),
            [("no vehicle with room", None), *2 * [("out of reach in time", None)]],
        ),
    ],
)
def test_each_stop_left_out_has_a_reason(make, found):
    data = make()
    assert left_out(data, ()) == [(node, *each) for node, each in enumerate(found, start=1)]
    assert left_out(data, ALONE) == []


def test_the_instance_of_some_nodes_has_their_prizes():
    assert instance(prizes=PRIZES).at([0, 3, 1], np.array([0, 1, 1])).prizes.tolist() == [
        *(0.0, 12.5, np.inf)
    ]


def test_a_file_in_which_nobody_can_be_served_is_refused():
    Path("x.vrp").write_text(HEAD + BODY.replace("2 1\n3 1\n4 1", "2 9\n3 9\n4 9"))
    with pytest.raises(FileError, match="customer 1 is too heavy, and no other can be served"):
        api.read("x.vrp")
    Path("x.vrp").write_text(HEAD + BODY.replace("2 1\n3 1\n4 1", "2 9\n3 1\n4 9"))
    assert api.read("x.vrp").data.unservable == {1: "too heavy", 3: "too heavy"}


def test_prizes_are_a_number_for_each_customer_or_none():
    found = api.read(written(""), prizes=[None, 30, 12.5])
    assert found.data.prizes.tolist() == PRIZES.tolist()
    for given in ([1, 2], [[1, 2, 3]]):
        with pytest.raises(ConfigError, match="Expected prizes of x to be 3 numbers"):
            api.read("x.vrp", prizes=given)
    with pytest.raises(ConfigError, match=r"each of prizes to be a number in .* or None, got -1"):
        api.read("x.vrp", prizes=[None, -1, 2])
    with pytest.raises(ConfigError, match="to be none, since deliveries are split"):
        with_prizes(replace(instance(), splits=True), [1, 2, 3])


def test_each_vehicle_costs_its_price():
    data = instance(fixed_cost=7.5)
    assert cost(data, ALONE) == 50 + 3 * 7.5
    assert cost(data, ((1, 3), (2,))) == 40 + 2 * 7.5


@pytest.mark.parametrize("convention", [Convention.EUC_2D, Convention.DIMACS])
@pytest.mark.parametrize("with_times", [False, True])
def test_the_search_sees_no_prices_and_limits_but_equal_costs_and_feasibility(
    convention, with_times
):
    rng = np.random.default_rng(5)
    for trial in range(20):
        coords = rng.integers(0, 300, (7, 2)).astype(float)
        demands = np.array([0, *rng.integers(1, 4, 6)])
        data = VehicleInstance("x", coords, demands, 9, convention)
        ways = data.between(0, np.arange(7)) / data.parts
        limits = {"max_duration" if with_times or trial % 2 else "max_distance": 3.2 * ways.max()}
        if with_times:
            data = timed(data)
            data = replace(data, windows=replace(data.windows, due=np.full(7, 1e6)))
        elif trial % 2:
            limits["stop_time"] = 4.0
        data = replace(data, fixed_cost=float(rng.integers(0, 50)) / 4, **limits)
        seen = reduced(data)
        assert not seen.limited
        agreed = []
        for _ in range(30):
            order = rng.permutation(np.arange(1, 7)).tolist()
            cuts = sorted(rng.choice(np.arange(1, 6), size=2, replace=False).tolist())
            routes = (order[: cuts[0]], order[cuts[0] : cuts[1]], order[cuts[1] :])
            solution = tuple(map(tuple, routes))
            assert cost(seen, solution) == pytest.approx(cost(data, solution), rel=1e-12)
            agreed.append((not check(seen, solution), not check(data, solution)))
        assert all(ours == theirs for ours, theirs in agreed)
    assert len(set(agreed)) == 2


def test_pyvrp_is_told_every_limit_and_price():
    data = instance(fleet=2, fixed_cost=7.0, max_duration=33.0, stop_time=2.0)
    theirs = problem_data(data, data.whole_matrix("pyvrp"))
    kind = theirs.vehicle_type(0)
    assert (kind.num_available, kind.fixed_cost, kind.shift_duration) == (2, 7, 33)
    assert [client.service_duration for client in theirs.clients()] == [2, 2, 2]
    assert theirs.duration_matrix(0)[0, 1] == 5
    theirs = problem_data(instance(prizes=PRIZES), data.whole_matrix("pyvrp"))
    assert [(each.required, each.prize) for each in theirs.clients()] == [
        *((True, 0), (False, 30), (False, 12))
    ]
    free = problem_data(instance(), data.whole_matrix("pyvrp")).vehicle_type(0)
    assert (free.num_available, free.fixed_cost) == (3, 0)
    assert free.shift_duration > 1e9


@pytest.mark.parametrize(
    ("make", "options", "sentence"),
    [
        (instance, {"vehicles": 0}, "vehicles"),
        (
            instance,
            {"max_distance": 9.0},
            "x: no route to one customer alone holds to max_distance of 9, expected larger limits.",
        ),
        (
            lambda: timed(instance()),
            {"max_duration": 11.0},
            "x: no route to one customer alone holds to max_duration of 11, expected larger",
        ),
        (
            lambda: replace(instance(), splits=True),
            {"max_distance": 99.0},
            "Expected no max_distance for x, whose deliveries are split",
        ),
        (
            lambda: replace(instance(), splits=True, capacity=2),
            {"vehicles": 1},
            "Expected at least 2 vehicles for x, whose demands fill so many, got 1",
        ),
    ],
)
def test_what_cannot_hold_is_refused_by_name(make, options, sentence):
    with pytest.raises(ConfigError, match=sentence):
        with_fleet(make(), FleetOptions(**options))


def test_split_deliveries_leave_nothing_out():
    data = with_fleet(instance(splits=True, capacity=2), FleetOptions(vehicles=2))
    assert relaxed(data) is data
    assert (data.fleet, data.prizes) == (2, None)


def test_a_tour_has_no_fleet(tmp_path):
    problem = api.make_problem("tsp")
    path = tmp_path / "x.tsp"
    path.write_text(problem.dumps(next(problem.generate("lower_train", 1))))
    with pytest.raises(ConfigError, match=r"Expected no vehicles for .*, which has a tour"):
        api.read(path, vehicles=2)


def test_only_solving_takes_a_limited_instance():
    found = api.read(written("DISTANCE : 24\n"))
    case = Case(found.data, ALONE, 50.0, "x")
    with pytest.raises(ConfigError, match="x limits or prices vehicles, has stops"):
        share_arrays(found.problem, [case])
    for data in (instance(prizes=PRIZES), instance(capacity=0)):
        with pytest.raises(ConfigError, match="must be left out, or directed ways"):
            share_arrays(found.problem, [replace(case, instance=data)])
        with pytest.raises(ConfigError, match="must be left out, or directed ways"):
            make_case(found.problem, data)


def test_published_values_are_not_of_limited_vehicles(tmp_path):
    folder = tmp_path / "cvrp_small"
    folder.mkdir()
    (tmp_path / "bks.csv").write_text(
        "set,name,bks,convention,verified_cost,note\ncvrp_small,x,45,euc2d-rounded(nint),45,\n"
    )
    path = folder / "x.vrp"
    path.write_text(HEAD + BODY)
    found = api.read(path)
    assert best_known(found.problem, found.data, path).value == 45
    assert best_known(found.problem, api.read(path, fixed_cost=1.0).data, path) is None
