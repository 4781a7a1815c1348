"""Types of vehicles: the checker by hand, the assignment by enumeration, PyVRP's second opinion."""

import warnings
from dataclasses import replace
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
import pyvrp

from specahd import api
from specahd.core.errors import ConfigError, FileError, FileWarning
from specahd.routing.distances import LIMITS, LONGEST, PRICES, SHIFTS
from specahd.routing.formats.road_services import NO_WAY
from specahd.routing.vehicles.assignment import assign, depot_window
from specahd.routing.vehicles.baselines import problem_data
from specahd.routing.vehicles.feasibility import check, cost
from specahd.routing.vehicles.fleet import (
    by_type,
    left_out,
    limits_routes,
    penalty,
    reduced,
    relaxed,
    unservable,
)
from specahd.routing.vehicles.instance import OUT_OF_REACH

PLACES = "depot,0,0,,0,200,0\na,3,4,1,,,5\nb,0,10,2,,,5\nc,6,8,3,,60,5\n"
"""The stops are 5, 10 and 10 from the depot; a and b are 6.7 apart, a and c 5, b and c 6.3."""
TIMED = "name,x,y,demand,ready,due,service\n" + PLACES
PLAIN = "name,x,y,demand\n" + "".join(f"{','.join(r.split(',')[:4])}\n" for r in PLACES.split())
SMALL, LARGE = {"name": "small", "capacity": 3}, {"name": "large", "capacity": 6}


@pytest.fixture(autouse=True)
def _place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def read(*fleet, text=PLAIN, **options):
    Path("x.csv").write_text(text)
    return api.read("x.csv", fleet=list(fleet), **options).data


def details(data, *routes):
    return [violation.detail for violation in check(data, routes)]


def test_the_cheapest_type_that_can_serve_a_route_serves_it():
    data = read(SMALL | {"fixed_cost": 10, "cost_per_distance": 0.5}, LARGE | {"fixed_cost": 40})
    assert cost(data, ((1,), (2, 3))) == pytest.approx(10 + 5 + 40 + 20 + np.hypot(6, 2))
    assert details(data, (1,), (2, 3)) == []
    assert [each.name for each in assign(data, ((1,), (2, 3))).types] == ["small", "large"]
    assert data.capacity == 6


def test_no_more_vehicles_of_a_type_are_used_than_there_are():
    data = read(SMALL | {"count": 1}, LARGE | {"count": 1, "fixed_cost": 100})
    assert details(data, (1, 2), (3,)) == []
    # The routes to b and c are equally long.
    [detail] = details(data, (1,), (2,), (3,))
    assert detail in [f"Route {n} has no vehicle left: there are 1 small, 1 large." for n in (2, 3)]
    assert [each.kind for each in check(data, ((1,), (2,), (3,)))] == ["vehicles"]
    free = read(SMALL, LARGE | {"count": 1, "fixed_cost": 100})
    assert details(free, (1,), (2,), (3,)) == []


@pytest.mark.parametrize(
    ("fleet", "text", "found"),
    [
        ([SMALL], PLAIN, "Route 2 (small) carries 5, more than 3."),
        (
            [LARGE | {"max_distance": 25}],
            PLAIN,
            "Route 2 (large) is 26.32455532 long, more than 25.",
        ),
        ([LARGE | {"max_duration": 36}], TIMED, "Route 2 (large) takes 36.3246, more than 36."),
        (
            [LARGE | {"shift_start": 45}],
            TIMED,
            "Customer 'c' on route 2 is served at 66.3246, after 60.",
        ),
        ([LARGE | {"shift_end": 30}], TIMED, "Route 2 (large) is back at 36.3246, after 30."),
        ([LARGE | {"shift_start": 20, "shift_end": 50}], TIMED, "Route 2 (large) is back at"),
    ],
)
def test_each_field_is_checked_by_itself(fleet, text, found):
    data = read(*fleet, text=text)
    [detail] = details(data, (1,), (2, 3))
    assert detail.startswith(found)
    # With another type that can serve it, the route is feasible.
    assert details(read(*fleet, LARGE | {"name": "free"}, text=text), (1,), (2, 3)) == []


