"""Compiled passes of the engine over a solution: one loop for all problems.

The upper program receives the current solution and returns groups. Each group is removed, inserted
again at the positions that the lower programs choose, and accepted or undone. An answer of a
program becomes an index only after it was checked. The functions of :mod:`specahd.engine.steps`
differ by problem.
"""

import math
from typing import Any

import numpy as np

from specahd.core.loop_cache import njit
from specahd.engine.borrowed_views import borrowed
from specahd.engine.changes import (
    BEST,
    BETTER,
    CURRENT,
    EXCHANGES,
    EXPOSURES,
    FREE,
    GROUPS,
    KEPT,
    LIMITED,
    MEMBERS,
    PASSES,
    POSITIONS_MENDED,
    REPAIRS,
    STEPS,
    TURN,
    free_emptied,
    mark,
    raise_prizes,
)
from specahd.engine.fleets import number_of_types
from specahd.engine.inlined import inlined
from specahd.engine.links import BEFORE_NOTED, BEHIND_NOTED, NODE_NOTED, ROUTE
from specahd.engine.naming import call_upper, next_group
from specahd.engine.programs import DETOUR
from specahd.engine.random import refill, uniform
from specahd.engine.state import NOISE, NOISE_PER_GROUP, Scratch
from specahd.engine.steps import (
    choose,
    close_gaps,
    exchange_tails,
    find_positions,
    insert,
    keep,
    keep_best,
    lacking,
    log_lines,
    remove,
    show,
    undo,
)
from specahd.programs.compiled import NO_ANSWER

RENEWED = 256
"""Number of random numbers in the noise of positions that every pass renews."""
MOST_LEFT_OUT = 20
"""Most customers that are left out and join a group."""
EMPTY_PASSES = 100
"""Number of passes in a row without any customer after which a slice ends."""


# A program that raises gives no answer. The exception is caught here, so that programs need no
# wrapper functions, which would take as long to compile as the programs.
@inlined
def _position_chosen(
    state: Any,
    instance: Any,
    scratch: Any,
    lower: Any,
    count: int,
    noise: Any,
    customer: int,
    wanted: int,
    now: float,
) -> Any:
    try:
        return choose(state, instance, scratch, lower, count, noise, customer, wanted, now)
    except Exception:  # noqa: BLE001  a program may raise anything
        return NO_ANSWER


@inlined
def _with_left_out(state: Any, instance: Any, group: Any, size: int) -> int:
    """Add customers that are left out, near the first one of a group, at random places of it."""
    nodes, neighbours = state.nodes, instance.neighbours
    most = min(len(group), size + 1 + int(uniform(state.generator) * MOST_LEFT_OUT))
    for near in neighbours[group[0]]:
        if nodes[near, ROUTE] >= 0 or state.prizes[near] == 0.0:
            continue
        known = False
        for place in range(size):
            known |= group[place] == near
        if known:
            continue
        if size == most:
            break
        place = int(uniform(state.generator) * (size + 1))
        for later in range(size, place, -1):
            group[later] = group[later - 1]
        group[place] = near
        size += 1
    return size


