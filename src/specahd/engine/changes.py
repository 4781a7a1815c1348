"""Incremental updates for changed solutions: inputs of upper programs, and the best solution."""

from typing import Any

from specahd.core.loop_cache import njit
from specahd.engine.fleets import note_emptied
from specahd.engine.inlined import inlined
from specahd.engine.links import BEFORE_NOTED, BEHIND, BEHIND_NOTED, ROUTE

REPAIRS, PASSES, KEPT, BETTER, POSITIONS_MENDED, CUSTOMERS_DROPPED = range(6)
GROUPS, MEMBERS, STEPS = range(6, 9)
"""Indices of ``counts``: customers inserted (and what steps count as), passes, groups accepted,
passes that ended with a new best solution, answers of lower programs that were replaced, entries of
upper programs that were dropped, groups that were tried, their customers, and the steps of upper
programs."""
COUNTS = 9
CURRENT, BEST = 0, 1
"""Indices of ``costs``."""
PRECEDING, FOLLOWING, ROUTE_OF, EXPOSURES = range(4)
"""Rows of ``upper_inputs``."""
FREE, CHANGED, SINCE_BEST, TURN, EXCHANGES, LIMITED, PART = range(7)
"""Indices of ``integers``: the number of free routes, the lengths of both lists of changed nodes,
where the noise is renewed next, the number of exchanges of tails tried for each group, whether the
number of routes is limited, and in which part of the search prices rise."""
INTEGERS = 7
RISE = 0.02
"""By how much the price of a customer rises with each pass that leaves it out, as a share of its
first one (benchmarks/notes/2026-11-28-optional-stops.md)."""
PARTS, RISING = 10, 5
"""Of so many equal parts of a search, the first in which prices rise, each time from the first ones
(benchmarks/notes/2026-11-29-optional-fields.md)."""
STAMPS, CHANGES = 0, 1
"""Rows of ``marks``: the pass in which a customer was last in a group; the lists of changes that
hold a node, as bits."""


def limit_routes(state: Any, most: int) -> None:
    """Limit the number of routes of a state that has no more, at most to those it has room for."""
    used = len(state.free) - state.integers[FREE]
    state.integers[FREE] = min(state.integers[FREE], max(0, most - used))
    state.integers[LIMITED] = 1


def first_prizes(instance: Any) -> Any:
    """Return the prices of customers that are left out with which a search begins.

    They are the instance's, but lower for customers that should be served above all: as much as the
    longest way to one and back. Entry 0 is by how much they rise with each pass.
    """
    prizes = instance.prizes.copy()
    if len(prizes) and prizes[0] > 0.0:
        way = 2.0 * instance.depot_distances.max()
        prizes[prizes == prizes[0]] = way
        prizes[0] = RISE * way
    return prizes


@njit(cache=True)
def raise_prizes(state: Any, instance: Any, now: float) -> float:
    """Raise the prices of customers that should be served and are not.

    With each of the first parts of the search they begin anew, so that a search leaves a solution
    that no change of few customers improves. At the end they are the instance's.

    Returns
    -------
    By how much the prices of all these customers exceed the instance's.
    """
    nodes, prizes, costs, given = state.nodes, state.prizes, state.costs, instance.prizes
    step = prizes[0]
    if step <= 0.0:
        return 0.0
    part = min(RISING, int(now * PARTS))
    begins = part != state.integers[PART]
    state.integers[PART] = part
    excess = 0.0
    for customer in range(1, len(prizes)):
        if given[customer] != given[0]:
            continue
        before = prizes[customer]
        left_out = nodes[customer, ROUTE] < 0
        if part == RISING:
            prizes[customer] = given[customer]
        elif begins:
            prizes[customer] = step / RISE
        elif left_out:
            prizes[customer] += step
        if left_out:
            costs[CURRENT] += prizes[customer] - before
            excess += prizes[customer] - given[customer]
    if part == RISING:
        prizes[0] = 0.0
    return excess


@inlined
def mark(state: Any, node: int) -> None:
    """Add a node to both lists of changes, unless it is in them."""
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


@inlined
def free_emptied(state: Any, scratch: Any, removed: int) -> None:
    """Free the routes that lost their last customer by the removals in the log."""
    nodes, free, integers, log = state.nodes, state.free, state.integers, scratch.log
    first = len(nodes) - len(free)
    for line in range(removed):
        # The last customer of a route has the route's terminal on both sides.
        terminal = log[line, BEFORE_NOTED]
        if (
            terminal >= first
            and terminal == log[line, BEHIND_NOTED]
            and nodes[terminal, BEHIND] == terminal
        ):
            free[integers[FREE]] = terminal - first
            integers[FREE] += 1
            note_emptied(state.own, terminal - first)