def test_driving_and_service_are_paid_by_time():
    data = read(LARGE | {"cost_per_distance": 0, "cost_per_duration": 2.0}, text=TIMED)
    assert cost(data, ((1,),)) == 2 * (10 + 5)
    assert cost(replace(data, open=True), ((1,),)) == 2 * (5 + 5)
    assert penalty(data) > cost(data, ((1,), (2,), (3,)))


def test_times_are_paid_at_the_speed_of_the_instance():
    data = read(LARGE | {"cost_per_distance": 0, "cost_per_duration": 2.0}, text=TIMED, speed=2)
    assert cost(data, ((1,),)) == 2 * (5 + 5)


def test_a_stop_costs_no_more_than_leaving_it_out_at_any_rate():
    data = read(LARGE | {"cost_per_distance": 10})
    assert penalty(data) > cost(data, ((1,), (2,), (3,)))


@pytest.mark.parametrize(
    ("shift", "window"),
    [
        ({}, (17, 200)),
        ({"shift_start": 5, "shift_end": 300}, (17, 200)),
        ({"shift_start": 30, "shift_end": 90}, (37, 90)),
    ],
)
@pytest.mark.parametrize("speed", [1, 2])
def test_a_shift_narrows_the_window_of_the_depot(shift, window, speed):
    """Loading takes 7."""
    text = TIMED.replace("0,200,0", "10,200,7")
    data = read(LARGE | shift, text=text, speed=speed)
    [kind] = data.types
    assert depot_window(data, kind) == pytest.approx([speed * each for each in window])
    [alike] = by_type(data)
    assert (alike.windows.ready[0], alike.windows.due[0]) == depot_window(data, kind)


def test_a_shift_that_ends_before_it_begins_is_refused_with_its_line():
    with pytest.raises(FileError, match="line 2 holds the shift_end 30, expected at least 40"):
        read(LARGE | {"shift_start": 40, "shift_end": 30}, text=TIMED)


def test_capacities_have_the_decimals_of_demands():
    [kind] = read(LARGE, text=PLAIN.replace("3,4,1", "3,4,1.5")).types
    assert kind.capacity == 60


def test_a_route_without_stops_takes_no_vehicle():
    data = read(LARGE | {"fixed_cost": 40})
    assert cost(data, ((), (1,))) == cost(data, ((1,),)) == 50


def test_nodes_that_are_no_customers_have_no_type():
    data = read(SMALL, LARGE)
    assert assign(data, ((1, 9, -1),)).costs.tolist() == assign(data, ((1,),)).costs.tolist()


@pytest.mark.parametrize(
    ("field", "options"),
    [({"max_distance": 26.3245553203}, {}), ({"shift_end": 30}, {"open": True})],
)
def test_a_type_whose_limits_hold_is_chosen(field, options):
    """By a rounding error, and on an open route, which ends at 26.3."""
    text = PLAIN if "max_distance" in field else TIMED
    data = read(LARGE | field, LARGE | {"name": "dear", "fixed_cost": 9}, text=text, **options)
    assert [each.name for each in assign(data, ((2, 3),)).types] == ["large"]


