"""Functions of the SDVRP: routes whose stops are deliveries.

A customer may have several deliveries, on as many routes. A node of the linked lists
(:mod:`specahd.engine.links`) is here a delivery or a terminal. Of v nodes for deliveries, numbered
from 1, those in use belong to a customer; route r has terminal v + 1 + r. A removed customer leaves
all its routes. It is inserted in parts, one at each position that the lower program chooses; a part
takes the quantity for which there is room. New parts use unused nodes, so that the removed nodes
keep their customers and quantities until the group is accepted.
"""

from typing import Any, NamedTuple

import numpy as np

from specahd.core.loop_cache import njit
from specahd.engine import capacitated, changes, interfaces, links
from specahd.engine.changes import (
    CHANGED,
    CHANGES,
    FOLLOWING,
    FREE,
    PRECEDING,
    ROUTE_OF,
    SINCE_BEST,
)
from specahd.engine.inlined import inlined
from specahd.engine.links import BEFORE, BEHIND, NODE_NOTED, ROUTE
from specahd.engine.programs import (
    DETOUR,
    DISTANCE_BEFORE,
    DISTANCE_BEHIND,
    QUANTITY,
    REST,
    position_call,
)
from specahd.engine.roads import way
from specahd.engine.state import MAX_SIZE, Instance, State
from specahd.routing.base import FloatArray, IntArray
from specahd.routing.kernels.distances import leg_length

choose_groups = capacitated.choose_groups
choose = position_call(interfaces.SPLIT_POSITIONS)
close_gaps = capacitated.close_gaps
exchange_tails = capacitated.no_exchange


class Parts(NamedTuple):
    """The deliveries of a state's routes.

    Parameters
    ----------
    owners
        The customer of each node, 0 at a terminal.
    quantities
        The quantity of each delivery.
    heads, more
        The first delivery of each customer, and the next one of each delivery's customer; 0: none.
    spare, left
        The stack of unused nodes, and their number.
    slots
        Working memory, an integer for every route.
    best_owners, best_quantities
        ``owners`` and ``quantities`` of the best solution.
    durations
        None unless ways differ from ways back (:mod:`specahd.engine.roads`).
    """

    owners: Any
    quantities: Any
    heads: Any
    more: Any
    spare: Any
    left: Any
    slots: Any
    best_owners: Any
    best_quantities: Any
    durations: Any


def state_for(
    stops: IntArray,
    given: IntArray,
    instance: Instance,
    seed: int,
    durations: FloatArray | None = None,
) -> State:
    """Return the state that begins at a solution.

    Parameters
    ----------
    stops, given
        A feasible solution: customers, 0 between two routes, and the quantity of each delivery.
    durations
        As in :class:`Parts`.

    Raises
    ------
    ValueError
        A customer is given more or less than its demand, or does not exist.
    """
    demands = instance.demands
    customers = len(demands) - 1
    received = np.zeros(customers + 1, np.int64)
    visited = stops != 0
    if (
        len(given) != len(stops)
        or not ((stops >= 0) & (stops <= customers)).all()
        or (given[visited] < 1).any()
    ):
        raise ValueError(f"Expected deliveries to customers from 1 to {customers}.")
    np.add.at(received, stops[visited], given[visited])
    if (received != demands).any():
        raise ValueError("Expected that each customer is given its demand.")
    used = np.arange(1, np.count_nonzero(stops) + 1)
    # Nodes and routes that a group leaves are free only after the group is accepted.
    count = len(used) + customers + int(demands.sum()) // instance.capacity + MAX_SIZE
    most = 2 * count
    owners = np.zeros(most + 1 + count, np.int64)
    quantities, more = np.zeros((2, most + 1), np.int64)
    heads = np.zeros(customers + 1, np.int64)
    owners[used], quantities[used] = stops[visited], given[visited]
    for node in used.tolist():
        more[node] = heads[owners[node]]
        heads[owners[node]] = node
    spare = np.zeros(most, np.int64)
    left = most - len(used)
    spare[:left] = np.arange(most, len(used), -1)
    own = Parts(
        *(owners, quantities, heads, more, spare, np.array([left])),
        *(np.zeros(count, np.int64), owners.copy(), quantities.copy(), durations),
    )
    numbered = stops.copy()
    numbered[visited] = used
    return capacitated.loaded(numbered, quantities, count, owners, used, instance, seed, own)


