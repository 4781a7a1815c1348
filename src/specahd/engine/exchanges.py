"""Exchanges of parts of two routes without time windows, and runs of a route turned round.

They are 2-opt (Croes, Operations Research 6, 1958) and 2-opt* (Potvin and Rousseau, Journal of the
Operational Research Society 46, 1995). A group is a small part of a long route, so that inserting
groups again hardly ever makes such a move. A try draws two neighbours and puts one behind the
other. Simulated annealing accepts it as it accepts a group, but at a lower temperature: groups are
inserted where that is cheap, while neighbours are drawn at random.
"""

import math
from typing import Any

from specahd.core.loop_cache import njit
from specahd.engine.changes import CURRENT, FREE, mark
from specahd.engine.inlined import inlined
from specahd.engine.links import BEFORE, BEHIND, ROUTE, join
from specahd.engine.random import uniform
from specahd.routing.kernels.distances import leg_length

COOLER = 0.3
"""Temperature of exchanges, as a share of the temperature of groups
(benchmarks/notes/2026-11-23-exchanges-of-tails.md)."""
MOST = 10.0
"""Detour, in temperatures, above which no exchange is accepted; this avoids the logarithm."""


@njit(cache=True)
def exchange_tails(state: Any, instance: Any, tries: int, temperature: float) -> None:
    """Try ``tries`` exchanges, each of two random neighbours that are on routes."""
    nodes, edges, generator = state.nodes, state.edges, state.generator
    neighbours, depot_distances = instance.neighbours, instance.depot_distances
    customers = len(state.gains) - 1
    if neighbours.shape[1] == 0:
        return
    heat = COOLER * temperature
    most = MOST * heat
    for _ in range(tries):
        first = 1 + int(uniform(generator) * customers)
        draw = uniform(generator)
        # Nearer neighbours are drawn more often.
        place = int(draw * draw * neighbours.shape[1])
        second = neighbours[first, place]
        # Behind the first comes the second, with its route back to its beginning, or on to its end.
        turned = uniform(generator) < 0.5
        side = BEHIND if turned else BEFORE
        routes = nodes[first, ROUTE], nodes[second, ROUTE]
        # In a part of an instance, customers are neighbours of themselves.
        if min(routes) < 0 or second == first or (routes[0] == routes[1] and not turned):
            continue
        distance = instance.neighbour_distances[first, place]
        gone = edges[first, BEHIND] + edges[second, side]
        if distance - gone > most:
            continue
        # The other two ends, which get joined; each may be a terminal.
        behind, other = nodes[first, BEHIND], nodes[second, side]
        if behind > customers:
            joined = 0.0 if other > customers else depot_distances[other]
        elif other > customers:
            joined = depot_distances[behind]
        else:
            joined = leg_length(instance.distances, behind, other)
        detour = distance + joined - gone
        # Zero: the two follow each other already, or the exchange is not worth its time.
        if detour == 0.0 or detour > most:
            continue
        if detour > 0.0 and detour > -heat * math.log(1.0 - uniform(generator)):
            continue
        if routes[0] == routes[1]:
            _turn(state, first, second, distance, joined)
        elif not _exchange(state, instance, first, second, distance, joined, turned):
            continue
        state.costs[CURRENT] += detour


@njit(cache=True)
def load_of(nodes: Any, demands: Any, node: int, side: int) -> Any:
    """Return the demands from a node to the depot, in one of the two directions of its route."""
    load = 0
    while node < len(demands):
        load += demands[node]
        node = nodes[node, side]
    return load


@njit(cache=True)
def swap_tails(state: Any, first: int, second: int, distance: float, joined: float) -> None:
    """Swap the tail behind a stop and that from a stop of another route on; loads stay.

    ``joined`` is the distance between the two stops that precede and follow the others.
    """
    nodes, edges, customers = state.nodes, state.edges, len(state.gains) - 1
    route, other = nodes[first, ROUTE], nodes[second, ROUTE]
    end, other_end = customers + 1 + route, customers + 1 + other
    behind, ahead = nodes[first, BEHIND], nodes[second, BEFORE]
    last, home = nodes[end, BEFORE], edges[end, BEFORE]
    other_last, other_home = nodes[other_end, BEFORE], edges[other_end, BEFORE]
    join(state, first, second, distance)
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
def _swap_tail_and_head(
    state: Any, first: int, second: int, distance: float, joined: float
) -> None:
    """Swap the tail behind a stop and the head of another route up to a stop, both turned round.

    ``joined`` is the distance between the two stops that follow these.
    """
    nodes, edges, customers = state.nodes, state.edges, len(state.gains) - 1
    route, other = nodes[first, ROUTE], nodes[second, ROUTE]
    end, other_end = customers + 1 + route, customers + 1 + other
    behind, beyond = nodes[first, BEHIND], nodes[second, BEHIND]
    last, home = nodes[end, BEFORE], edges[end, BEFORE]
    head, away = nodes[other_end, BEHIND], edges[other_end, BEHIND]
    _reverse(state, head, second, route)
    join(state, first, second, distance)
    join(state, head, end, away)
    if behind > customers:
        join(state, other_end, beyond, joined)
    else:
        _reverse(state, behind, last, other)
        join(state, other_end, last, home)
        join(state, behind, beyond, joined)
    mark(state, first)
    mark(state, beyond)
    mark(state, other_end)


@njit(cache=True)
def _turn(state: Any, first: int, second: int, distance: float, joined: float) -> None:
    """Turn the run between two stops of a route round; ``joined`` is between its other ends."""
    nodes, customers = state.nodes, len(state.gains) - 1
    node = first
    while node != second and node <= customers:
        node = nodes[node, BEHIND]
    if node != second:
        first, second = second, first
    begin, end = nodes[first, BEHIND], nodes[second, BEHIND]
    _reverse(state, begin, second, nodes[first, ROUTE])
    join(state, first, second, distance)
    join(state, begin, end, joined)
    mark(state, first)
    mark(state, end)


@njit(cache=True)
def _reverse(state: Any, begin: int, end: int, route: int) -> None:
    """Turn a run of stops round and assign it to a route; its two ends have to be joined."""
    nodes, edges = state.nodes, state.edges
    node = begin
    while True:
        behind = nodes[node, BEHIND]
        nodes[node, BEHIND], nodes[node, BEFORE] = nodes[node, BEFORE], behind
        edges[node, BEHIND], edges[node, BEFORE] = edges[node, BEFORE], edges[node, BEHIND]
        nodes[node, ROUTE] = route
        mark(state, node)
        if node == end:
            break
        node = behind


@njit(cache=True)
def _exchange(
    state: Any,
    instance: Any,
    first: int,
    second: int,
    distance: float,
    joined: float,
    turned: bool,
) -> bool:
    """Exchange the tail behind a stop for a part of another route; False if it is too heavy."""
    nodes, loads, demands = state.nodes, state.route_loads, instance.demands
    route, other = nodes[first, ROUTE], nodes[second, ROUTE]
    more = load_of(nodes, demands, second, BEFORE if turned else BEHIND)
    more -= load_of(nodes, demands, nodes[first, BEHIND], BEHIND)
    if loads[route] + more > instance.capacity or loads[other] - more > instance.capacity:
        return False
    loads[route] += more
    loads[other] -= more
    if turned:
        _swap_tail_and_head(state, first, second, distance, joined)
    else:
        swap_tails(state, first, second, distance, joined)
    terminal = len(demands) + other
    if nodes[terminal, BEHIND] == terminal:
        state.free[state.integers[FREE]] = other
        state.integers[FREE] += 1
    return True