def test_the_assignment_is_the_best_of_all():
    rng = np.random.default_rng(4)
    Path("x.csv").write_text(
        "name,x,y,demand\n"
        + "".join(
            f"s{n},{x},{y},{n and 1 + n % 4}\n"
            for n, (x, y) in enumerate(rng.integers(0, 100, (13, 2)).tolist())
        )
    )
    for _ in range(60):
        kinds = int(rng.integers(1, 4))
        fleet = [
            {
                "name": str(kind),
                "capacity": int(rng.integers(3, 14)),
                "count": int(rng.integers(1, 4)) if rng.random() < 0.7 else None,
                "fixed_cost": int(rng.integers(0, 200)),
                "cost_per_distance": float(rng.integers(1, 20)) / 10,
            }
            for kind in range(kinds)
        ]
        fleet[0]["capacity"] = 13
        data = api.read("x.csv", fleet=fleet).data
        order = (rng.permutation(12) + 1).tolist()
        cuts = sorted(rng.choice(range(1, 12), int(rng.integers(1, 5)), replace=False).tolist())
        routes = tuple(tuple(part) for part in np.split(order, cuts))
        routes = tuple(tuple(map(int, route)) for route in routes)
        best = np.inf
        for chosen in product(range(kinds), repeat=len(routes)):
            counts = [
                each["count"] is None or chosen.count(kind) <= each["count"]
                for kind, each in enumerate(fleet)
            ]
            loads = [data.demands[list(route)].sum() for route in routes]
            fits = [
                load <= fleet[kind]["capacity"] for load, kind in zip(loads, chosen, strict=True)
            ]
            if all(counts) and all(fits):
                lengths = [sum(data.between([0, *route], [*route, 0]).tolist()) for route in routes]
                best = min(
                    best,
                    sum(
                        fleet[kind]["fixed_cost"] + fleet[kind]["cost_per_distance"] * length
                        for kind, length in zip(chosen, lengths, strict=True)
                    ),
                )
        feasible = check(data, routes) == ()
        assert feasible == (best < np.inf)
        if feasible:
            assert cost(data, routes) == pytest.approx(best, rel=1e-12)


def test_a_stop_that_no_type_can_serve_has_a_reason():
    data = read(SMALL | {"max_distance": 15}, {"name": "tiny", "capacity": 1})
    assert unservable(data) == {2: "out of reach in time", 3: "out of reach in time"}
    light = read({"name": "tiny", "capacity": 1}, {"name": "light", "capacity": 2})
    assert unservable(light) == {3: "too heavy"}
    assert left_out(light, ((1,), (2,))) == [(3, "too heavy", None)]
    both = replace(read(SMALL, LARGE | {"fixed_cost": 50}), prizes=np.array([0, np.inf, 20.0, 21]))
    # It costs 20 with a vehicle of the small type.
    assert [row[1] for row in left_out(both, ((1,),))] == ["not worth it", "no vehicle with room"]
    assert relaxed(both).prizes.tolist() == [penalty(both), penalty(both), 20.0, 21.0]


WAYS = 10.0 * (1 - np.eye(4))


def test_where_distances_are_limited_they_are_the_times_of_the_search():
    data = read(LARGE | {"max_distance": 25}, matrix=WAYS, durations=2 * WAYS)
    assert np.array_equal(reduced(data).durations, WAYS)


def test_a_missing_way_is_dear_where_distances_cost_nothing():
    ways = WAYS.copy()
    ways[1, 2] = NO_WAY
    rates = {"cost_per_distance": 0, "cost_per_duration": 1}
    data = replace(read(LARGE | rates, matrix=WAYS, durations=WAYS), matrix=ways)
    [paid] = reduced(data).type_columns[PRICES]
    assert paid[1, 2] > 100 * np.delete(paid, 6).max()


def test_a_stop_that_types_cannot_serve_for_different_reasons_is_out_of_reach():
    data = read({"name": "light", "capacity": 2}, LARGE | {"max_distance": 15})
    assert unservable(data) == {3: OUT_OF_REACH}


def test_the_search_sees_what_each_way_costs_with_each_type():
    data = read(
        SMALL | {"fixed_cost": 10, "cost_per_duration": 0.5, "shift_start": 20},
        LARGE | {"count": 2, "cost_per_distance": 2.0, "max_duration": 100},
        text=TIMED,
    )
    columns = reduced(data).type_columns
    route = [0, 1, 2, 0]
    for kind, alone in enumerate(data.types):
        single = replace(data, types=(alone,))
        priced = columns[PRICES][kind, route[:-1], route[1:]].sum()
        assert priced == pytest.approx(cost(single, ((1, 2),)), rel=1e-12)
    assert columns[SHIFTS].tolist() == [[20, 200], [0, 100]]
    assert columns[LIMITS].tolist() == [[3, 3], [6, 2]]
    assert reduced(data).windows.ready[0] == 0