@njit(cache=True)
def show(state: Any, instance: Any) -> None:
    """Update the inputs of upper programs, which contain one delivery of each customer."""
    nodes, edges, upper_inputs, gains = state.nodes, state.edges, state.upper_inputs, state.gains
    marks, changed, integers, own = state.marks, state.changed, state.integers, state.own
    owners, heads, more, distances = own.owners, own.heads, own.more, instance.distances
    deliveries = len(more) - 1
    for place in range(integers[CHANGED]):
        node = changed[0, place]
        marks[CHANGES, node] &= 2
        if node > deliveries or nodes[node, ROUTE] < 0:
            continue
        customer = owners[node]
        gain = 0.0
        part = heads[customer]
        while part != 0:
            ahead = owners[nodes[part, BEFORE]]
            behind = owners[nodes[part, BEHIND]]
            gain += edges[part, BEFORE] + edges[part, BEHIND] - leg_length(distances, ahead, behind)
            part = more[part]
        gains[customer] = gain
        if node == heads[customer]:
            upper_inputs[PRECEDING, customer] = owners[nodes[node, BEFORE]]
            upper_inputs[FOLLOWING, customer] = owners[nodes[node, BEHIND]]
            upper_inputs[ROUTE_OF, customer] = nodes[node, ROUTE]
    integers[CHANGED] = 0


@inlined
def log_lines(state: Any, max_size: int) -> int:
    return 2 * len(state.own.more)


@inlined
def remove(
    state: Any, instance: Any, scratch: Any, line: int, customer: int, cost: float
) -> tuple[int, float]:
    nodes, edges, own = state.nodes, state.edges, state.own
    owners, more = own.owners, own.more
    node = own.heads[customer]
    own.heads[customer] = 0
    while node != 0:
        ahead = owners[nodes[node, BEFORE]]
        joined = leg_length(instance.distances, ahead, owners[nodes[node, BEHIND]])
        cost -= edges[node, BEFORE] + edges[node, BEHIND] - joined
        links.note(state, scratch, line, node, joined)
        links.unlink(state, node, own.quantities[node], joined)
        line += 1
        node = more[node]
    return line, cost


@inlined
def lacking(state: Any, instance: Any, customer: int) -> Any:
    return instance.demands[customer]


