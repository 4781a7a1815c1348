"""Construction of depot routes under a capacity."""

from typing import Any

import numpy as np
from numba import njit

from specahd.routing.kernels.distances import between


@njit(cache=True, nogil=True)
def nearest_routes(distances: Any, demands: Any, capacity: int) -> Any:
    """Build routes one after another, always going on to the nearest customer that fits.

    Ties go to the lowest index; a route closes when nothing fits.

    Returns
    -------
    Lengths of the routes, and their customers one after another.
    """
    customers = len(demands) - 1
    values = np.empty(customers, np.int64)
    lengths = np.zeros(customers, np.int64)
    unserved = np.arange(1, customers + 1)
    left = customers
    routes = 0
    current = 0
    rest = capacity
    while left > 0:
        chosen = -1
        shortest = np.inf
        for place in range(left):
            node = unserved[place]
            if demands[node] > rest:
                continue
            distance = between(distances, current, node)
            # Removal leaves `unserved` unordered, so ties compare indices.
            if distance < shortest or (distance == shortest and node < unserved[chosen]):
                shortest = distance
                chosen = place
        if chosen < 0:
            routes += 1
            current = 0
            rest = capacity
            continue
        current = unserved[chosen]
        rest -= demands[current]
        values[customers - left] = current
        lengths[routes] += 1
        left -= 1
        unserved[chosen] = unserved[left]
    return lengths[: routes + 1], values


@njit(cache=True, nogil=True)
def pair_savings(distances: Any, starts: Any, ends: Any) -> Any:
    """Return c(0, i) + c(0, j) - c(i, j) for each pair (i, j) of customers."""
    savings = np.empty(len(starts))
    for pair in range(len(starts)):
        i = starts[pair]
        j = ends[pair]
        savings[pair] = (
            between(distances, 0, i) + between(distances, 0, j) - between(distances, i, j)
        )
    return savings


@njit(cache=True, nogil=True)
def joined_routes(starts: Any, ends: Any, demands: Any, capacity: int) -> Any:
    """Join routes of one customer each end to end, trying the pairs in the order given.

    Returns
    -------
    Lengths of the routes, and their customers one after another; a route runs
    from its end of lower index, and the routes are in order of those ends.
    """
    size = len(demands)
    # The neighbours of each customer in its route, 0 where the route ends.
    beside = np.zeros((size, 2), np.int64)
    # Kept up to date at the ends of routes only.
    other_end = np.arange(size)
    load = demands.copy()
    for pair in range(len(starts)):
        i = starts[pair]
        j = ends[pair]
        if beside[i, 1] != 0 or beside[j, 1] != 0 or other_end[i] == j:
            continue
        total = load[i] + load[j]
        if total > capacity:
            continue
        beside[i, 1 if beside[i, 0] != 0 else 0] = j
        beside[j, 1 if beside[j, 0] != 0 else 0] = i
        first = other_end[i]
        last = other_end[j]
        other_end[first] = last
        other_end[last] = first
        load[first] = total
        load[last] = total
    values = np.empty(size - 1, np.int64)
    lengths = np.zeros(size - 1, np.int64)
    filled = 0
    routes = 0
    for end in range(1, size):
        if beside[end, 1] != 0 or other_end[end] < end:
            continue
        previous = 0
        node = end
        while node != 0:
            values[filled] = node
            filled += 1
            lengths[routes] += 1
            following = beside[node, 0]
            if following == previous:
                following = beside[node, 1]
            previous = node
            node = following
        routes += 1
    return lengths[:routes], values