def native(data):
    """Return PyVRP's own data of an instance, with its own fields of types, in thousandths."""
    parts, nodes, sites = 1000, range(data.size + 1), range(len(data.sites.coords))
    ways = np.rint(data.between(*np.ix_(sites, sites)) * parts).astype(int)
    windows = data.windows
    clients = []
    for node in nodes:
        times = (
            {}
            if windows is None
            else {
                "tw_early": round(windows.ready[node] * parts),
                "tw_late": round(windows.due[node] * parts),
                "service_duration": round(windows.service[node] * parts),
            }
        )
        clients.append({"location": node, "delivery": [int(data.demands[node])], **times})
    depot = {name: value for name, value in clients[0].items() if name.startswith("tw_")}
    types = []
    for kind in data.types:
        given = {
            "tw_early": kind.shift_start,
            "tw_late": kind.shift_end,
            "max_distance": kind.max_distance,
            "shift_duration": kind.max_duration,
        }
        types.append(
            pyvrp.VehicleType(
                num_available=kind.count or data.size,
                capacity=[kind.capacity],
                fixed_cost=round(kind.fixed_cost * parts * 10),
                unit_distance_cost=round(kind.cost_per_distance * 10),
                unit_duration_cost=round(kind.cost_per_duration * 10),
                start_depot=max(0, kind.start - data.size),
                end_depot=max(0, kind.end - data.size),
                **{
                    name: round(value * parts) for name, value in given.items() if value is not None
                },
            )
        )
    return pyvrp.ProblemData(
        locations=[pyvrp.Location(0, 0)] * len(sites),
        clients=[pyvrp.Client(**client) for client in clients[1:]],
        depots=[pyvrp.Depot(location=site, **depot) for site in (0, *sites[len(nodes) :])],
        vehicle_types=types,
        distance_matrices=[ways],
        duration_matrices=[ways],
    )


def stops(seed, size, *, timed, places=()):
    rng = np.random.default_rng(seed)
    lines = ["name,x,y,demand,ready,due,service" if timed else "name,x,y,demand"]
    for node, (x, y) in enumerate(rng.integers(0, 100, (size + 1, 2)).tolist()):
        # Of a third of the stops the window opens after the depot.
        opens = 40 + node if node % 3 == 1 else 0
        closes = rng.integers(150, 500) if node else 700
        times = f",{opens},{closes},{5 if node else 0}" if timed else ""
        lines.append(f"s{node},{x},{y},{rng.integers(1, 10) if node else 0}{times}")
    for name, (x, y) in zip(places, rng.integers(0, 100, (len(places), 2)).tolist(), strict=True):
        lines.insert(3, f"{name},{x},{y}," + ",,," * timed)
    Path("stops.csv").write_text("\n".join(lines) + "\n")
    return "stops.csv"


FLEETS = {
    "count": [{"name": "van", "capacity": 20, "count": 6}, {"name": "truck", "capacity": 40}],
    "costs": [
        {"name": "van", "capacity": 20, "fixed_cost": 20, "cost_per_distance": 0.6},
        {"name": "truck", "capacity": 45, "fixed_cost": 90, "cost_per_distance": 1.1},
    ],
    "max_distance": [
        {"name": "bike", "capacity": 20, "max_distance": 220, "cost_per_distance": 0.3},
        {"name": "truck", "capacity": 40},
    ],
    "max_duration": [
        {"name": "half", "capacity": 30, "max_duration": 250, "cost_per_distance": 0.3},
        {"name": "whole", "capacity": 30},
    ],
    "cost_per_duration": [
        {"name": "paid", "capacity": 30, "cost_per_duration": 0.7, "fixed_cost": 5},
        {"name": "bought", "capacity": 30, "fixed_cost": 150, "count": 2},
    ],
    "shift": [
        {"name": "early", "capacity": 30, "shift_end": 300, "cost_per_distance": 0.5},
        {"name": "late", "capacity": 30, "shift_start": 100, "shift_end": 600},
    ],
    "ends with limits": [
        {"name": "home", "capacity": 30, "start": "home", "end": "home", "max_duration": 190},
        {"name": "away", "capacity": 30, "end": "yard", "max_duration": 230, "count": 5},
        {"name": "plain", "capacity": 40, "fixed_cost": 400},
    ],
    "ends": [
        {"name": "home", "capacity": 30, "start": "home", "end": "home", "cost_per_duration": 0.2},
        {"name": "away", "capacity": 30, "end": "yard", "fixed_cost": 20, "cost_per_distance": 0.9},
        {"name": "plain", "capacity": 40, "count": 2},
    ],
}


