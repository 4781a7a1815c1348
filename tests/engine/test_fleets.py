"""Passes with types of vehicles: what a state holds is what a walk along its routes finds."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from cases import Place

from specahd import api
from specahd.engine import blocks, links
from specahd.engine.changes import CURRENT
from specahd.engine.fleets import REST_DRIVEN
from specahd.problems.vrptw.problem import VRPTW
from specahd.routing.distances import (
    DURATIONS,
    LENGTHS,
    LIMITS,
    LONGEST,
    PRICES,
    SHIFTS,
    TYPE_LENGTHS,
    TYPE_TIMES,
)
from specahd.routing.vehicles.fleet import reduced, relaxed

FLEET = [
    {"name": "van", "count": 3, "capacity": 15, "fixed_cost": 5, "cost_per_distance": 0.6},
    {"name": "late", "count": 3, "capacity": 40, "shift_start": 150, "cost_per_duration": 0.2},
    {"name": "early", "capacity": 30, "fixed_cost": 90, "shift_end": 400},
]
LIMITED = [
    {"max_distance": 180, "max_duration": 160},
    {"max_duration": 180},
    {"max_distance": 120},
]
ENDS = [{"start": "home"}, {"start": "yard", "end": "home"}, {}]


@pytest.fixture(params=["depot", "ends", "limits"])
def place(request, tmp_path):
    """A table of 40 stops, of which a third have windows, and a start with some of the stops."""
    rng = np.random.default_rng(9)
    lines = ["name,x,y,demand,ready,due,service", "depot,50,50,,0,700,"]
    for node, (x, y) in enumerate(rng.integers(0, 100, (40, 2)).tolist()):
        window = f"{150 + node},{400 + node}" if node % 3 == 0 else ","
        lines.append(f"s{node},{x},{y},{1 + node % 9},{window},5")
    fleet = FLEET
    if request.param == "limits":
        fleet = [kind | limits for kind, limits in zip(fleet, LIMITED, strict=True)]
    if request.param != "depot":
        lines[5:5] = ["home,10,20,,,,", "yard,90,60,,,,"]
        fleet = [kind | ends for kind, ends in zip(fleet, ENDS, strict=True)]
    (tmp_path / "x.csv").write_text("\n".join(lines) + "\n")
    data = relaxed(api.read(tmp_path / "x.csv", fleet=fleet).data)
    problem, seen = VRPTW(), reduced(data)
    shapes = blocks.layout(problem, seen)
    arrays = {name: np.zeros(shape, kind) for name, (kind, shape) in shapes.items()}
    blocks.fill(problem, seen, arrays)
    for array in arrays.values():
        array.flags.writeable = False
    return Place(problem, seen, ((1, 2), (3,), (4, 5, 6), (7,), (8, 9), (10,)), arrays)


def ways_of(block, kind, route):
    """Return the distances and the times of the ways to each stop and back."""
    found = []
    for ways, ends in ((LENGTHS, TYPE_LENGTHS), (DURATIONS, TYPE_TIMES)):
        between = [block[ways][a, b] for a, b in pairwise(route)]
        found.append([block[ends][kind, 0, route[0]], *between, block[ends][kind, 1, route[-1]]])
    return found


def parts_of(block, kind, route):
    """Return what the parts of a route before and behind each of its stops take, by definition."""
    lengths, times = ways_of(block, kind, route)
    ready, due, service = (block[f"{name}_times"][route] for name in ("ready", "due", "service"))
    found = np.zeros((len(route), 6))
    for place in range(len(route)):
        worked = [sum(times[: at + 1]) + sum(service[:at]) for at in range(place + 1)]
        rests = [sum(times[at + 1 :]) + sum(service[at:]) for at in range(place, len(route))]
        found[place] = (
            sum(lengths[: place + 1]),
            worked[-1],
            min(due[: place + 1] - worked),
            sum(lengths[place + 1 :]),
            rests[0],
            max(ready[place:] + rests),
        )
    return found


def least_duration(block, kind, route):
    """Return the least of the durations with every departure in time, of those at whole times."""
    _, (first, *rest) = ways_of(block, kind, route)
    opens, closes = block[SHIFTS][kind]
    found = []
    for leaves in np.arange(opens, closes):
        time = leaves + first
        late = False
        for node, way in zip(route, rest, strict=True):
            time = max(time, block["ready_times"][node])
            late |= time > block["due_times"][node]
            time += block["service_times"][node] + way
        if not late and time <= closes:
            found.append(time - leaves)
    # A departure at another time is less than 1 later.
    return min(found) - 1


@pytest.mark.parametrize("temperature", [0.0, 20.0, 400.0])
@pytest.mark.parametrize("exchanges", [0, 20])
def test_costs_loads_vehicles_and_times_are_those_of_the_routes(place, temperature, exchanges):
    place.slice(seed=3, repairs=20_000, temperature=temperature, exchanges=exchanges)
    state, block, size = place.search._state, place.block, place.instance.size
    fleet, nodes = state.own.fleet, state.nodes
    prices, shifts, limits = (block[name] for name in (PRICES, SHIFTS, LIMITS))
    cost, used, longest = 0.0, np.zeros(len(limits), int), np.zeros(2)
    for terminal in range(size + 1, len(nodes)):
        route = [0]
        node = nodes[terminal, links.BEHIND]
        while node <= size:
            route.append(int(node))
            node = nodes[node, links.BEHIND]
        number = terminal - size - 1
        if len(route) == 1:
            continue
        kind = int(fleet.kinds[number])
        used[kind] += 1
        load = block["demands"][route].sum()
        assert state.route_loads[number] == load <= limits[kind, 0]
        cost += sum(prices[kind, a, b] for a, b in pairwise([*route, 0]))
        time, opens = shifts[kind, 0], state.own.start[terminal]
        assert opens == time
        assert state.own.latest[terminal] == shifts[kind, 1]
        leaving, returning = block[TYPE_TIMES][kind]
        for before, node in pairwise(route):
            reached = time + block["service_times"][before] * (before > 0)
            way = block["durations"][before, node] if before else leaving[node]
            time = max(reached + way, block["ready_times"][node])
            assert state.own.start[node] == pytest.approx(time)
            assert time <= block["due_times"][node] + 1e-9
        home = time + block["service_times"][route[-1]] + returning[route[-1]]
        assert home <= shifts[kind, 1] + 1e-9
        if fleet.reach is not None:
            measured = parts_of(block, kind, route[1:])
            assert fleet.reach.parts[route[1:]] == pytest.approx(measured)
            length = measured[0, REST_DRIVEN] + block[TYPE_LENGTHS][kind, 0, route[1]]
            lasts = least_duration(block, kind, route[1:])
            assert length <= block[LONGEST][kind, 0] + 1e-9
            assert lasts <= block[LONGEST][kind, 1] + 1e-9
            longest = np.maximum(longest, [length, lasts])
    out = np.flatnonzero(nodes[1 : size + 1, links.ROUTE] < 0) + 1
    assert state.costs[CURRENT] == pytest.approx(cost + state.prizes[out].sum(), rel=1e-9)
    assert (fleet.left == limits[:, 1] - used).all()
    assert used.sum() > 3
    assert (fleet.reach is not None) == (LENGTHS in block)
    assert fleet.reach is None or (longest > (100, 130)).all()


def test_routes_begin_with_the_cheapest_vehicles_that_are_left(place):
    place.slice(seed=1, repairs=1, temperature=0.0)
    kinds = place.search._state.own.fleet.kinds
    assert sorted(kinds[:6].tolist()) == [0, 0, 0, 1, 1, 1]


def test_a_search_with_types_begins_hotter(place):
    warm = place.problem.engine.start_temperature
    near = place.block["neighbour_distances"]
    assert warm(place.instance, near) > warm(replace(place.instance, type_columns={}), near)
