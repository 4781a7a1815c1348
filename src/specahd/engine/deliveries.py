"""Routes whose stops are deliveries: a customer may have several, on as many routes.

A node of the linked lists (:mod:`specahd.engine.links`) is here a delivery or a terminal: of v
nodes for deliveries, numbered from 1, those in use belong to a customer, and route r has terminal
v + 1 + r. A customer that leaves its routes leaves all of them; what it is given anew are unused
nodes, so that those which left still say what they were until the group stays.

``held`` is what is kept beside the lists: per node the customer that ``owners`` names, 0 at a
terminal, and its ``quantities``; ``heads`` names a delivery of every customer and ``more`` the
next one of the same customer, 0 behind the last; ``spare`` is the stack of unused nodes and
``left`` how many these are; ``slots`` is room to work in, a number for every route.
"""

from typing import Any

import numpy as np
from numba import njit

from specahd.engine.changes import (
    BEST,
    CHANGED,
    CHANGES,
    CURRENT,
    FOLLOWING,
    PRECEDING,
    ROUTE_OF,
    SINCE_BEST,
)
from specahd.engine.links import BEFORE, BEHIND, ROUTE
from specahd.engine.programs import BACK, DETOUR, REST, THERE
from specahd.routing.kernels.distances import between

MORE = 3
"""Where ``held`` has ``more``."""
QUANTITY = 4
"""The row of the positions found where other families have :data:`programs.SLACK`."""
OWNER_AT_BEST, QUANTITY_AT_BEST = 1, 2
"""Columns of the best solution; the first one is the next node."""


@njit(cache=True)
def find_positions(
    held: Any,
    customer: int,
    lacking: int,
    distances: Any,
    neighbours: Any,
    neighbour_distances: Any,
    home: float,
    capacity: int,
    nodes: Any,
    edges: Any,
    route_loads: Any,
    terminal: int,
    found: Any,
    before: Any,
) -> int:
    """Write the cheapest position on each near route with room, a new route last; return the count.

    No more are found than ``before`` takes.
    """
    owners, _, heads, more, _, _, slots = held
    deliveries = len(more) - 1
    count = 0
    for place in range(neighbours.shape[1]):
        near = neighbours[customer, place]
        away = neighbour_distances[customer, place]
        node = heads[near]
        while node != 0:
            route = nodes[node, ROUTE]
            room = capacity - route_loads[route]
            if room > 0:
                behind = nodes[node, BEHIND]
                back = home if behind > deliveries else between(distances, customer, owners[behind])
                ahead = node
                there = away
                detour = away + back - edges[node, BEHIND]
                first = nodes[node, BEFORE]
                if first > deliveries:
                    other = home + away - edges[node, BEFORE]
                    if other < detour:
                        ahead = first
                        there = home
                        back = away
                        detour = other
                slot = slots[route]
                if slot >= count or nodes[before[slot], ROUTE] != route:
                    # The last place is for the new route.
                    if count == len(before) - 1:
                        node = more[node]
                        continue
                    slot = count
                    slots[route] = slot
                    found[DETOUR, slot] = np.inf
                    count += 1
                if detour < found[DETOUR, slot]:
                    quantity = min(room, lacking)
                    found[DETOUR, slot] = detour
                    found[THERE, slot] = there
                    found[BACK, slot] = back
                    found[REST, slot] = room - quantity
                    found[QUANTITY, slot] = quantity
                    before[slot] = ahead
            node = more[node]
    quantity = min(capacity, lacking)
    found[DETOUR, count] = home + home
    found[THERE, count] = home
    found[BACK, count] = home
    found[REST, count] = capacity - quantity
    found[QUANTITY, count] = quantity
    before[count] = terminal
    return count + 1


@njit(cache=True)
def show(
    held: Any,
    distances: Any,
    nodes: Any,
    edges: Any,
    shown: Any,
    gains: Any,
    marks: Any,
    changed: Any,
    numbers: Any,
) -> None:
    """Bring what upper programs see up to date; of a customer's deliveries they see one."""
    owners, _, heads, more, _, _, _ = held
    deliveries = len(more) - 1
    for place in range(numbers[CHANGED]):
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
            gain += edges[part, BEFORE] + edges[part, BEHIND] - between(distances, ahead, behind)
            part = more[part]
        gains[customer] = gain
        if node == heads[customer]:
            shown[PRECEDING, customer] = owners[nodes[node, BEFORE]]
            shown[FOLLOWING, customer] = owners[nodes[node, BEHIND]]
            shown[ROUTE_OF, customer] = nodes[node, ROUTE]
    numbers[CHANGED] = 0


@njit(cache=True)
def keep_best(
    held: Any, nodes: Any, best: Any, costs: Any, marks: Any, changed: Any, numbers: Any
) -> None:
    """Note the current solution as the best one."""
    owners, quantities, _, _, _, _, _ = held
    for place in range(numbers[SINCE_BEST]):
        node = changed[1, place]
        marks[CHANGES, node] &= 1
        best[node, 0] = nodes[node, BEHIND]
        if node < len(quantities):
            best[node, OWNER_AT_BEST] = owners[node]
            best[node, QUANTITY_AT_BEST] = quantities[node]
    numbers[SINCE_BEST] = 0
    costs[BEST] = costs[CURRENT]


@njit(cache=True)
def flat_deliveries(best: Any, deliveries: int) -> Any:
    """Return the customers on the best routes, 0 between two of them, and the quantities there."""
    customers = np.zeros(2 * deliveries, np.int64)
    given = np.zeros(2 * deliveries, np.int64)
    length = 0
    for terminal in range(deliveries + 1, len(best)):
        node = best[terminal, 0]
        if node == terminal:
            continue
        if length:
            length += 1
        while node <= deliveries:
            customers[length] = best[node, OWNER_AT_BEST]
            given[length] = best[node, QUANTITY_AT_BEST]
            length += 1
            node = best[node, 0]
    return customers[:length].copy(), given[:length].copy()
