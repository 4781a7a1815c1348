"""Exchanges of tails (2-opt*): two routes are cut, and swap the parts behind the cuts.

The move is the 2-opt* of Potvin and Rousseau (Journal of the Operational Research Society 46,
1995). Removing and inserting groups makes it only where a tail is as short as a group. A try draws
two neighbours in different routes, and puts the later one directly behind the earlier one.
Simulated annealing accepts an exchange as it accepts a group, but at a lower temperature: groups
are inserted where that is cheap, while exchanges are drawn at random.
"""

import math
from typing import Any

from specahd.core.loop_cache import njit
from specahd.engine.changes import CURRENT, FREE, mark
from specahd.engine.inlined import inlined
from specahd.engine.links import BEFORE, BEHIND, ROUTE, join
from specahd.engine.random import uniform
from specahd.engine.times import backward, forward
from specahd.routing.kernels.distances import leg_length

COOLER = 0.3
"""Temperature of exchanges, as a share of the temperature of groups
(benchmarks/notes/2026-11-23-exchanges-of-tails.md)."""
_MOST = 10.0
"""Detour, in temperatures, above which no exchange is accepted; this avoids the logarithm."""


@njit(cache=True)
def _in_time(own: Any, ahead: int, behind: int, distance: float) -> Any:
    """Return whether a node can follow another in time, given the distance between them."""
    lasts = 0.0 if ahead >= len(own.ready) else own.service[ahead]
    return own.start[ahead] + lasts + distance <= own.latest[behind]


@njit(cache=True)
def _load(nodes: Any, demands: Any, node: int) -> Any:
    """Return the demands from a node to the end of its route."""
    load = 0
    while node < len(demands):
        load += demands[node]
        node = nodes[node, BEHIND]
    return load


@inlined
def _assign(state: Any, terminal: int, route: int) -> None:
    """Assign the customers before a terminal to its route, back to the first that has it."""
    nodes = state.nodes
    node = nodes[terminal, BEFORE]
    while nodes[node, ROUTE] != route:
        nodes[node, ROUTE] = route
        mark(state, node)
        node = nodes[node, BEFORE]


@njit(cache=True)
def exchange_tails(state: Any, instance: Any, tries: int, temperature: float) -> None:
    """Try ``tries`` exchanges, each of two random neighbours; every customer must be on a route."""
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
    generator, capacity, own = state.generator, instance.capacity, state.own
    start = own.start
    customers = len(demands) - 1
    if neighbours.shape[1] == 0:
        return
    heat = COOLER * temperature
    most = _MOST * heat
    for _ in range(tries):
        first = 1 + int(uniform(generator) * customers)
        draw = uniform(generator)
        # Nearer neighbours are drawn more often.
        place = int(draw * draw * neighbours.shape[1])
        second = neighbours[first, place]
        if nodes[first, ROUTE] == nodes[second, ROUTE]:
            continue
        joint_distance = instance.neighbour_distances[first, place]
        if start[first] > start[second]:
            first, second = second, first
        gone = edges[first, BEHIND] + edges[second, BEFORE]
        if joint_distance - gone > most or not _in_time(own, first, second, joint_distance):
            continue
        # The other two ends, which get joined; each may be a terminal.
        behind = nodes[first, BEHIND]
        ahead = nodes[second, BEFORE]
        if ahead > customers:
            joined = 0.0 if behind > customers else depot_distances[behind]
        elif behind > customers:
            joined = depot_distances[ahead]
        else:
            joined = leg_length(instance.distances, ahead, behind)
        detour = joint_distance + joined - gone
        if detour > most or (detour > 0.0 and detour > -heat * math.log(1.0 - uniform(generator))):
            continue
        if not _in_time(own, ahead, behind, joined):
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
        join(state, first, second, joint_distance)
        join(state, other_last, end, other_home)
        if behind > customers:
            join(state, ahead, other_end, joined)
        else:
            join(state, ahead, behind, joined)
            join(state, last, other_end, home)
        _assign(state, end, route)
        _assign(state, other_end, other)
        mark(state, first)
        mark(state, ahead)
        forward(state, first)
        forward(state, ahead)
        backward(state, second)
        backward(state, nodes[ahead, BEHIND])
        state.costs[CURRENT] += detour
        if nodes[other_end, BEHIND] == other_end:
            state.free[integers[FREE]] = other
            integers[FREE] += 1
