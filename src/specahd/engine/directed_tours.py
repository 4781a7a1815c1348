"""Functions of the TSP where ways differ from the ways back: a tour in one direction.

A node is inserted behind one of the nodes with the shortest ways to it, or before one of those with
the shortest ways from it. Node 0 may be either of them. No part of the tour is turned round; after
each pass runs of nodes are moved as they stand, which is 3-opt without reversal.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from specahd.core.loop_cache import njit
from specahd.engine import tours
from specahd.engine.changes import CURRENT, mark
from specahd.engine.inlined import inlined
from specahd.engine.links import BEFORE, BEHIND
from specahd.engine.programs import DETOUR, DISTANCE_BEFORE, DISTANCE_BEHIND, EDGE
from specahd.engine.random import uniform
from specahd.engine.tours import OUT
from specahd.routing.base import IntArray
from specahd.routing.kernels.distances import leg_length

LONGEST_RUN = 50
"""Most nodes of a run that is moved."""
COOLER = 0.1
"""Temperature of moves of runs, as a share of that of groups
(benchmarks/notes/2026-11-29-asymmetric-tours.md)."""

choose_groups = tours.choose_groups
choose = tours.choose
log_lines = tours.log_lines
close_gaps = tours.close_gaps
lacking = tours.lacking
keep_best = tours.keep_best
show = tours.show
remove = tours.remove
insert = tours.insert
undo = tours.undo
keep = tours.keep


class DirectedTour(NamedTuple):
    """Fields that directed ways add to a state.

    Parameters
    ----------
    ahead, behind
        The nodes with the shortest ways to each node, and those with the shortest ways from it,
        nearest first, shape (n, k) each.
    offered
        For each node, the value of ``clock`` when the position behind it was last offered.
    clock
        The number of customers for which positions were found, shape (1,).
    """

    ahead: Any
    behind: Any
    offered: Any
    clock: Any


def fields_for(neighbours: IntArray) -> DirectedTour:
    """Return the fields for lists of :func:`specahd.engine.neighbours.directed_neighbours`."""
    ahead, behind = neighbours
    return DirectedTour(ahead, behind, np.zeros(len(ahead), np.int64), np.zeros(1, np.int64))


@inlined
def find_positions(
    state: Any, instance: Any, scratch: Any, customer: int, wanted: int, most: float
) -> int:
    """Write the positions behind and before near nodes, each once; behind node 0 if all are out."""
    nodes, edges, distances, own = state.nodes, state.edges, instance.distances, state.own
    found, before, offered, clock = scratch.found, scratch.before, own.offered, own.clock
    clock[0] += 1
    now = clock[0]
    places = own.ahead.shape[1]
    count = 0
    for place in range(2 * places + 1):
        ahead = 0
        if place < places:
            ahead = own.ahead[customer, place]
            if nodes[ahead, BEHIND] == OUT:
                continue
        elif place < 2 * places:
            near = own.behind[customer, place - places]
            if nodes[near, BEHIND] == OUT:
                continue
            ahead = nodes[near, BEFORE]
        elif count > 0:
            break
        if offered[ahead] == now:
            continue
        offered[ahead] = now
        distance_before = leg_length(distances, ahead, customer)
        distance_behind = leg_length(distances, customer, nodes[ahead, BEHIND])
        found[DETOUR, count] = distance_before + distance_behind - edges[ahead]
        found[DISTANCE_BEFORE, count] = distance_before
        found[DISTANCE_BEHIND, count] = distance_behind
        found[EDGE, count] = edges[ahead]
        before[count] = ahead
        count += 1
    return count


@njit(cache=True)
def exchange_tails(state: Any, instance: Any, tries: int, temperature: float) -> None:
    """Try to move runs of nodes as they stand, which exchanges them with the runs beside them.

    A try draws a node and one of those with the shortest ways to it, puts the former behind the
    latter, and takes the end of the run where that costs least.
    """
    nodes, edges, generator, own = state.nodes, state.edges, state.generator, state.own
    distances, heat = instance.distances, COOLER * temperature
    size, places = own.ahead.shape
    for _ in range(tries):
        first = int(uniform(generator) * size)
        ahead = own.ahead[first, int(uniform(generator) * places)]
        before, behind = nodes[first, BEFORE], nodes[ahead, BEHIND]
        if behind == first:
            continue
        there = leg_length(distances, ahead, first)
        fixed = there - edges[before] - edges[ahead]
        least, last = np.inf, first
        node = first
        for _ in range(LONGEST_RUN):
            if node == ahead:
                break
            after = nodes[node, BEHIND]
            added = leg_length(distances, node, behind) + leg_length(distances, before, after)
            if added - edges[node] < least:
                least, last = added - edges[node], node
            node = after
        detour = fixed + least
        if detour > 0.0 and detour > -heat * math.log(1.0 - uniform(generator)):
            continue
        after = nodes[last, BEHIND]
        _join(state, distances, before, after)
        _join(state, distances, ahead, first)
        _join(state, distances, last, behind)
        state.costs[CURRENT] += detour


@inlined
def _join(state: Any, distances: Any, before: int, behind: int) -> None:
    state.nodes[before, BEHIND] = behind
    state.nodes[behind, BEFORE] = before
    state.edges[before] = leg_length(distances, before, behind)
    mark(state, before)
    mark(state, behind)
