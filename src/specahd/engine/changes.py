"""What the engine keeps up to date while solutions change: views for upper programs, the best."""

from typing import Any

from numba import njit

from specahd.engine.links import BEFORE, BEHIND, ROUTE
from specahd.routing.kernels.distances import between

REPAIRS, PASSES, KEPT, BETTER, POSITIONS_MENDED, CUSTOMERS_DROPPED = range(6)
"""What ``counts`` counts: customers inserted, passes, groups that stayed, passes that ended with a
new best solution, answers of lower programs that were replaced, entries of upper programs that
were dropped."""
COUNTS = 6
CURRENT, BEST = 0, 1
"""What ``costs`` holds."""
PRECEDING, FOLLOWING, ROUTE_OF, EXPOSURES = range(4)
"""The rows of ``shown``."""
FREE, CHANGED, SINCE_BEST, TURN, EXCHANGES = range(5)
"""What ``numbers`` holds: how many routes are free, how long the lists of changed nodes are,
where the noise is renewed next, and how many exchanges of tails are tried for each group."""
NUMBERS = 5
STAMPS, CHANGES = 0, 1
"""Rows of ``marks``: when a customer was last in a group; which lists of changes hold a node."""


@njit(cache=True)
def mark(node: int, marks: Any, changed: Any, numbers: Any) -> None:
    """Put a node on both lists of changes, unless it is there."""
    held = marks[CHANGES, node]
    if not held & 1:
        changed[0, numbers[CHANGED]] = node
        numbers[CHANGED] += 1
    if not held & 2:
        changed[1, numbers[SINCE_BEST]] = node
        numbers[SINCE_BEST] += 1
    marks[CHANGES, node] = 3


@njit(cache=True)
def show(
    distances: Any,
    nodes: Any,
    edges: Any,
    shown: Any,
    gains: Any,
    marks: Any,
    changed: Any,
    numbers: Any,
) -> None:
    """Bring what upper programs see up to date with the current solution."""
    customers = shown.shape[1] - 1
    for place in range(numbers[CHANGED]):
        node = changed[0, place]
        marks[CHANGES, node] &= 2
        if node > customers:
            continue
        before = nodes[node, BEFORE]
        behind = nodes[node, BEHIND]
        before = 0 if before > customers else before
        behind = 0 if behind > customers else behind
        shown[PRECEDING, node] = before
        shown[FOLLOWING, node] = behind
        shown[ROUTE_OF, node] = nodes[node, ROUTE]
        gains[node] = edges[node, BEFORE] + edges[node, BEHIND] - between(distances, before, behind)
    numbers[CHANGED] = 0


@njit(cache=True)
def keep_best(nodes: Any, best: Any, costs: Any, marks: Any, changed: Any, numbers: Any) -> None:
    """Note the current solution as the best one."""
    for place in range(numbers[SINCE_BEST]):
        node = changed[1, place]
        marks[CHANGES, node] &= 1
        best[node] = nodes[node, BEHIND]
    numbers[SINCE_BEST] = 0
    costs[BEST] = costs[CURRENT]
