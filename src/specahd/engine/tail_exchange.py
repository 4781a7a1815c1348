"""Exchanges of tails: two routes are cut, and what follows each cut changes routes.

The move is the 2-opt* of Potvin and Rousseau (Journal of the Operational Research Society 46,
1995). Groups that are taken out and inserted again make it only where a tail is as short as a
group. Two neighbours in different routes are drawn, and the earlier one is to be followed by the
other. Annealing accepts as for groups, at a lower temperature: a group is inserted where that is
cheap, and an exchange is drawn blindly.
"""

import math
from typing import Any

from numba import njit

from specahd.engine.changes import CURRENT, FREE, mark
from specahd.engine.links import BEFORE, BEHIND, ROUTE, join
from specahd.engine.random import uniform
from specahd.engine.timed import backward, forward
from specahd.routing.kernels.distances import between

COOLER = 0.3
"""The temperature of exchanges, as a share of that of groups."""
_MOST = 10.0
"""So many temperatures are never accepted, which spares the logarithm."""


@njit(cache=True)
def _in_time(times: Any, ahead: int, behind: int, distance: float) -> Any:
    """Say whether a node may follow another at such a distance."""
    ready, _, service, start, latest, _, _, _, _, _, _ = times
    lasts = 0.0 if ahead >= len(ready) else service[ahead]
    return start[ahead] + lasts + distance <= latest[behind]


@njit(cache=True)
def _load(nodes: Any, demands: Any, node: int) -> Any:
    """Return the demands from a node to the end of its route."""
    load = 0
    while node < len(demands):
        load += demands[node]
        node = nodes[node, BEHIND]
    return load


@njit(cache=True)
def _assign(nodes: Any, marks: Any, changed: Any, numbers: Any, terminal: int, route: int) -> None:
    """Say of the customers that lead up to a terminal that they are of its route now."""
    node = nodes[terminal, BEFORE]
    while nodes[node, ROUTE] != route:
        nodes[node, ROUTE] = route
        mark(node, marks, changed, numbers)
        node = nodes[node, BEFORE]


@njit(cache=True)
def exchange_tails(
    times: Any, instance: Any, capacity: int, state: Any, tries: int, temperature: float
) -> None:
    """Try so many exchanges, each of two neighbours that are drawn.

    Parameters
    ----------
    instance, state
        As :func:`specahd.engine.passes.improve` takes their arrays; no customer is out.
    """
    nodes, edges, route_loads, free, _, _, marks, changed, _, generator, _, costs, _, numbers = (
        state
    )
    distances, neighbours, neighbour_distances, depot_distances, demands = instance
    _, _, _, start, _, _, _, _, _, _, _ = times
    customers = len(demands) - 1
    if neighbours.shape[1] == 0:
        return
    heat = COOLER * temperature
    most = _MOST * heat
    for _ in range(tries):
        first = 1 + int(uniform(generator) * customers)
        draw = uniform(generator)
        # The nearer, the likelier.
        place = int(draw * draw * neighbours.shape[1])
        second = neighbours[first, place]
        if nodes[first, ROUTE] == nodes[second, ROUTE]:
            continue
        there = neighbour_distances[first, place]
        if start[first] > start[second]:
            first, second = second, first
        gone = edges[first, BEHIND] + edges[second, BEFORE]
        if there - gone > most or not _in_time(times, first, second, there):
            continue
        # What the other two, between which there may be nobody, become to each other.
        behind = nodes[first, BEHIND]
        ahead = nodes[second, BEFORE]
        if ahead > customers:
            joined = 0.0 if behind > customers else depot_distances[behind]
        elif behind > customers:
            joined = depot_distances[ahead]
        else:
            joined = between(distances, ahead, behind)
        detour = there + joined - gone
        if detour > most or (detour > 0.0 and detour > -heat * math.log(1.0 - uniform(generator))):
            continue
        if not _in_time(times, ahead, behind, joined):
            continue
        route = nodes[first, ROUTE]
        other = nodes[second, ROUTE]
        more = _load(nodes, demands, second) - _load(nodes, demands, behind)
        if route_loads[route] + more > capacity or route_loads[other] - more > capacity:
            continue
        route_loads[route] += more
        route_loads[other] -= more
        end = customers + 1 + route
        other_end = customers + 1 + other
        last = nodes[end, BEFORE]
        other_last = nodes[other_end, BEFORE]
        home = edges[end, BEFORE]
        other_home = edges[other_end, BEFORE]
        join(nodes, edges, first, second, there)
        join(nodes, edges, other_last, end, other_home)
        if behind > customers:
            join(nodes, edges, ahead, other_end, joined)
        else:
            join(nodes, edges, ahead, behind, joined)
            join(nodes, edges, last, other_end, home)
        _assign(nodes, marks, changed, numbers, end, route)
        _assign(nodes, marks, changed, numbers, other_end, other)
        mark(first, marks, changed, numbers)
        mark(ahead, marks, changed, numbers)
        forward(times, nodes, edges, first)
        forward(times, nodes, edges, ahead)
        backward(times, nodes, edges, second)
        backward(times, nodes, edges, nodes[ahead, BEHIND])
        costs[CURRENT] += detour
        if nodes[other_end, BEHIND] == other_end:
            free[numbers[FREE]] = other
            numbers[FREE] += 1
