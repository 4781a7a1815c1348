"""Functions of the CVRP: routes of vehicles that are filled up to their capacity.

:mod:`specahd.engine.steps` documents them. Other problems with routes share most of them.
"""

from typing import Any, NamedTuple

import numpy as np

from specahd.core.loop_cache import njit
from specahd.engine import changes, exchanges, interfaces, links
from specahd.engine.changes import (
    BEST,
    CHANGED,
    CHANGES,
    CURRENT,
    FOLLOWING,
    FREE,
    LIMITED,
    PRECEDING,
    ROUTE_OF,
)
from specahd.engine.fleets import leg
from specahd.engine.inlined import inlined
from specahd.engine.links import BEFORE, BEHIND, OUT, ROUTE
from specahd.engine.programs import (
    DETOUR,
    DISTANCE_BEFORE,
    DISTANCE_BEHIND,
    REST,
    groups_call,
    position_call,
)
from specahd.engine.state import MAX_SIZE, Instance, State, begun
from specahd.routing.base import IntArray
from specahd.routing.kernels.distances import leg_length

choose_groups = groups_call(interfaces.GROUPS)
choose = position_call(interfaces.POSITIONS)


class Loads(NamedTuple):
    """Fields that the CVRP adds to a state: none, since every state has the loads of its routes."""


def state_for(routes: IntArray, instance: Instance, seed: int) -> State:
    """Return the state that begins at a solution.

    Parameters
    ----------
    routes
        The routes of a feasible solution: every customer once, 0 between two routes. Where there
        are prizes, customers may be missing.

    Raises
    ------
    ValueError
        A customer is missing, comes twice or does not exist.
    """
    customers = len(instance.demands) - 1
    visited, expected = np.sort(routes[routes != 0]), np.arange(1, customers + 1)
    if len(instance.prizes):
        expected = np.intersect1d(visited, expected)
    if not np.array_equal(visited, expected):
        raise ValueError(f"Expected each customer from 1 to {customers} once.")
    # A route that the removal of a group empties is free only after the group is accepted.
    count = customers + MAX_SIZE
    used = np.arange(1, customers + 1)
    owners = np.zeros(customers + 1 + count, np.int64)
    owners[used] = used
    return loaded(routes, instance.demands, count, owners, used, instance, seed, Loads())


def loaded(
    routes: IntArray,
    loads: IntArray,
    count: int,
    owners: IntArray,
    used: IntArray,
    instance: Instance,
    seed: int,
    own: Any,
) -> State:
    """Return the state that begins at a solution.

    Parameters
    ----------
    routes
        Nodes, with 0 between two routes.
    loads, owners
        The load of each node, and the customer of each node. A terminal has the customer 0, and
        no entry in ``loads``.
    count
        The number of routes for which there is room.
    used
        The nodes that belong to customers.
    """
    nodes = np.zeros((len(owners), 4), np.int32)
    edges = np.zeros((len(owners), 2))
    route_loads, free = np.zeros(count, np.int64), np.zeros(count, np.int64)
    left = links.load_routes(routes, nodes, route_loads, loads, free)
    cost = _measure(nodes, edges, instance.distances, owners)
    state = begun(instance, nodes, edges, route_loads, free, left, used, cost, seed, own)
    left_out = nodes[1 : len(instance.prizes), ROUTE] < 0
    for index, prizes in ((CURRENT, state.prizes), (BEST, instance.prizes)):
        state.costs[index] += prizes[1:][left_out].sum()
    return state


@njit(cache=True)
def _measure(nodes: Any, edges: Any, distances: Any, owners: Any) -> Any:
    """Write the distances of a solution's edges and return their sum."""
    cost = 0.0
    for node in range(1, len(nodes)):
        if nodes[node, ROUTE] < 0:
            continue
        behind = nodes[node, BEHIND]
        distance = leg_length(distances, owners[node], owners[behind])
        edges[node, BEHIND] = distance
        edges[behind, BEFORE] = distance
        cost += distance
    return cost


@njit(cache=True)
def show(state: Any, instance: Any) -> None:
    nodes, edges, upper_inputs, gains = state.nodes, state.edges, state.upper_inputs, state.gains
    marks, changed, integers, distances = (
        state.marks,
        state.changed,
        state.integers,
        instance.distances,
    )
    customers = len(gains) - 1
    for place in range(integers[CHANGED]):
        node = changed[0, place]
        marks[CHANGES, node] &= 2
        if node > customers:
            continue
        before = nodes[node, BEFORE]
        behind = nodes[node, BEHIND]
        if nodes[node, ROUTE] < 0:
            # A customer that is left out.
            upper_inputs[PRECEDING, node] = 0
            upper_inputs[FOLLOWING, node] = 0
            upper_inputs[ROUTE_OF, node] = OUT
            gains[node] = 0.0
            continue
        before = 0 if before > customers else before
        behind = 0 if behind > customers else behind
        upper_inputs[PRECEDING, node] = before
        upper_inputs[FOLLOWING, node] = behind
        upper_inputs[ROUTE_OF, node] = nodes[node, ROUTE]
        gains[node] = (
            edges[node, BEFORE]
            + edges[node, BEHIND]
            - leg(state.own, distances, nodes[node, ROUTE], before, behind)
        )
    integers[CHANGED] = 0


