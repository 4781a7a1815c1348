"""Incremental updates while solutions change: inputs of upper programs, and the best."""

from typing import Any

from numba import njit

from specahd.engine.inlined import inlined
from specahd.engine.links import BEHIND

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
INTEGERS = 5
STAMPS, CHANGES = 0, 1
"""Rows of ``marks``: when a customer was last in a group; which lists of changes hold a node."""


@inlined
def mark(state: Any, node: int) -> None:
    """Put a node on both lists of changes, unless it is there."""
    marks, changed, integers = state.marks, state.changed, state.integers
    lists = marks[CHANGES, node]
    if not lists & 1:
        changed[0, integers[CHANGED]] = node
        integers[CHANGED] += 1
    if not lists & 2:
        changed[1, integers[SINCE_BEST]] = node
        integers[SINCE_BEST] += 1
    marks[CHANGES, node] = 3


@njit(cache=True)
def keep_best(state: Any) -> None:
    """Note the current solution as the best one."""
    nodes, best, marks, changed, integers = (
        state.nodes,
        state.best,
        state.marks,
        state.changed,
        state.integers,
    )
    for place in range(integers[SINCE_BEST]):
        node = changed[1, place]
        marks[CHANGES, node] &= 1
        best[node] = nodes[node, BEHIND]
    integers[SINCE_BEST] = 0
    state.costs[BEST] = state.costs[CURRENT]
