"""Where the engine's time goes: ``python benchmarks/hot_loop.py [SIZE ...]``.

The passes of :func:`specahd.engine.passes.improve` with the hand-written programs, on random
instances of CVRP, in the middle of a descent. A stage is timed by leaving it out: the same passes
are made up to one stage, then to the next, all on the same solution, which is taken back after
every group; the differences are the stages. What the whole loop takes beyond the last of them is
for accepting groups and keeping the best. CPU time of one core.
"""

import sys
import time

import numpy as np
from numba import njit

from engine import block_of, start_of
from specahd.engine import changes, interfaces, passes, strings
from specahd.engine.borrowed_views import borrowed
from specahd.engine.naming import call_upper, next_group
from specahd.engine.orders import Order
from specahd.engine.random import refill, uniform
from specahd.engine.schedule import group_count, temperatures
from specahd.engine.state import NOISE as CUT_FROM
from specahd.engine.state import NOISE_PER_GROUP, Scratch
from specahd.engine.steps import choose, find_positions, insert, remove, show, undo
from specahd.problems.cvrp import engine as cvrp

STAGES = (
    "noise",
    "groups (the upper program)",
    "removal, and taking back",
    "positions",
    "choice (the lower program)",
    "insertion, and taking back",
)
NOISE, GROUPS, REMOVAL, POSITIONS, CHOICE, INSERTION = range(6)
PASSES = {1_000: 4_000}
SIZE = 50


@njit
def cut(last, upper, lower, instance, state, scratch, count, max_groups):
    """Make so many passes up to a stage; return the customers that were taken out."""
    # As the loop takes them.
    instance, state, scratch = borrowed(instance), borrowed(state), borrowed(scratch)
    generator, noise, counts, group = state.generator, state.noise, state.counts, scratch.group
    customers, available = len(state.gains) - 1, state.integers[changes.FREE]
    taken = 0
    for _ in range(count):
        counts[changes.PASSES] += 1
        stamp = counts[changes.PASSES]
        refill(generator, noise, 0, passes.RENEWED)
        if last < GROUPS:
            refill(generator, scratch.upper_noise, 0, len(scratch.upper_noise))
            continue
        show(state, instance)
        named = call_upper(state, instance, upper[0], scratch.upper_noise, 0.5, max_groups, SIZE)
        place = 0
        for _ in range(max_groups):
            size, place = next_group(named, place, stamp, customers, state.marks, group, counts)
            taken += size
            if last < REMOVAL or size == 0:
                continue
            removed = 0
            for member in range(size):
                removed, _ = remove(state, instance, scratch, removed, group[member], 0.0)
            lines = removed
            for member in range(size if last >= POSITIONS else 0):
                customer = group[member]
                many = find_positions(state, instance, scratch, customer, 1, np.inf)
                chosen = many - 1
                if last >= CHOICE:
                    offset = int(uniform(generator) * CUT_FROM)
                    drawn = noise[offset : offset + many]
                    chosen = choose(
                        state, instance, scratch, lower[0], many, drawn, customer, 1, 0.5
                    )
                if last >= INSERTION:
                    insert(state, instance, scratch, lines, customer, 1, chosen, 0.0)
                    lines += 1
            state.integers[changes.FREE] = available
            undo(state, instance, scratch, removed, lines)
    return taken


def counted(search):
    """Return passes, customers taken out, customers put in and groups that stayed so far."""
    state = search._state
    done = state.counts[[changes.PASSES, changes.REPAIRS, changes.KEPT]].tolist()
    return np.array([done[0], state.upper_inputs[changes.EXPOSURES].sum(), *done[1:]])


def measure(size, upper, lower):
    block = block_of(size, np.random.default_rng(0))
    hot, cold = temperatures(block["neighbour_distances"])
    search = cvrp.GROUPS.search_for(block, [start_of(block)], 0)
    groups = group_count(size)
    middle = float(np.sqrt(hot * cold))
    search.run(upper, lower, Order(0, 20 * size, 0.0, groups, SIZE, 0.0, 0.5, hot, middle))
    count = PASSES.get(size, 500)
    most = 2 * block["neighbours"].shape[1] + 1
    scratch = Scratch(
        *(np.empty(SIZE, np.int64), np.empty((2 * SIZE, 3), np.int32), np.empty((2 * SIZE, 3))),
        *(np.empty((6, most)), np.empty(most, np.int64), np.empty(NOISE_PER_GROUP * groups)),
    )
    # That of a large instance is with other numbers of nodes.
    inner = getattr(search, "_search", search)
    given = inner._instance, inner._state, scratch
    spent, taken = [], 0
    for last in range(len(STAGES)):
        cut(last, upper, lower, *given, 1, groups)
        began = time.process_time()
        taken = cut(last, upper, lower, *given, count, groups)
        spent.append(1e9 * (time.process_time() - began) / count)
    parts = np.diff(spent, prepend=0.0)
    order = Order(0, taken, 0.0, groups, SIZE, 0.5, 0.55, middle, middle)
    before = counted(inner)
    began = time.process_time()
    search.run(upper, lower, order)
    whole = 1e9 * (time.process_time() - began)
    made, removed, repairs, kept = (counted(inner) - before).tolist()
    # A group that became too dear is given up before all of it was put in.
    each = count / taken
    times = (made, made, removed * each, repairs * each, repairs * each, repairs * each)
    parts = parts * np.array(times) / repairs
    whole /= repairs
    print(
        f"{size:,} customers: {whole:.0f} ns a repair, {1e9 / whole:,.0f} repairs/s; "
        f"{repairs / made:.0f} of {removed / made:.0f} customers taken out in a pass are put in, "
        f"{kept / made:.1f} of {groups} groups stay"
    )
    for name, part in zip(STAGES, parts, strict=True):
        print(f"| {name} | {part:.0f} ns | {part / whole:.0%} |")
    rest = whole - parts.sum()
    print(f"| acceptance, keeping the best | {rest:.0f} ns | {rest / whole:.0%} |", flush=True)


if __name__ == "__main__":
    groups, position = interfaces.GROUPS, interfaces.POSITIONS
    upper = cvrp.GROUPS.translate(groups.source_of(strings.adjacent_strings), groups.name)
    lower = cvrp.POSITIONS.translate(position.source_of(strings.greedy_with_blinks), position.name)
    for argument in sys.argv[1:] or ("1000", "100000"):
        measure(int(argument), upper, lower)
