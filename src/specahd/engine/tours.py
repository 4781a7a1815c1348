"""A closed tour as a linked list: what the passes over it do, exactly undone.

The nodes are 0 to n - 1, and node 0 never leaves: it is where a tour begins and ends, and what
stands between two groups of an answer. ``nodes`` holds for each node the one before it and the
one behind it (:data:`OUT` while it is out), ``edges`` the distance to the latter.
"""

from typing import Any

from numba import njit

from specahd.engine.changes import CHANGED, CHANGES, FOLLOWING, PRECEDING
from specahd.engine.links import BEFORE, BEHIND
from specahd.routing.kernels.distances import between

OUT = -1
DETOUR, THERE, BACK, EDGE = range(4)
"""Rows of the positions found for a node: what it adds, the distances from the node before and
to the node behind, and that between these two."""
BEFORE_NOTED, BEHIND_NOTED = 1, 2
"""Where a line of the log has the nodes around its own, which comes first."""


@njit(cache=True)
def take_out(
    distances: Any, nodes: Any, edges: Any, node: int, log: Any, log_edges: Any, line: int
) -> Any:
    """Take a node out, note how to undo it, and return what that adds to the cost."""
    before = nodes[node, BEFORE]
    behind = nodes[node, BEHIND]
    log[line, 0] = node
    log[line, BEFORE_NOTED] = before
    log[line, BEHIND_NOTED] = behind
    log_edges[line, 0] = edges[before]
    log_edges[line, 1] = edges[node]
    joined = between(distances, before, behind)
    added = joined - edges[before] - edges[node]
    nodes[before, BEHIND] = behind
    nodes[behind, BEFORE] = before
    edges[before] = joined
    nodes[node, BEHIND] = OUT
    return added


@njit(cache=True)
def put_in(nodes: Any, edges: Any, node: int, before: int, there: float, back: float) -> None:
    """Put a node behind another one, at such distances from that and from the next."""
    behind = nodes[before, BEHIND]
    nodes[node, BEFORE] = before
    nodes[node, BEHIND] = behind
    nodes[before, BEHIND] = node
    nodes[behind, BEFORE] = node
    edges[before] = there
    edges[node] = back


@njit(cache=True)
def undo(nodes: Any, edges: Any, log: Any, log_edges: Any, removed: int, inserted: int) -> None:
    """Take back what the log tells: nodes that were taken out, and then such that were put in."""
    for line in range(removed + inserted - 1, removed - 1, -1):
        node = log[line, 0]
        before = nodes[node, BEFORE]
        behind = nodes[node, BEHIND]
        nodes[before, BEHIND] = behind
        nodes[behind, BEFORE] = before
        edges[before] = log_edges[line, 0]
    for line in range(removed - 1, -1, -1):
        node = log[line, 0]
        before = log[line, BEFORE_NOTED]
        behind = log[line, BEHIND_NOTED]
        nodes[node, BEFORE] = before
        nodes[node, BEHIND] = behind
        nodes[before, BEHIND] = node
        nodes[behind, BEFORE] = node
        edges[before] = log_edges[line, 0]
        edges[node] = log_edges[line, 1]


@njit(cache=True)
def find_positions(
    distances: Any,
    node: int,
    neighbours: Any,
    neighbour_distances: Any,
    places: int,
    nodes: Any,
    edges: Any,
    found: Any,
    before: Any,
) -> int:
    """Write the positions next to the nearest ``places`` neighbours; return how many there are.

    Each comes once. Where all neighbours are out, the only one is that behind node 0.
    """
    count = 0
    farthest = neighbour_distances[node, places - 1]
    for place in range(places):
        near = neighbours[node, place]
        behind = nodes[near, BEHIND]
        if behind == OUT:
            continue
        away = neighbour_distances[node, place]
        back = between(distances, node, behind)
        found[DETOUR, count] = away + back - edges[near]
        found[THERE, count] = away
        found[BACK, count] = back
        found[EDGE, count] = edges[near]
        before[count] = near
        count += 1
        # That before the neighbour, unless it is the one behind another neighbour.
        ahead = nodes[near, BEFORE]
        there = between(distances, node, ahead)
        if there > farthest or ahead == 0:
            found[DETOUR, count] = there + away - edges[ahead]
            found[THERE, count] = there
            found[BACK, count] = away
            found[EDGE, count] = edges[ahead]
            before[count] = ahead
            count += 1
    if count == 0:
        there = between(distances, node, 0)
        back = between(distances, node, nodes[0, BEHIND])
        found[DETOUR, 0] = there + back - edges[0]
        found[THERE, 0] = there
        found[BACK, 0] = back
        found[EDGE, 0] = edges[0]
        before[0] = 0
        count = 1
    return count


@njit(cache=True)
def show(
    distances: Any, nodes: Any, edges: Any, shown: Any, gains: Any, marks: Any, changed: Any,
    numbers: Any,
) -> None:  # fmt: skip
    """Bring what upper programs see up to date with the current tour."""
    for place in range(numbers[CHANGED]):
        node = changed[0, place]
        marks[CHANGES, node] &= 2
        before = nodes[node, BEFORE]
        behind = nodes[node, BEHIND]
        shown[PRECEDING, node] = before
        shown[FOLLOWING, node] = behind
        gains[node] = edges[before] + edges[node] - between(distances, before, behind)
    numbers[CHANGED] = 0


@njit(cache=True)
def load_tour(tour: Any, nodes: Any, edges: Any, distances: Any) -> Any:
    """Write a tour, which begins behind node 0, to the list; return its length."""
    cost = 0.0
    last = 0
    for place in range(len(tour) + 1):
        node = tour[place] if place < len(tour) else 0
        nodes[last, BEHIND] = node
        nodes[node, BEFORE] = last
        edges[last] = between(distances, last, node)
        cost += edges[last]
        last = node
    return cost


@njit(cache=True)
def flat_tour(following: Any) -> Any:
    """Return the nodes behind node 0 of a list of next nodes, in order."""
    tour = following[1:].copy()
    node = following[0]
    for place in range(len(tour)):
        tour[place] = node
        node = following[node]
    return tour
