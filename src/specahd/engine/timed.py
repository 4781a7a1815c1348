"""Functions of the VRPTW: routes with time windows, and exchanges of their tails.

A change of a route's times is propagated along the route only as far as times differ. The first
change of a node after the removal of a group notes the node's old times, so that undoing the group
needs no propagation.

An exchange of tails is that of :mod:`specahd.engine.exchanges` between two routes, not turned
round: it puts the later one of two neighbours directly behind the earlier one.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from specahd.core.loop_cache import njit
from specahd.engine import capacitated, interfaces, links
from specahd.engine.changes import BEST, CURRENT, FREE, mark
from specahd.engine.exchanges import COOLER, MOST, load_of, swap_tails
from specahd.engine.fleets import (
    Fleet,
    by_types,
    capacity_of,
    in_shift,
    leg,
    note_vehicles,
    nothing,
    number_of_types,
    offer,
    return_vehicle,
    same_type,
    set_type,
    take_vehicle,
    undo_vehicles,
)
from specahd.engine.inlined import inlined
from specahd.engine.links import BEFORE, BEFORE_NOTED, BEHIND, BEHIND_NOTED, ROUTE
from specahd.engine.programs import (
    DETOUR,
    DISTANCE_BEFORE,
    DISTANCE_BEHIND,
    EARLIEST,
    LATEST,
    REST,
    SHIFT,
    SLACK,
    groups_call,
    position_call,
)
from specahd.engine.random import uniform
from specahd.engine.reach import (
    measure,
    measure_noted,
    reaches,
    remains_in_reach,
    tails_reach,
)
from specahd.engine.roads import directed, travel_time, way
from specahd.engine.state import State
from specahd.engine.type_prices import price
from specahd.routing.base import FloatArray
from specahd.routing.kernels.distances import leg_length

GROUP, TOUCHED, CUSTOMER = range(3)
"""Indices of ``clock``, which counts groups, touched nodes and customers."""
_TYPE_CHANGES = 8
"""Number of changes of types that are tried in each pass."""

choose_groups = groups_call(interfaces.TIMED_GROUPS)
choose = position_call(interfaces.TIMED_POSITIONS)
log_lines = capacitated.log_lines
remove = capacitated.remove
lacking = capacitated.lacking
keep = capacitated.keep
keep_best = capacitated.keep_best


class Times(NamedTuple):
    """The times of a state's routes.

    Parameters
    ----------
    ready, due, service
        The earliest and the latest start of service, and its duration, shape (n + 1,); the
        duration at the depot is 0.
    start, latest
        Per node of the lists, the earliest start of service on its route, and the latest start for
        which all later stops are in time; of a terminal, when the depot opens and closes.
    stamps, noted, touched
        The nodes that were touched since a group was removed, and their times before.
    offered
        Per node, the customer count of ``clock`` when the position behind it was last offered.
    views
        The rows that upper programs receive, shape (4, n + 1); nothing else reads them.
    clock
        The counters :data:`GROUP`, :data:`TOUCHED` and :data:`CUSTOMER`.
    durations
        The time from each node to each other one, shape (n + 1, n + 1); None where it equals the
        distance, and ways equal ways back.
    fleet
        The types of vehicles; None if all are alike.
    """

    ready: Any
    due: Any
    service: Any
    start: Any
    latest: Any
    stamps: Any
    noted: Any
    touched: Any
    offered: Any
    views: Any
    clock: Any
    durations: Any
    fleet: Any


def times_for(
    ready: FloatArray,
    due: FloatArray,
    service: FloatArray,
    size: int,
    durations: FloatArray | None = None,
    fleet: Fleet | None = None,
) -> Times:
    """Return the times of ``size`` nodes, none of which is on a route."""
    served = service.copy()
    served[0] = 0.0
    stamps, touched, offered = np.zeros((3, size), np.int64)
    return Times(
        *(ready, due, served, np.full(size, ready[0]), np.full(size, due[0])),
        *(stamps, np.zeros((size, 2)), touched, offered),
        *(np.stack((ready, due, ready, due)), np.zeros(3, np.int64), durations, fleet),
    )


def timed(
    state: State,
    ready: FloatArray,
    due: FloatArray,
    service: FloatArray,
    durations: FloatArray | None = None,
    fleet: Fleet | None = None,
) -> State:
    """Return a state of routes with their times."""
    own = times_for(ready, due, service, len(state.nodes), durations, fleet)
    state = state._replace(own=own)
    customers = state.nodes[1 : len(ready)]
    for route in np.unique(customers[customers[:, links.ROUTE] >= 0, links.ROUTE]).tolist():
        if fleet is not None:
            _drive(state, route, int(fleet.kinds[route]))
        refresh_route(state, route)
    return state


@njit(cache=True)
def refresh_route(state: Any, route: int) -> None:
    """Compute all times of a route."""
    nodes, edges, own = state.nodes, state.edges, state.own
    ready, due, service, start, latest = own.ready, own.due, own.service, own.start, own.latest
    customers = len(ready) - 1
    terminal = customers + 1 + route
    time = start[terminal]
    node = nodes[terminal, BEHIND]
    while node <= customers:
        time += travel_time(own, nodes[node, BEFORE], node, edges[node, BEFORE])
        time = max(time, ready[node])
        start[node] = time
        time += service[node]
        node = nodes[node, BEHIND]
    time = latest[terminal]
    node = nodes[terminal, BEFORE]
    while node <= customers:
        time -= travel_time(own, node, nodes[node, BEHIND], edges[node, BEHIND])
        time = min(due[node], time - service[node])
        latest[node] = time
        node = nodes[node, BEFORE]
    measure(state, route)


@inlined
def touch(own: Any, node: int) -> None:
    """Note the times of a node, unless they were noted since the group was removed."""
    clock, stamps, noted, touched = own.clock, own.stamps, own.noted, own.touched
    if stamps[node] != clock[GROUP]:
        stamps[node] = clock[GROUP]
        noted[node, 0] = own.start[node]
        noted[node, 1] = own.latest[node]
        touched[clock[TOUCHED]] = node
        clock[TOUCHED] += 1


@inlined
def forward(state: Any, ahead: int) -> None:
    """Propagate a new start of service at a node to the later nodes."""
    nodes, edges, own = state.nodes, state.edges, state.own
    ready, service, start = own.ready, own.service, own.start
    customers = len(ready) - 1
    time = start[ahead] + (0.0 if ahead > customers else service[ahead])
    node = nodes[ahead, BEHIND]
    while node <= customers:
        time += travel_time(own, nodes[node, BEFORE], node, edges[node, BEFORE])
        time = max(time, ready[node])
        # Where a vehicle waited long enough, nothing changes from there on.
        if time == start[node]:
            break
        touch(own, node)
        start[node] = time
        time += service[node]
        node = nodes[node, BEHIND]


@inlined
def backward(state: Any, behind: int) -> None:
    """Propagate a new latest start at a node to the earlier nodes."""
    nodes, edges, own = state.nodes, state.edges, state.own
    due, service, latest = own.due, own.service, own.latest
    customers = len(due) - 1
    time = latest[behind]
    node = nodes[behind, BEFORE]
    while node <= customers:
        time -= travel_time(own, node, nodes[node, BEHIND], edges[node, BEHIND])
        time = min(due[node], time - service[node])
        if time == latest[node]:
            break
        touch(own, node)
        latest[node] = time
        node = nodes[node, BEFORE]


@njit(cache=True)
def show(state: Any, instance: Any) -> None:
    capacitated.show(state, instance)
    views, start, latest = state.own.views, state.own.start, state.own.latest
    # For a thousand customers, copying all takes no longer than a list of changes would.
    for node in range(views.shape[1]):
        views[EARLIEST, node] = start[node]
        views[LATEST, node] = latest[node]


@inlined
def find_positions(
    state: Any, instance: Any, scratch: Any, customer: int, wanted: int, most: float
) -> int:
    nodes, edges, route_loads, own = state.nodes, state.edges, state.route_loads, state.own
    service, start, latest, offered = own.service, own.start, own.latest, own.offered
    distances, neighbours, neighbour_distances = (
        instance.distances,
        instance.neighbours,
        instance.neighbour_distances,
    )
    found, before = scratch.found, scratch.before
    customers = len(state.gains) - 1
    demand, capacity = instance.demands[customer], instance.capacity
    depot_distance = instance.depot_distances[customer]
    opens = own.ready[customer]
    closes = own.due[customer]
    lasts = service[customer]
    own.clock[CUSTOMER] += 1
    now = own.clock[CUSTOMER]
    count = 0
    for place in range(neighbours.shape[1]):
        near = neighbours[customer, place]
        route = nodes[near, ROUTE]
        if route < 0:
            continue
        rest = capacity_of(own, capacity, route) - demand - route_loads[route]
        if rest < 0:
            continue
        near_distance = neighbour_distances[customer, place]
        for side in range(2):
            ahead = near if side == 0 else nodes[near, BEFORE]
            if offered[ahead] == now:
                continue
            offered[ahead] = now
            leaves = start[ahead]
            if side == 0:
                distance_before = way(own, distances, route, near, customer, near_distance)
                leaves += service[near]
            elif ahead > customers:
                distance_before = way(own, distances, route, 0, customer, depot_distance)
            else:
                distance_before = leg_length(distances, customer, ahead)
                distance_before = way(own, distances, route, ahead, customer, distance_before)
                leaves += service[ahead]
            begins = leaves + travel_time(own, ahead, customer, distance_before)
            begins = max(begins, opens)
            if begins > closes:
                continue
            behind = nodes[ahead, BEHIND]
            if side == 1:
                distance_behind = way(own, distances, route, customer, near, near_distance)
            elif behind > customers:
                distance_behind = way(own, distances, route, customer, 0, depot_distance)
            else:
                distance_behind = leg(own, distances, route, customer, behind)
            joined = edges[ahead, BEHIND]
            detour = distance_before + distance_behind - joined
            taken = travel_time(own, customer, behind, distance_behind)
            slack = min(closes, latest[behind] - taken - lasts) - begins
            if slack < 0.0 or detour > most:
                continue
            if not reaches(own, route, ahead, customer, behind):
                continue
            reached = begins + lasts + taken
            planned = start[behind]
            if behind > customers:
                planned = leaves + travel_time(own, ahead, behind, joined)
            found[DETOUR, count] = detour
            found[DISTANCE_BEFORE, count] = distance_before
            found[DISTANCE_BEHIND, count] = distance_behind
            found[REST, count] = rest
            found[SLACK, count] = slack
            found[SHIFT, count] = max(0.0, reached - planned)
            before[count] = ahead
            count += 1
    if state.integers[FREE] == 0:
        return count
    terminal = capacitated.free_terminal(state)
    route = nodes[terminal, ROUTE]
    for kind in range(number_of_types(own)):
        if not offer(own, kind, route, terminal, count, demand):
            continue
        distance_before = way(own, distances, route, 0, customer, depot_distance)
        distance_behind = way(own, distances, route, customer, 0, depot_distance)
        begins = max(start[terminal] + travel_time(own, terminal, customer, distance_before), opens)
        taken = travel_time(own, customer, terminal, distance_behind)
        slack = min(closes, latest[terminal] - taken - lasts) - begins
        if not in_shift(own, slack) or not reaches(own, route, terminal, customer, terminal):
            continue
        found[DETOUR, count] = distance_before + distance_behind
        found[DISTANCE_BEFORE, count] = distance_before
        found[DISTANCE_BEHIND, count] = distance_behind
        found[REST, count] = capacity_of(own, capacity, route) - demand
        found[SLACK, count] = slack
        found[SHIFT, count] = begins + lasts + taken - start[terminal]
        before[count] = terminal
        count += 1
    return count


@inlined
def close_gaps(state: Any, scratch: Any, removed: int) -> float:
    nodes, log, own, clock = state.nodes, scratch.log, state.own, state.own.clock
    added = 0.0
    note_vehicles(own)
    clock[GROUP] += 1
    clock[TOUCHED] = 0
    for line in range(removed):
        ahead = log[line, BEFORE_NOTED]
        behind = log[line, BEHIND_NOTED]
        # Of a removed string, only the customer removed last was between two nodes that stay.
        if (
            nodes[ahead, ROUTE] >= 0
            and nodes[behind, ROUTE] >= 0
            and nodes[ahead, BEHIND] == behind
        ):
            forward(state, ahead)
            backward(state, behind)
            if not remains_in_reach(state, nodes[ahead, ROUTE]):
                added = np.inf
            # The way past a stop may take longer than those to it and from it.
            if directed(own) and not _in_time(own, ahead, behind, state.edges[ahead, BEHIND]):
                added = np.inf
    return added


@inlined
def insert(
    state: Any,
    instance: Any,
    scratch: Any,
    line: int,
    customer: int,
    wanted: int,
    chosen: int,
    cost: float,
) -> tuple[int, float]:
    nodes, edges, own = state.nodes, state.edges, state.own
    terminal = scratch.before[chosen]
    if nodes[terminal, BEHIND] == terminal:
        take_vehicle(own, chosen, nodes[terminal, ROUTE], terminal)
    _, cost = capacitated.insert(state, instance, scratch, line, customer, wanted, chosen, cost)
    service, start, latest = own.service, own.start, own.latest
    customers = len(own.ready) - 1
    touch(own, customer)
    ahead = nodes[customer, BEFORE]
    time = start[ahead] + (0.0 if ahead > customers else service[ahead])
    time += travel_time(own, ahead, customer, edges[customer, BEFORE])
    start[customer] = max(time, own.ready[customer])
    forward(state, customer)
    behind = nodes[customer, BEHIND]
    time = latest[behind] - travel_time(own, customer, behind, edges[customer, BEHIND])
    latest[customer] = min(own.due[customer], time - service[customer])
    backward(state, customer)
    measure(state, nodes[customer, ROUTE])
    return 0, cost


@inlined
def undo(state: Any, instance: Any, scratch: Any, removed: int, lines: int) -> None:
    capacitated.undo(state, instance, scratch, removed, lines)
    own = state.own
    start, latest, noted, touched = own.start, own.latest, own.noted, own.touched
    for place in range(own.clock[TOUCHED]):
        node = touched[place]
        start[node] = noted[node, 0]
        latest[node] = noted[node, 1]
    own.clock[TOUCHED] = 0
    undo_vehicles(own, len(own.ready))
    measure_noted(state, scratch, lines)


@njit(cache=True)
def _in_time(own: Any, ahead: int, behind: int, distance: float) -> Any:
    """Return whether a node can follow another in time, given the distance between them."""
    lasts = 0.0 if ahead >= len(own.ready) else own.service[ahead]
    taken = travel_time(own, ahead, behind, distance)
    return own.start[ahead] + lasts + taken <= own.latest[behind]


@njit(cache=True)
def _price(state: Any, route: int, kind: int) -> Any:
    """Return what a route would cost with another type; infinity if that cannot serve it."""
    nodes, customers = state.nodes, len(state.own.ready) - 1
    count, terminal = 0, customers + 1 + route
    walk = np.empty(customers, np.int64)
    node = nodes[terminal, BEHIND]
    while node <= customers:
        walk[count] = node
        count += 1
        node = nodes[node, BEHIND]
    return price(state.own, state.route_loads[route], walk[:count], kind)


@njit(cache=True)
def _drive(state: Any, route: int, kind: int) -> None:
    """Give a route with customers a type, and its edges what they cost with it."""
    nodes, edges, own = state.nodes, state.edges, state.own
    customers = len(own.ready) - 1
    terminal = customers + 1 + route
    set_type(own, route, terminal, kind)
    ahead, here = terminal, 0
    while True:
        behind = nodes[ahead, BEHIND]
        there = 0 if behind > customers else behind
        distance = own.fleet.prices[kind, here, there]
        state.costs[:] += distance - edges[ahead, BEHIND]
        edges[ahead, BEHIND] = distance
        edges[behind, BEFORE] = distance
        if there == 0:
            break
        ahead, here = behind, there


@by_types(nothing)
@njit(cache=True)
def change_types(state: Any, instance: Any, heat: float) -> None:
    """Try to give routes other types: each a free vehicle, or that of another route in exchange."""
    nodes, generator, own = state.nodes, state.generator, state.own
    fleet, customers, best = own.fleet, len(own.ready) - 1, state.costs[BEST]
    for _ in range(_TYPE_CHANGES):
        route = nodes[1 + int(uniform(generator) * customers), ROUTE]
        other = nodes[1 + int(uniform(generator) * customers), ROUTE]
        kind = int(uniform(generator) * len(fleet.left))
        if route < 0:
            continue
        before = fleet.kinds[route]
        exchanged = fleet.left[kind] == 0
        if exchanged:
            if other < 0:
                continue
            kind = fleet.kinds[other]
        if kind == before:
            continue
        price = _price(state, route, kind) - _price(state, route, before)
        if exchanged and price < np.inf:
            price += _price(state, other, before) - _price(state, other, kind)
        if not price < -heat * math.log(1.0 - uniform(generator)):
            continue
        _drive(state, route, kind)
        refresh_route(state, route)
        _mark_route(state, route)
        if exchanged:
            _drive(state, other, before)
            refresh_route(state, other)
            _mark_route(state, other)
        else:
            fleet.left[kind] -= 1
            fleet.left[before] += 1
    state.costs[BEST] = best


@inlined
def _mark_route(state: Any, route: int) -> None:
    terminal = len(state.own.ready) + route
    node = state.nodes[terminal, BEHIND]
    while node != terminal:
        mark(state, node)
        node = state.nodes[node, BEHIND]


@njit(cache=True)
def exchange_tails(state: Any, instance: Any, tries: int, temperature: float) -> None:
    """Try ``tries`` exchanges, each of two random neighbours that are on routes."""
    nodes, edges, route_loads, integers = (
        state.nodes,
        state.edges,
        state.route_loads,
        state.integers,
    )
    neighbours, demands, depot_distances = (
        instance.neighbours,
        instance.demands,
        instance.depot_distances,
    )
    generator, own = state.generator, state.own
    start = own.start
    customers = len(demands) - 1
    heat = COOLER * temperature
    change_types(state, instance, heat)
    if neighbours.shape[1] == 0:
        return
    most = MOST * heat
    for _ in range(tries):
        first = 1 + int(uniform(generator) * customers)
        draw = uniform(generator)
        # Nearer neighbours are drawn more often.
        place = int(draw * draw * neighbours.shape[1])
        second = neighbours[first, place]
        routes = nodes[first, ROUTE], nodes[second, ROUTE]
        if routes[0] == routes[1] or min(routes) < 0 or not same_type(own, *routes):
            continue
        joint_distance = instance.neighbour_distances[first, place]
        if start[first] > start[second]:
            first, second = second, first
        joint_distance = way(own, instance.distances, routes[0], first, second, joint_distance)
        gone = edges[first, BEHIND] + edges[second, BEFORE]
        if joint_distance - gone > most or not _in_time(own, first, second, joint_distance):
            continue
        # The other two ends, which get joined; each may be a terminal.
        behind = nodes[first, BEHIND]
        ahead = nodes[second, BEFORE]
        if ahead > customers:
            joined = 0.0
            if behind <= customers:
                known = depot_distances[behind]
                joined = way(own, instance.distances, routes[0], 0, behind, known)
        elif behind > customers:
            joined = way(own, instance.distances, routes[0], ahead, 0, depot_distances[ahead])
        else:
            joined = leg(own, instance.distances, routes[0], ahead, behind)
        detour = joint_distance + joined - gone
        if detour > most or (detour > 0.0 and detour > -heat * math.log(1.0 - uniform(generator))):
            continue
        if not _in_time(own, ahead, behind, joined):
            continue
        route = nodes[first, ROUTE]
        other = nodes[second, ROUTE]
        more = load_of(nodes, demands, second, BEHIND)
        more -= load_of(nodes, demands, behind, BEHIND)
        capacity = capacity_of(own, instance.capacity, route)
        if route_loads[route] + more > capacity or route_loads[other] - more > capacity:
            continue
        if not tails_reach(state, first, behind, ahead, second):
            continue
        route_loads[route] += more
        route_loads[other] -= more
        swap_tails(state, first, second, joint_distance, joined)
        forward(state, first)
        forward(state, ahead)
        backward(state, second)
        backward(state, nodes[ahead, BEHIND])
        measure(state, route)
        measure(state, other)
        state.costs[CURRENT] += detour
        terminal = customers + 1 + other
        if nodes[terminal, BEHIND] == terminal:
            state.free[integers[FREE]] = other
            integers[FREE] += 1
            return_vehicle(own, other)
