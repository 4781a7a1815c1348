"""Functions of the TSP: a closed tour as a linked list.

The nodes are 0 to n - 1. Node 0 is never removed: a tour begins and ends there, and 0 separates the
groups of an answer. ``nodes`` holds for each node the one before it and the one behind it
(:data:`OUT` while it is out), ``edges`` the distance to the latter.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from specahd.core.loop_cache import njit
from specahd.engine import capacitated, changes, interfaces
from specahd.engine.changes import CHANGED, CHANGES, CURRENT, FOLLOWING, PRECEDING, mark
from specahd.engine.exchanges import MOST
from specahd.engine.inlined import inlined
from specahd.engine.links import BEFORE, BEFORE_NOTED, BEHIND, BEHIND_NOTED, NODE_NOTED
from specahd.engine.programs import (
    DETOUR,
    DISTANCE_BEFORE,
    DISTANCE_BEHIND,
    EDGE,
    groups_call,
    position_call,
)
from specahd.engine.random import uniform
from specahd.engine.state import Instance, State, begun
from specahd.routing.base import IntArray
from specahd.routing.kernels.distances import leg_length

PLACES = 10
"""Maximum number of neighbours next to which a node may be inserted."""
LONGEST_RUN = 1000
"""Maximum number of nodes that are turned round at once."""
OUT = -1

choose_groups = groups_call(interfaces.TOUR_GROUPS)
choose = position_call(interfaces.TOUR_POSITIONS)
log_lines = capacitated.log_lines
close_gaps = capacitated.close_gaps
lacking = capacitated.lacking
keep_best = changes.keep_best


class Tour(NamedTuple):
    """Fields that the TSP adds to a state.

    Parameters
    ----------
    places
        The number of its neighbours next to which a node may be inserted.
    """

    places: int


def state_for(tour: IntArray, instance: Instance, own: Any, seed: int) -> State:
    """Return the state that begins at a tour.

    Parameters
    ----------
    tour
        All nodes but 0, in the order in which they follow it.
    own
        The fields of this kind of tour.

    Raises
    ------
    ValueError
        A node is missing, comes twice or does not exist.
    """
    size = len(instance.neighbours)
    if len(tour) != size - 1 or (np.sort(tour) != np.arange(1, size)).any():
        raise ValueError(f"Expected each node from 1 to {size - 1} once.")
    nodes = np.zeros((size, 2), np.int32)
    edges = np.zeros(size)
    cost = _load_tour(tour, nodes, edges, instance.distances)
    nothing = np.zeros(0, np.int64)
    used = np.arange(size)
    return begun(instance, nodes, edges, nothing, nothing, 0, used, cost, seed, own)


@njit(cache=True)
def _load_tour(tour: Any, nodes: Any, edges: Any, distances: Any) -> Any:
    """Write a tour, which begins behind node 0, to the list; return its length."""
    cost = 0.0
    last = 0
    for place in range(len(tour) + 1):
        node = tour[place] if place < len(tour) else 0
        nodes[last, BEHIND] = node
        nodes[node, BEFORE] = last
        edges[last] = leg_length(distances, last, node)
        cost += edges[last]
        last = node
    return cost


@njit(cache=True)
def flat_tour(following: Any) -> Any:
    """Return the nodes behind node 0, in order, given the next node of each node."""
    tour = np.empty(len(following) - 1, np.int64)
    node = following[0]
    for place in range(len(tour)):
        tour[place] = node
        node = following[node]
    return tour


@njit(cache=True)
def show(state: Any, instance: Any) -> None:
    nodes, edges, upper_inputs, gains = state.nodes, state.edges, state.upper_inputs, state.gains
    marks, changed, integers = state.marks, state.changed, state.integers
    distances = instance.distances
    for place in range(integers[CHANGED]):
        node = changed[0, place]
        marks[CHANGES, node] &= 2
        before = nodes[node, BEFORE]
        behind = nodes[node, BEHIND]
        upper_inputs[PRECEDING, node] = before
        upper_inputs[FOLLOWING, node] = behind
        gains[node] = edges[before] + edges[node] - leg_length(distances, before, behind)
    integers[CHANGED] = 0


@inlined
def remove(
    state: Any, instance: Any, scratch: Any, line: int, customer: int, cost: float
) -> tuple[int, float]:
    nodes, edges, log, log_edges = state.nodes, state.edges, scratch.log, scratch.log_edges
    before = nodes[customer, BEFORE]
    behind = nodes[customer, BEHIND]
    log[line, NODE_NOTED] = customer
    log[line, BEFORE_NOTED] = before
    log[line, BEHIND_NOTED] = behind
    log_edges[line, BEFORE] = edges[before]
    log_edges[line, BEHIND] = edges[customer]
    joined = leg_length(instance.distances, before, behind)
    cost += joined - edges[before] - edges[customer]
    nodes[before, BEHIND] = behind
    nodes[behind, BEFORE] = before
    edges[before] = joined
    nodes[customer, BEHIND] = OUT
    return line + 1, cost


@inlined
def find_positions(
    state: Any, instance: Any, scratch: Any, customer: int, wanted: int, most: float
) -> int:
    """Write the positions next to near neighbours, each once; behind node 0 if these are out."""
    nodes, edges, places = state.nodes, state.edges, state.own.places
    distances, neighbours, neighbour_distances = (
        instance.distances,
        instance.neighbours,
        instance.neighbour_distances,
    )
    found, before = scratch.found, scratch.before
    count = 0
    farthest = neighbour_distances[customer, places - 1]
    for place in range(places):
        near = neighbours[customer, place]
        behind = nodes[near, BEHIND]
        if behind == OUT:
            continue
        near_distance = neighbour_distances[customer, place]
        distance_behind = leg_length(distances, customer, behind)
        found[DETOUR, count] = near_distance + distance_behind - edges[near]
        found[DISTANCE_BEFORE, count] = near_distance
        found[DISTANCE_BEHIND, count] = distance_behind
        found[EDGE, count] = edges[near]
        before[count] = near
        count += 1
        # The position before the neighbour, unless it is also that behind another neighbour.
        ahead = nodes[near, BEFORE]
        distance_before = leg_length(distances, customer, ahead)
        if distance_before > farthest or ahead == 0:
            found[DETOUR, count] = distance_before + near_distance - edges[ahead]
            found[DISTANCE_BEFORE, count] = distance_before
            found[DISTANCE_BEHIND, count] = near_distance
            found[EDGE, count] = edges[ahead]
            before[count] = ahead
            count += 1
    if count == 0:
        distance_before = leg_length(distances, customer, 0)
        distance_behind = leg_length(distances, customer, nodes[0, BEHIND])
        found[DETOUR, 0] = distance_before + distance_behind - edges[0]
        found[DISTANCE_BEFORE, 0] = distance_before
        found[DISTANCE_BEHIND, 0] = distance_behind
        found[EDGE, 0] = edges[0]
        before[0] = 0
        count = 1
    return count


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
    nodes, edges, found = state.nodes, state.edges, scratch.found
    before = scratch.before[chosen]
    behind = nodes[before, BEHIND]
    scratch.log[line, NODE_NOTED] = customer
    scratch.log[line, BEFORE_NOTED] = before
    scratch.log[line, BEHIND_NOTED] = behind
    scratch.log_edges[line, BEFORE] = edges[before]
    nodes[customer, BEFORE] = before
    nodes[customer, BEHIND] = behind
    nodes[before, BEHIND] = customer
    nodes[behind, BEFORE] = customer
    edges[before] = found[DISTANCE_BEFORE, chosen]
    edges[customer] = found[DISTANCE_BEHIND, chosen]
    return 0, cost + found[DETOUR, chosen]


@inlined
def undo(state: Any, instance: Any, scratch: Any, removed: int, lines: int) -> None:
    nodes, edges, log, log_edges = state.nodes, state.edges, scratch.log, scratch.log_edges
    for line in range(lines - 1, removed - 1, -1):
        node = log[line, NODE_NOTED]
        before = nodes[node, BEFORE]
        behind = nodes[node, BEHIND]
        nodes[before, BEHIND] = behind
        nodes[behind, BEFORE] = before
        edges[before] = log_edges[line, BEFORE]
    for line in range(removed - 1, -1, -1):
        node = log[line, NODE_NOTED]
        before = log[line, BEFORE_NOTED]
        behind = log[line, BEHIND_NOTED]
        nodes[node, BEFORE] = before
        nodes[node, BEHIND] = behind
        nodes[before, BEHIND] = node
        nodes[behind, BEFORE] = node
        edges[before] = log_edges[line, BEFORE]
        edges[node] = log_edges[line, BEHIND]


@inlined
def keep(state: Any, scratch: Any, removed: int) -> None:
    pass


@njit(cache=True)
def exchange_tails(state: Any, instance: Any, tries: int, temperature: float) -> None:
    """Try moves of 2-opt: two near nodes become neighbours, a run between them is turned round.

    Of the two runs between both edges it is the shorter one, and nothing if both are longer than
    :data:`LONGEST_RUN`. Simulated annealing accepts a move as it accepts a group.
    """
    nodes, edges, generator = state.nodes, state.edges, state.generator
    neighbours, distances = instance.neighbours, instance.distances
    most = MOST * temperature
    if neighbours.shape[1] == 0:
        return
    for _ in range(tries):
        first = int(uniform(generator) * len(nodes))
        draw = uniform(generator)
        # Nearer neighbours are drawn more often.
        place = int(draw * draw * neighbours.shape[1])
        second = neighbours[first, place]
        near = instance.neighbour_distances[first, place]
        # The second comes behind the first, or before it.
        behind = uniform(generator) < 0.5
        if not behind:
            first, second = nodes[first, BEFORE], nodes[second, BEFORE]
        gone = edges[first] + edges[second]
        if near - gone > most:
            continue
        begin, end = nodes[first, BEHIND], nodes[second, BEHIND]
        distance, joined = near, near
        if behind:
            joined = leg_length(distances, begin, end)
        else:
            distance = leg_length(distances, first, second)
        detour = distance + joined - gone
        # Zero: the two follow each other already, or the move is not worth its time.
        if detour == 0.0 or detour > most:
            continue
        if detour > 0.0 and detour > -temperature * math.log(1.0 - uniform(generator)):
            continue
        inner, outer = begin, end
        for _ in range(LONGEST_RUN - 1):
            if inner == second or outer == first:
                break
            inner, outer = nodes[inner, BEHIND], nodes[outer, BEHIND]
        if inner == second:
            _turn(state, first, second, distance, joined)
        elif outer == first:
            _turn(state, second, first, distance, joined)
        else:
            continue
        state.costs[CURRENT] += detour


@njit(cache=True)
def _turn(state: Any, before: int, last: int, distance: float, joined: float) -> None:
    """Turn the run behind a node round, up to its last node, given the new edges' lengths."""
    nodes, edges = state.nodes, state.edges
    begin, behind = nodes[before, BEHIND], nodes[last, BEHIND]
    node, length = begin, joined
    while node != behind:
        after = nodes[node, BEHIND]
        nodes[node, BEHIND], nodes[node, BEFORE] = nodes[node, BEFORE], after
        edges[node], length = length, edges[node]
        mark(state, node)
        node = after
    nodes[begin, BEHIND], nodes[behind, BEFORE] = behind, begin
    nodes[before, BEHIND], nodes[last, BEFORE] = last, before
    edges[before] = distance
    mark(state, before)
    mark(state, behind)
