"""What upper programs name: how they are asked, and how their answer is read.

Nothing of it becomes an index before it was checked.
"""

from typing import Any

import numpy as np
from numba import njit

from specahd.engine.changes import CUSTOMERS_DROPPED, PASSES, STAMPS
from specahd.engine.families import choose_groups, show
from specahd.engine.random import refill

NOISE_PER_GROUP = 32
"""How many random numbers an upper program is given for each group."""


@njit(cache=True)
def next_group(
    named: Any, place: int, stamp: int, customers: int, marks: Any, group: Any, counts: Any
) -> tuple[int, int]:
    """Read a group of an upper program's answer; return its size and where the next one begins."""
    size = 0
    while place < len(named):
        node = named[place]
        place += 1
        if node == 0:
            if size:
                break
            continue
        if node < 0 or node > customers or marks[STAMPS, node] == stamp or size == len(group):
            counts[CUSTOMERS_DROPPED] += 1
            continue
        marks[STAMPS, node] = stamp
        group[size] = node
        size += 1
    return size, place


@njit(cache=True)
def all_groups(
    named: Any, customers: int, max_groups: int, max_size: int, marks: Any, counts: Any
) -> Any:
    """Read an upper program's answer as a pass would: how long the groups are, and their members.

    Parameters
    ----------
    customers
        The highest number of one.
    """
    counts[PASSES] += 1
    sizes = np.zeros(max_groups, np.int64)
    members = np.empty(customers, np.int64)
    group = np.empty(max_size, np.int64)
    place = 0
    found = 0
    length = 0
    while found < max_groups:
        size, place = next_group(named, place, counts[PASSES], customers, marks, group, counts)
        if size == 0:
            break
        members[length : length + size] = group[:size]
        sizes[found] = size
        length += size
        found += 1
    return sizes[:found].copy(), members[:length].copy()


@njit(cache=True)
def answer_of(
    beside: Any,
    upper: Any,
    shown: Any,
    gains: Any,
    neighbours: Any,
    neighbour_distances: Any,
    depot_distances: Any,
    demands: Any,
    capacity: int,
    upper_noise: Any,
    now: float,
    max_groups: int,
    max_size: int,
) -> Any:
    """Return what an upper program answers about what it is shown; nothing if it raises."""
    try:
        return choose_groups(
            beside,
            upper,
            shown,
            gains,
            neighbours,
            neighbour_distances,
            depot_distances,
            demands,
            capacity,
            upper_noise,
            now,
            max_groups,
            max_size,
        )
    except Exception:  # noqa: BLE001  a program may raise anything
        return np.zeros(0, np.int64)


@njit(cache=True)
def ask(
    upper: Any,
    distances: Any,
    neighbours: Any,
    neighbour_distances: Any,
    depot_distances: Any,
    demands: Any,
    capacity: int,
    beside: Any,
    state: Any,
    upper_noise: Any,
    max_groups: int,
    max_size: int,
    now: float,
) -> Any:
    """Return what an upper program answers about the current solution."""
    nodes, edges, _, _, shown, gains, marks, changed, _, generator, _, _, _, numbers = state
    refill(generator, upper_noise, 0, len(upper_noise))
    show(beside, distances, nodes, edges, shown, gains, marks, changed, numbers)
    return answer_of(
        beside,
        upper,
        shown,
        gains,
        neighbours,
        neighbour_distances,
        depot_distances,
        demands,
        capacity,
        upper_noise,
        now,
        max_groups,
        max_size,
    )


@njit(cache=True)
def name_groups(
    uppers: Any,
    distances: Any,
    neighbours: Any,
    neighbour_distances: Any,
    depot_distances: Any,
    demands: Any,
    capacity: int,
    beside: Any,
    state: Any,
    max_groups: int,
    max_size: int,
    progress: float,
) -> Any:
    """Return the groups that a pass would repair: how long they are, and their customers."""
    named = ask(
        uppers[0],
        distances,
        neighbours,
        neighbour_distances,
        depot_distances,
        demands,
        capacity,
        beside,
        state,
        np.empty(NOISE_PER_GROUP * max_groups),
        max_groups,
        max_size,
        progress,
    )
    _, _, _, _, _, _, marks, _, _, _, _, _, counts, _ = state
    return all_groups(named, len(demands) - 1, max_groups, max_size, marks, counts)