@inlined
def find_positions(
    state: Any, instance: Any, scratch: Any, customer: int, wanted: int, most: float
) -> int:
    """Write the cheapest position on each near route with room, as many as fit in ``before``."""
    nodes, edges, route_loads, own = state.nodes, state.edges, state.route_loads, state.own
    owners, heads, more, slots = own.owners, own.heads, own.more, own.slots
    distances, neighbours, neighbour_distances = (
        instance.distances,
        instance.neighbours,
        instance.neighbour_distances,
    )
    found, before = scratch.found, scratch.before
    if own.left[0] == 0:
        return 0
    capacity = instance.capacity
    depot_distance = instance.depot_distances[customer]
    home = way(own, distances, 0, customer, 0, depot_distance)
    deliveries = len(more) - 1
    count = 0
    for place in range(neighbours.shape[1]):
        near = neighbours[customer, place]
        from_near = way(own, distances, 0, near, customer, neighbour_distances[customer, place])
        to_near = way(own, distances, 0, customer, near, neighbour_distances[customer, place])
        node = heads[near]
        while node != 0:
            route = nodes[node, ROUTE]
            room = capacity - route_loads[route]
            if room > 0:
                behind = nodes[node, BEHIND]
                distance_behind = (
                    home if behind > deliveries else leg_length(distances, customer, owners[behind])
                )
                ahead = node
                distance_before = from_near
                detour = from_near + distance_behind - edges[node, BEHIND]
                first = nodes[node, BEFORE]
                if first > deliveries:
                    detour_before = depot_distance + to_near - edges[node, BEFORE]
                    if detour_before < detour:
                        ahead = first
                        distance_before = depot_distance
                        distance_behind = to_near
                        detour = detour_before
                slot = slots[route]
                if slot >= count or nodes[before[slot], ROUTE] != route:
                    # The last entry is reserved for the new route.
                    if count == len(before) - 1:
                        node = more[node]
                        continue
                    slot = count
                    slots[route] = slot
                    found[DETOUR, slot] = np.inf
                    count += 1
                if detour < found[DETOUR, slot]:
                    quantity = min(room, wanted)
                    found[DETOUR, slot] = detour
                    found[DISTANCE_BEFORE, slot] = distance_before
                    found[DISTANCE_BEHIND, slot] = distance_behind
                    found[REST, slot] = room - quantity
                    found[QUANTITY, slot] = quantity
                    before[slot] = ahead
            node = more[node]
    if state.integers[FREE] == 0:
        return count
    quantity = min(capacity, wanted)
    found[DETOUR, count] = depot_distance + home
    found[DISTANCE_BEFORE, count] = depot_distance
    found[DISTANCE_BEHIND, count] = home
    found[REST, count] = capacity - quantity
    found[QUANTITY, count] = quantity
    before[count] = capacitated.free_terminal(state)
    return count + 1


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
    own = state.own
    own.left[0] -= 1
    node = own.spare[own.left[0]]
    quantity = int(scratch.found[QUANTITY, chosen])
    own.owners[node] = customer
    own.quantities[node] = quantity
    own.more[node] = own.heads[customer]
    own.heads[customer] = node
    cost = capacitated.put_in(state, scratch, line, node, quantity, chosen, cost)
    return wanted - quantity, cost


@inlined
def undo(state: Any, instance: Any, scratch: Any, removed: int, lines: int) -> None:
    own, log = state.own, scratch.log
    links.undo(state, scratch, own.quantities, removed, lines)
    own.left[0] += lines - removed
    # The head of a customer was its first delivery in the log.
    for line in range(removed - 1, -1, -1):
        node = log[line, NODE_NOTED]
        own.heads[own.owners[node]] = node


@inlined
def keep(state: Any, scratch: Any, removed: int) -> None:
    own, log = state.own, scratch.log
    for line in range(removed):
        own.spare[own.left[0]] = log[line, NODE_NOTED]
        own.left[0] += 1
    capacitated.keep(state, scratch, removed)


@njit(cache=True)
def keep_best(state: Any) -> None:
    changed, own = state.changed, state.own
    deliveries = len(own.more) - 1
    for place in range(state.integers[SINCE_BEST]):
        node = changed[1, place]
        if node <= deliveries:
            own.best_owners[node] = own.owners[node]
            own.best_quantities[node] = own.quantities[node]
    changes.keep_best(state)


@njit(cache=True)
def flat_deliveries(state: Any) -> Any:
    """Return the customers on the best routes, 0 between two of them, and the quantities there."""
    following, own = state.best, state.own
    deliveries = len(own.more) - 1
    customers = np.zeros(2 * deliveries, np.int64)
    given = np.zeros(2 * deliveries, np.int64)
    length = 0
    for terminal in range(deliveries + 1, len(following)):
        node = following[terminal]
        if node == terminal:
            continue
        if length:
            length += 1
        while node <= deliveries:
            customers[length] = own.best_owners[node]
            given[length] = own.best_quantities[node]
            length += 1
            node = following[node]
    return customers[:length].copy(), given[:length].copy()