@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize("field", FLEETS)
def test_pyvrp_agrees_on_cost_and_feasibility(field, timed):
    if timed == (field == "max_distance") or (not timed and field == "shift"):
        return
    places = ("home", "yard") if "ends" in field else ()
    found = api.read(stops(7, 40, timed=timed, places=places), fleet=FLEETS[field])
    solved = api.solve(found, repairs=40_000, seed=1)
    assert solved.unserved == []
    assert check(found.data, solved.data) == ()
    theirs, names = native(found.data), [kind.name for kind in found.data.types]
    routes = [
        pyvrp.Route(theirs, [node - 1 for node in route], names.index(kind))
        for route, kind in zip(solved.routes, solved.types, strict=True)
    ]
    opinion = pyvrp.Solution(theirs, routes)
    assert opinion.is_feasible()
    price = pyvrp.CostEvaluator([1], 1, 1).penalised_cost(opinion) / 10_000
    assert price == pytest.approx(solved.cost, rel=1e-4)
    # The baseline holds to all of it, too.
    baseline = found.problem.baseline(found.data, "pyvrp")
    assert check(found.data, baseline) == ()
    assert solved.cost < 1.05 * cost(found.data, baseline)
    assert problem_data(found.data, found.data.whole_matrix("x")).num_vehicle_types == len(names)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("places", [(), ("home", "yard")])
def test_tiny_instances_are_solved_to_the_optimum(seed, places):
    start, end = places or ("", "")
    found = api.read(
        stops(seed, 6, timed=False, places=places),
        fleet=[
            FLEETS["costs"][0] | {"start": start, "end": end},
            {"name": "truck", "capacity": 30, "count": 1, "fixed_cost": 60, "end": end},
        ],
    )
    # Each order of the stops, with a cut or none between two of them.
    best = min(
        cost(found.data, routes)
        for order in permutations(range(1, 7))
        for cuts in ((2,), (3,), (4,), (2, 4), (1, 3), (3, 4), (1, 4), (2, 3), (1, 2, 4), ())
        if not check(
            found.data,
            routes := tuple(
                order[start:end] for start, end in zip((0, *cuts), (*cuts, 6), strict=True)
            ),
        )
    )
    assert api.solve(found, repairs=20_000).cost <= best + 1e-9


@pytest.mark.parametrize(
    ("table", "found"),
    [
        (
            "name,colour\na,red\n",
            "line 1 holds the column 'colour', which types of vehicles do not",
        ),
        ("name,name\na,b\n", "line 1 holds the column 'name', twice, expected only name, count"),
        ("name\n", "holds 0 types of vehicles, expected 1 to 100"),
        ("name,count\n,1\n", "line 2 holds no name, expected a name"),
        ("name,count\na,1\na,2\n", "line 3 holds the name a, expected a name"),
        ("name,count\na,0\n", "line 2 holds the count 0, expected an integer in"),
        ("name,count\na,1.5\n", "line 2 holds the count 1.5, expected an integer in"),
        ("name,capacity\na,0\n", "line 2 holds the capacity 0, expected a number in"),
        ("name,capacity\na,\nb,4\n", "line 2 holds no capacity, expected"),
        ("name,fixed_cost\na,much\n", "line 2 holds the fixed_cost much, expected a number in"),
        ("name,cost_per_distance\na,-1\n", "line 2 holds the cost_per_distance -1, expected"),
        ("name,max_distance\na,0\n", "line 2 holds the max_distance 0, expected a number in"),
        ("name,max_duration\na,0\n", "line 2 holds the max_duration 0, expected a number in"),
        (
            "name,max_duration\na,8:00\n",
            "line 2 holds the max_duration 8:00, expected a number (hours and minutes need stops "
            "with clock times or dates)",
        ),
        ("name,shift_start\na,8\n", "line 2 holds the shift_start 8, expected none: x has no"),
        ("name,count\na,1,2\n", "line 2 holds 3 cells, expected 2"),
    ],
)
def test_a_bad_table_has_one_sentence_with_its_line(table, found):
    Path("fleet.csv").write_text(table)
    Path("x.csv").write_text(PLAIN)
    with pytest.raises(FileError) as error:
        api.read("x.csv", fleet="fleet.csv", **({} if "capacity" in table else {"capacity": 6}))
    assert str(error.value).startswith("fleet.csv: " + found)
    assert len(str(error.value)) < 250