@inlined
def log_lines(state: Any, max_size: int) -> int:
    return 2 * max_size


@inlined
def remove(
    state: Any, instance: Any, scratch: Any, line: int, customer: int, cost: float
) -> tuple[int, float]:
    nodes, edges = state.nodes, state.edges
    customers = len(state.gains) - 1
    ahead = nodes[customer, BEFORE]
    behind = nodes[customer, BEHIND]
    joined = leg(
        state.own,
        instance.distances,
        nodes[customer, ROUTE],
        0 if ahead > customers else ahead,
        0 if behind > customers else behind,
    )
    cost -= edges[customer, BEFORE] + edges[customer, BEHIND] - joined
    links.note(state, scratch, line, customer, joined)
    links.unlink(state, customer, instance.demands[customer], joined)
    return line + 1, cost


@inlined
def close_gaps(state: Any, scratch: Any, removed: int) -> float:
    return 0.0


@inlined
def lacking(state: Any, instance: Any, customer: int) -> Any:
    # A literal would have a type of its own, for which numba would compile all callers twice.
    return np.int64(1)


@inlined
def find_positions(
    state: Any, instance: Any, scratch: Any, customer: int, wanted: int, most: float
) -> int:
    nodes, edges, route_loads = state.nodes, state.edges, state.route_loads
    distances, neighbours, neighbour_distances = (
        instance.distances,
        instance.neighbours,
        instance.neighbour_distances,
    )
    found, before = scratch.found, scratch.before
    customers = len(state.gains) - 1
    depot_distance = instance.depot_distances[customer]
    room = instance.capacity - instance.demands[customer]
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
        behind = nodes[near, BEHIND]
        distance_behind = (
            depot_distance if behind > customers else leg_length(distances, customer, behind)
        )
        detour = near_distance + distance_behind - edges[near, BEHIND]
        found[DETOUR, count] = detour
        found[DISTANCE_BEFORE, count] = near_distance
        found[DISTANCE_BEHIND, count] = distance_behind
        found[REST, count] = rest
        before[count] = near
        # The next position overwrites one that is too expensive.
        count += int(detour <= most)
        first = nodes[near, BEFORE]
        if first > customers:
            detour = depot_distance + near_distance - edges[near, BEFORE]
            found[DETOUR, count] = detour
            found[DISTANCE_BEFORE, count] = depot_distance
            found[DISTANCE_BEHIND, count] = near_distance
            found[REST, count] = rest
            before[count] = first
            count += int(detour <= most)
    if state.integers[FREE] == 0:
        return count
    found[DETOUR, count] = depot_distance + depot_distance
    found[DISTANCE_BEFORE, count] = depot_distance
    found[DISTANCE_BEHIND, count] = depot_distance
    found[REST, count] = room
    before[count] = free_terminal(state)
    return count + 1


@inlined
def free_terminal(state: Any) -> Any:
    """Return the terminal of a route without customers."""
    nodes, free = state.nodes, state.free
    return len(nodes) - len(free) + free[state.integers[FREE] - 1]


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
    return 0, put_in(state, scratch, line, customer, instance.demands[customer], chosen, cost)


@inlined
def put_in(
    state: Any,
    scratch: Any,
    line: int,
    node: int,
    load: int,
    chosen: int,
    cost: float,
) -> float:
    """Insert a node at the chosen position, and return the new cost."""
    found = scratch.found
    ahead = scratch.before[chosen]
    # Only a free route has no customer.
    if state.nodes[ahead, BEHIND] == ahead:
        state.integers[FREE] -= 1
    joined = state.edges[ahead, BEHIND]
    distance_before = found[DISTANCE_BEFORE, chosen]
    distance_behind = found[DISTANCE_BEHIND, chosen]
    cost += distance_before + distance_behind - joined
    links.link(state, node, load, ahead, distance_before, distance_behind)
    links.note(state, scratch, line, node, joined)
    return cost


@inlined
def undo(state: Any, instance: Any, scratch: Any, removed: int, lines: int) -> None:
    links.undo(state, scratch, instance.demands, removed, lines)


@inlined
def keep(state: Any, scratch: Any, removed: int) -> None:
    if not state.integers[LIMITED]:
        changes.free_emptied(state, scratch, removed)


@inlined
def no_exchange(state: Any, instance: Any, tries: int, temperature: float) -> None:
    """Exchange nothing; for other families."""


exchange_tails = exchanges.exchange_tails
keep_best = changes.keep_best
