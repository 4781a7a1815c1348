"""Calls of upper programs, and checks of the groups that they return.

No entry of an answer becomes an index before it is checked.
"""

from typing import Any

import numpy as np

from specahd.core.loop_cache import njit
from specahd.engine.changes import CUSTOMERS_DROPPED, PASSES, STAMPS
from specahd.engine.random import refill
from specahd.engine.state import NOISE_PER_GROUP
from specahd.engine.steps import choose_groups, show


@njit(cache=True)
def next_group(
    proposal: Any, place: int, stamp: int, customers: int, marks: Any, group: Any, counts: Any
) -> tuple[int, int]:
    """Read one group of an upper program's answer; return its size and the next one's index."""
    size = 0
    while place < len(proposal):
        node = proposal[place]
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
    proposal: Any, customers: int, max_groups: int, max_size: int, marks: Any, counts: Any
) -> Any:
    """Read an upper program's answer as a pass would; return the groups' sizes and members.

    Parameters
    ----------
    customers
        The highest number of a customer.
    """
    counts[PASSES] += 1
    sizes = np.zeros(max_groups, np.int64)
    members = np.empty(customers, np.int64)
    group = np.empty(max_size, np.int64)
    place = 0
    found = 0
    length = 0
    while found < max_groups:
        size, place = next_group(proposal, place, counts[PASSES], customers, marks, group, counts)
        if size == 0:
            break
        members[length : length + size] = group[:size]
        sizes[found] = size
        length += size
        found += 1
    return sizes[:found].copy(), members[:length].copy()


@njit(cache=True)
def call_upper(
    state: Any,
    instance: Any,
    upper: Any,
    upper_noise: Any,
    now: float,
    max_groups: int,
    max_size: int,
) -> Any:
    """Call an upper program and return its proposal, empty if it raises."""
    refill(state.generator, upper_noise, 0, len(upper_noise))
    try:
        return choose_groups(state, instance, upper, upper_noise, now, max_groups, max_size)
    except Exception:  # noqa: BLE001  a program may raise anything
        return np.zeros(0, np.int64)


@njit(cache=True)
def name_groups(
    uppers: Any, instance: Any, state: Any, max_groups: int, max_size: int, progress: float
) -> Any:
    """Return the groups that a pass would repair: their sizes and their customers."""
    show(state, instance)
    upper_noise = np.empty(NOISE_PER_GROUP * max_groups)
    proposal = call_upper(state, instance, uppers[0], upper_noise, progress, max_groups, max_size)
    customers = len(state.gains) - 1
    return all_groups(proposal, customers, max_groups, max_size, state.marks, state.counts)