@njit(cache=True)
def _search(
    uppers: Any,
    lowers: Any,
    choices: Any,
    instance: Any,
    state: Any,
    span: Any,
    given: Any,
    scratch: Any,
) -> None:
    # The caller keeps the arrays alive.
    instance, state, scratch = borrowed(instance), borrowed(state), borrowed(scratch)
    choices, given = borrowed(choices), borrowed(given)
    generator, noise, marks = state.generator, state.noise, state.marks
    costs, counts, integers, exposures = (
        state.costs,
        state.counts,
        state.integers,
        state.upper_inputs,
    )
    group, log = scratch.group, scratch.log
    upper = uppers[0]
    customers = len(state.gains) - 1
    prizes = state.prizes
    optional = len(prizes) > 0
    tolerance = 1.0
    falling = 0.0
    if span.temperature > 0:
        falling = math.log(span.end_temperature / span.temperature)
    began = counts[REPAIRS]
    done = 0.0
    steps = counts[STEPS]
    empty = 0
    while done < span.repairs:
        share = done / span.repairs
        now = span.progress + (span.end_progress - span.progress) * share
        heat = span.temperature * math.exp(falling * share)
        counts[PASSES] += 1
        stamp = counts[PASSES]
        refill(generator, noise, integers[TURN], integers[TURN] + RENEWED)
        integers[TURN] = (integers[TURN] + RENEWED) % NOISE
        show(state, instance)
        proposal = given
        if len(given) == 0:
            proposal = call_upper(
                state, instance, upper, scratch.upper_noise, now, span.max_groups, span.max_size
            )
        place = 0
        inserted = 0
        for _ in range(span.max_groups):
            size, place = next_group(
                proposal, place, stamp, customers, marks, group[: span.max_size], counts
            )
            if size == 0:
                break
            counts[GROUPS] += 1
            counts[MEMBERS] += size
            lower = lowers[choices[int(uniform(generator) * len(choices))]]
            allowed = costs[CURRENT]
            if heat > 0.0:
                allowed -= heat * math.log(1.0 - uniform(generator))
            cost = costs[CURRENT]
            available = integers[FREE]
            removed = 0
            if optional:
                size = _with_left_out(state, instance, group, size)
                tolerance = 1.0 / (1.0 - uniform(generator))
            for member in range(size):
                if optional and state.nodes[group[member], ROUTE] < 0:
                    cost -= prizes[group[member]]
                    continue
                removed, cost = remove(state, instance, scratch, removed, group[member], cost)
                exposures[EXPOSURES, group[member]] += 1
            cost += close_gaps(state, scratch, removed)
            if integers[LIMITED]:
                free_emptied(state, scratch, removed)
            lines = removed
            for member in range(size):
                customer = group[member]
                wanted = lacking(state, instance, customer)
                while wanted > 0:
                    if optional and prizes[customer] == 0.0:
                        break
                    count = find_positions(
                        state, instance, scratch, customer, wanted, allowed - cost
                    )
                    if optional:
                        most = tolerance * prizes[customer]
                        if count == 0 or scratch.found[DETOUR, :count].min() >= most:
                            cost += prizes[customer]
                            break
                    if count == 0:
                        cost = np.inf
                        break
                    offset = int(uniform(generator) * NOISE)
                    chosen = _position_chosen(
                        state,
                        instance,
                        scratch,
                        lower,
                        count,
                        noise[offset : offset + count],
                        customer,
                        wanted,
                        now,
                    )
                    if chosen < 0 or chosen >= count:
                        chosen = np.argmin(scratch.found[DETOUR, :count])
                        counts[POSITIONS_MENDED] += 1
                    wanted, cost = insert(
                        state, instance, scratch, lines, customer, wanted, chosen, cost
                    )
                    lines += 1
                    if cost > allowed:
                        break
                inserted += 1
                # With the triangle inequality, insertions never lower the cost: undo the group.
                if cost > allowed:
                    break
            if cost > allowed:
                integers[FREE] = available
                undo(state, instance, scratch, removed, lines)
                continue
            counts[KEPT] += 1
            costs[CURRENT] = cost
            for line in range(lines):
                mark(state, log[line, NODE_NOTED])
                mark(state, log[line, BEFORE_NOTED])
                mark(state, log[line, BEHIND_NOTED])
            keep(state, scratch, removed)
        exchange_tails(state, instance, integers[EXCHANGES] * span.max_groups, heat)
        if inserted:
            # Steps of passes without a customer count now: such passes alone must end the slice.
            done += inserted + span.step_repairs * (counts[STEPS] - steps)
            counts[REPAIRS] = began + int(done)
            steps = counts[STEPS]
        excess = raise_prizes(state, instance, now) if optional else 0.0
        if costs[CURRENT] - excess < costs[BEST] - 1e-9 * abs(costs[BEST]):
            counts[BETTER] += 1
            keep_best(state)
            costs[BEST] -= excess
        empty = 0 if inserted else empty + 1
        if empty == EMPTY_PASSES:
            break


@njit(cache=True)
def improve(
    uppers: Any, lowers: Any, choices: Any, instance: Any, state: Any, span: Any, given: Any
) -> None:
    """Make passes until ``span.repairs`` customers were inserted; change ``state`` in place.

    Each step of the upper program counts as ``span.step_repairs`` of them. Fewer are inserted if
    :data:`EMPTY_PASSES` passes in a row name no customer.

    Progress grows linearly with the repairs; the temperature falls by equal factors.

    Parameters
    ----------
    choices
        Indices in ``lowers``; each group is repaired by one of them, drawn uniformly.
    span
        :class:`specahd.engine.state.Span`.
    given
        The one group of every pass; empty if the upper program chooses the groups.
    """
    most = 2 * instance.neighbours.shape[1] + number_of_types(state.own)
    # Customers that were left out join a group.
    size = span.max_size + (MOST_LEFT_OUT if len(instance.prizes) else 0)
    lines = log_lines(state, size)
    scratch = Scratch(
        np.empty(size, np.int64),
        np.empty((lines, 3), np.int32),
        np.empty((lines, 3)),
        np.empty((6, most)),
        np.empty(most, np.int64),
        np.empty(NOISE_PER_GROUP * span.max_groups),
    )
    _search(uppers, lowers, choices, instance, state, span, given, scratch)
    # numba frees an array after its last use, and the use of borrowed views above does not count.
    scratch.group[0] = 0


@njit(cache=True, nogil=True)
def insert_cheapest(order: Any, instance: Any, state: Any, scratch: Any) -> None:
    """Insert each customer of an order where the detour is least; nothing is undone later."""
    # The caller keeps the arrays alive.
    instance, state, scratch = borrowed(instance), borrowed(state), borrowed(scratch)
    for customer in order:
        count = find_positions(state, instance, scratch, customer, 1, np.inf)
        chosen = np.argmin(scratch.found[DETOUR, :count])
        insert(state, instance, scratch, 0, customer, 1, chosen, 0.0)
