"""Functions of the VRPTW: routes with time windows."""

from typing import Any, NamedTuple

import numpy as np

from specahd.core.loop_cache import njit
from specahd.engine import capacitated, interfaces, links, tail_exchange
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
from specahd.engine.state import State
from specahd.engine.times import CUSTOMER, GROUP, TOUCHED, backward, forward, refresh_route, touch
from specahd.routing.base import FloatArray
from specahd.routing.kernels.distances import leg_length

choose_groups = groups_call(interfaces.TIMED_GROUPS)
choose = position_call(interfaces.TIMED_POSITIONS)
log_lines = capacitated.log_lines
remove = capacitated.remove
lacking = capacitated.lacking
keep = capacitated.keep
exchange_tails = tail_exchange.exchange_tails
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
        The counters of :mod:`specahd.engine.times`.
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


def times_for(ready: FloatArray, due: FloatArray, service: FloatArray, size: int) -> Times:
    """Return the times of ``size`` nodes, none of which is on a route."""
    served = service.copy()
    served[0] = 0.0
    stamps, touched, offered = np.zeros((3, size), np.int64)
    return Times(
        *(ready, due, served, np.full(size, ready[0]), np.full(size, due[0])),
        *(stamps, np.zeros((size, 2)), touched, offered),
        *(np.stack((ready, due, ready, due)), np.zeros(3, np.int64)),
    )


def timed(state: State, ready: FloatArray, due: FloatArray, service: FloatArray) -> State:
    """Return a state of routes with their times."""
    state = state._replace(own=times_for(ready, due, service, len(state.nodes)))
    customers = state.nodes[1 : len(ready)]
    for route in np.unique(customers[:, links.ROUTE]).tolist():
        refresh_route(state, route)
    return state


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
    room = instance.capacity - instance.demands[customer]
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
        rest = room - route_loads[route]
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
                distance_before = near_distance
                leaves += service[near]
            elif ahead > customers:
                distance_before = depot_distance
            else:
                distance_before = leg_length(distances, customer, ahead)
                leaves += service[ahead]
            begins = max(leaves + distance_before, opens)
            if begins > closes:
                continue
            behind = nodes[ahead, BEHIND]
            if side == 1:
                distance_behind = near_distance
            elif behind > customers:
                distance_behind = depot_distance
            else:
                distance_behind = leg_length(distances, customer, behind)
            joined = edges[ahead, BEHIND]
            detour = distance_before + distance_behind - joined
            slack = min(closes, latest[behind] - distance_behind - lasts) - begins
            if slack < 0.0 or detour > most:
                continue
            reached = begins + lasts + distance_behind
            planned = leaves + joined if behind > customers else start[behind]
            found[DETOUR, count] = detour
            found[DISTANCE_BEFORE, count] = distance_before
            found[DISTANCE_BEHIND, count] = distance_behind
            found[REST, count] = rest
            found[SLACK, count] = slack
            found[SHIFT, count] = max(0.0, reached - planned)
            before[count] = ahead
            count += 1
    terminal = capacitated.free_terminal(state)
    begins = max(start[terminal] + depot_distance, opens)
    found[DETOUR, count] = depot_distance + depot_distance
    found[DISTANCE_BEFORE, count] = depot_distance
    found[DISTANCE_BEHIND, count] = depot_distance
    found[REST, count] = room
    found[SLACK, count] = min(closes, latest[terminal] - depot_distance - lasts) - begins
    found[SHIFT, count] = begins + lasts + depot_distance - start[terminal]
    before[count] = terminal
    return count + 1


@inlined
def close_gaps(state: Any, scratch: Any, removed: int) -> None:
    nodes, log, clock = state.nodes, scratch.log, state.own.clock
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


@inlined
def insert(
    state: Any,
    instance: Any,
    scratch: Any,
    line: int,
    customer: int,
    wanted: int,
    chosen: int,
    last: bool,
    cost: float,
) -> tuple[int, float]:
    _, cost = capacitated.insert(
        state, instance, scratch, line, customer, wanted, chosen, last, cost
    )
    nodes, edges, own = state.nodes, state.edges, state.own
    service, start, latest = own.service, own.start, own.latest
    customers = len(own.ready) - 1
    touch(own, customer)
    ahead = nodes[customer, BEFORE]
    time = start[ahead] + (0.0 if ahead > customers else service[ahead])
    start[customer] = max(time + edges[customer, BEFORE], own.ready[customer])
    forward(state, customer)
    time = latest[nodes[customer, BEHIND]]
    latest[customer] = min(own.due[customer], time - edges[customer, BEHIND] - service[customer])
    backward(state, customer)
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