@pytest.mark.parametrize(
    ("times", "shift", "found"),
    [
        ("0,200", "08:00", "line 2 holds the shift_end 08:00, expected a number in [0, 1e9], or"),
        ("08:00,18:00", "17", "line 2 holds the shift_end 17, expected a clock time as in other"),
        (
            "2026-12-01 08:00,2026-12-01 18:00",
            "17:00",
            "line 2 holds the shift_end 17:00, expected a date and a time as those of the stops: "
            "2026-12-01 08:00:00",
        ),
        (
            "2026-12-01 08:00,2026-12-01 18:00",
            "2026-02-30 17:00",
            "line 2 holds the shift_end 2026-02-30 17:00, expected a day and a time that exist",
        ),
    ],
)
def test_shifts_have_the_form_of_the_windows(times, shift, found):
    Path("fleet.csv").write_text(f"name,capacity,shift_end\na,9,{shift}\n")
    Path("x.csv").write_text(f"name,x,y,demand,ready,due\ndepot,0,0,,{times}\na,3,4,1,,\n")
    with pytest.raises(FileError) as error:
        api.read("x.csv", fleet="fleet.csv")
    assert str(error.value).startswith("fleet.csv: " + found)


@pytest.mark.parametrize(
    ("depot", "shift", "begins"),
    [
        ("0,200", "50,", 50),
        ("08:00,18:00", "09:30,", 9.5 * 3600),
        ("2026-12-01 08:00,2026-12-01 18:00", "2026-12-01 09:00,2026-12-01T10:00", 3600),
        ("1796112000,1796115600", "1796113000,", 1000),
        ("2026-12-01 08:00+01:00,2026-12-01 18:00+01:00", "2026-12-01 09:00Z,", 7200),
    ],
)
def test_shifts_are_points_in_time_of_the_table(depot, shift, begins):
    Path("fleet.csv").write_text(f"name,capacity,shift_start,shift_end\na,9,{shift}\n")
    Path("x.csv").write_text(f"name,x,y,demand,ready,due\ndepot,0,0,,{depot}\na,3,4,1,,\n")
    data = api.read("x.csv", fleet="fleet.csv").data
    assert data.types[0].shift_start == begins
    assert reduced(data).windows.ready[0] == begins


@pytest.mark.parametrize(
    ("depot", "cell", "seconds"),
    [
        ("08:00,18:00", "8:00", 8 * 3600),
        ("08:00,18:00", "28800", 28800),
        ("08:00,18:00", "08:30:30", 8.5 * 3600 + 30),
        ("2026-12-01 08:00,2026-12-01 18:00", "08:00", 8 * 3600),
        ("1796112000,1796115600", "0 days 00:30:00", 1800),
        ("0,200", '"199,5"', 199.5),
        ("08:00,18:00", "8h", "a number of seconds, or hours and minutes as 08:00"),
        ("08:00,18:00", "08:60", "a number of seconds, or hours and minutes as 08:00"),
        ("08:00,18:00", "00:00", "a number in [1e-09, 1e9]"),
        ("08:00,18:00", "-3", "a number in [1e-09, 1e9]"),
        ("0,200", "1:00", "a number (hours and minutes need stops with clock times or dates)"),
    ],
)
def test_the_longest_duration_may_be_a_clock_time_where_the_stops_have_some(depot, cell, seconds):
    Path("fleet.csv").write_text(f"name,capacity,max_duration\na,9,{cell}\n")
    Path("x.csv").write_text(f"name,x,y,demand,ready,due\ndepot,0,0,,{depot}\na,3,4,1,,\n")
    if isinstance(seconds, str):
        with pytest.raises(FileError) as error:
            api.read("x.csv", fleet="fleet.csv")
        expected = f"fleet.csv: line 2 holds the max_duration {cell}, expected {seconds}."
        assert str(error.value) == expected
        return
    assert api.read("x.csv", fleet="fleet.csv").data.types[0].max_duration == seconds
    if '"' not in cell:
        assert api.read("x.csv", max_duration=cell, capacity=9).data.max_duration == seconds


