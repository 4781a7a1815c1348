"""Construction of depot routes under a capacity."""

from typing import Any

import numpy as np

from specahd.core.loop_cache import njit
from specahd.routing.kernels.distances import leg_length


@njit(cache=True, nogil=True)
def nearest_routes(distances: Any, demands: Any, capacity: int, times: Any = None) -> Any:
    """Build routes one after another, each time visiting the nearest customer that fits.

    Ties go to the lowest index; a route closes when no customer fits. Times are summed leg by leg
    from the depot, in the order in which the checkers sum them.

    Parameters
    ----------
    times
        Opening and closing of time windows, and service times, shape (n + 1,) each; None if there
        are none. A customer fits if its window is open on arrival or later, and time is left to
        return to the depot. Each customer must be feasible on a route of its own.

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
    time = 0.0 if times is None else times[0][0]
    while left > 0:
        chosen = -1
        shortest = np.inf
        for place in range(left):
            node = unserved[place]
            if demands[node] > rest:
                continue
            distance = leg_length(distances, current, node)
            # Removal leaves `unserved` unordered, so ties compare indices.
            if distance > shortest or (distance == shortest and node > unserved[chosen]):
                continue
            if times is not None:
                ready, due, service = times
                start = max(time + distance, ready[node])
                back = start + service[node] + leg_length(distances, node, 0)
                if start > due[node] or back > due[0]:
                    continue
            shortest = distance
            chosen = place
        if chosen < 0:
            routes += 1
            current = 0
            rest = capacity
            time = 0.0 if times is None else times[0][0]
            continue
        current = unserved[chosen]
        rest -= demands[current]
        if times is not None:
            time = max(time + shortest, times[0][current]) + times[2][current]
        values[customers - left] = current
        lengths[routes] += 1
        left -= 1
        unserved[chosen] = unserved[left]
    return lengths[: routes + 1], values


@njit(cache=True, nogil=True)
def neighbouring_pairs(neighbours: Any, lengths: Any) -> Any:
    """Return the pairs i < j of customers where one is in the neighbour list of the other.

    Parameters
    ----------
    neighbours
        Shape (n, k), nearest first, perhaps with the customer itself; entry i is customer i + 1.
    lengths
        Distances to the neighbours, shape (n, k), equal in both directions.

    Returns
    -------
    The start of the pairs of each i, shape (n + 2,), and their j one after another, ascending.
    """
    customers, count = neighbours.shape
    begins = np.zeros(customers + 2, np.int64)
    ends = np.empty(0, np.int32)
    # Counted first, so that memory holds each pair once.
    for filling in (False, True):
        if filling:
            begins[1:] = np.cumsum(begins)[:-1]
            ends = np.empty(begins[customers + 1], np.int32)
        for i in range(customers):
            for place in range(count):
                j = neighbours[i, place]
                # If each is in the list of the other, the pair is added at the lower one.
                if j == i or (j < i and _is_near(neighbours, lengths, j, i, lengths[i, place])):
                    continue
                low = min(i, j) + 1
                if filling:
                    ends[begins[low]] = max(i, j) + 1
                begins[low] += 1
    # Each entry is now the end of its pairs, which is the beginning of the next ones.
    begins[1:] = begins[:-1].copy()
    begins[0] = 0
    for i in range(customers + 1):
        ends[begins[i] : begins[i + 1]].sort()
    return begins, ends


@njit(cache=True, nogil=True)
def _is_near(neighbours: Any, lengths: Any, customer: int, other: int, distance: float) -> bool:
    """Return whether ``other``, at ``distance``, is among the nearest of ``customer``."""
    last = neighbours.shape[1] - 1
    farthest = lengths[customer, last]
    if distance < farthest * (1.0 - 1e-9):
        return True
    if distance > farthest * (1.0 + 1e-9):
        return False
    # Of several customers at the same distance, the list may hold only some.
    found = False
    for place in range(last + 1):
        found |= neighbours[customer, place] == other
    return found


@njit(cache=True, nogil=True)
def paid_savings(distances: Any, begins: Any, ends: Any) -> Any:
    """Return the pairs (i, j) of positive saving, and -(c(0, i) + c(0, j) - c(i, j)) of each.

    Parameters
    ----------
    begins, ends
        As :func:`neighbouring_pairs` returns them.
    """
    low = np.empty(len(ends), np.int32)
    high = np.empty(len(ends), np.int32)
    losses = np.empty(len(ends))
    count = 0
    for i in range(1, len(begins) - 1):
        depot_distance = leg_length(distances, 0, i)
        for place in range(begins[i], begins[i + 1]):
            j = ends[place]
            saving = depot_distance + leg_length(distances, 0, j) - leg_length(distances, i, j)
            if saving > 0.0:
                low[count] = i
                high[count] = j
                losses[count] = -saving
                count += 1
    return low[:count], high[:count], losses[:count]


@njit(cache=True, nogil=True)
def joined_routes(starts: Any, ends: Any, demands: Any, capacity: int) -> Any:
    """Join routes of one customer each end to end, trying the pairs in the given order.

    Returns
    -------
    Lengths of the routes, and their customers one after another; a route runs
    from its end of lower index, and the routes are in order of those ends.
    """
    size = len(demands)
    # The neighbours of each customer in its route, 0 where the route ends.
    neighbours = np.zeros((size, 2), np.int64)
    # Kept up to date at the ends of routes only.
    other_end = np.arange(size)
    load = demands.copy()
    for pair in range(len(starts)):
        i = starts[pair]
        j = ends[pair]
        if neighbours[i, 1] != 0 or neighbours[j, 1] != 0 or other_end[i] == j:
            continue
        total = load[i] + load[j]
        if total > capacity:
            continue
        neighbours[i, 1 if neighbours[i, 0] != 0 else 0] = j
        neighbours[j, 1 if neighbours[j, 0] != 0 else 0] = i
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
        if neighbours[end, 1] != 0 or other_end[end] < end:
            continue
        previous = 0
        node = end
        while node != 0:
            values[filled] = node
            filled += 1
            lengths[routes] += 1
            following = neighbours[node, 0]
            if following == previous:
                following = neighbours[node, 1]
            previous = node
            node = following
        routes += 1
    return lengths[:routes], values