@pytest.mark.parametrize(
    ("depot", "given", "sentence"),
    [
        ("0,200", "8:00", "for x to be a number (hours and minutes need stops with clock times or"),
        ("08:00,18:00", "8h", "for x to be a number of seconds, or hours and minutes as 08:00, go"),
        ("08:00,18:00", "00:00", "in [1e-06, 1000000000.0], got 0.0"),
        ("08:00,18:00", -3, "in [1e-06, 1000000000.0], got -3"),
        ("08:00,18:00", True, "to be a number, got True"),
    ],
)
def test_a_wrong_longest_duration_has_a_sentence(depot, given, sentence):
    Path("x.csv").write_text(f"name,x,y,demand,ready,due\ndepot,0,0,,{depot}\na,3,4,1,,\n")
    with pytest.raises(ConfigError) as error:
        api.read("x.csv", max_duration=given, capacity=9)
    assert str(error.value).startswith(f"Expected max_duration {sentence}")


def test_empty_cells_have_the_values_of_options():
    data = read(
        {"name": "a"},
        {"name": "b", "capacity": 7.5, "fixed_cost": 0, "max_distance": 80},
        capacity=6,
        fixed_cost=9.0,
        max_distance=70.0,
    )
    first, second = data.types
    assert (first.capacity, first.fixed_cost, first.max_distance) == (6, 9.0, 70.0)
    # Demands are whole, so half a unit carries nothing.
    assert (second.capacity, second.fixed_cost, second.max_distance) == (7, 0.0, 80.0)
    assert (data.capacity, data.fixed_cost, data.max_distance) == (7, 0.0, None)


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"vehicles": 3}, "Expected vehicles or fleet, not both"),
        ({"split": True}, "Expected no fleet for x, whose deliveries are split"),
        ({"fleet": [LARGE | {"max_distance": 9.0}]}, "holds to the limits of its type"),
        ({"fleet": ["van"]}, "a list of a mapping for each type"),
        ({"fleet": 5}, "a list of a mapping for each type"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(options, found):
    Path("x.csv").write_text(PLAIN)
    with pytest.raises(ConfigError, match=found):
        api.read("x.csv", **{"fleet": [LARGE], **options})


def test_a_shift_that_begins_after_all_windows_open_makes_nobody_wait():
    late = TIMED.replace("b,0,10,2,,", "b,0,10,2,30,")
    early, soon = LARGE | {"max_duration": 90}, LARGE | {"max_duration": 90, "shift_start": 30}
    assert limits_routes(read(early, text=late))
    assert not limits_routes(read(soon, text=late))
    # The shift of the first has no other end than the depot's.
    data = read(early, soon | {"name": "soon"}, text=late)
    assert reduced(data).type_columns[SHIFTS].tolist() == [[0, 200], [30, 120]]
    assert reduced(data).type_columns[LONGEST].tolist() == [[np.inf, 90], [np.inf, 90]]


@pytest.mark.parametrize("limits", [{"max_duration": 8.5}, {"max_distance": 9}, {"capacity": 0.5}])
def test_a_type_that_can_serve_no_stop_gets_a_warning(limits):
    said = "x: no vehicle of the type 'van' can serve a stop within its capacity, shift and limits."
    with pytest.warns(FileWarning, match=f"^{said}$"):
        read({"name": "van", "capacity": 6} | limits, LARGE)
    with warnings.catch_warnings(action="error"):
        read(SMALL, LARGE | {"max_duration": 20})


def test_a_tour_has_no_fleet():
    Path("tour.csv").write_text("name,x,y\na,0,0\nb,3,4\nc,6,0\n")
    for file in ("samples/tsp.tsp", "tour.csv"):
        with pytest.raises(ConfigError, match=r"Expected no fleet for .*, which has a tour"):
            api.read(file, fleet=[LARGE])
