"""Compiled constructions of depot routes.

The first arguments of all but the parts of savings are the fields of
:class:`specahd.routing.vehicles.instance.Kernel`. What an instance lacks is None: numba compiles a
function for that type, from which it leaves out what is done with the field.
"""

from typing import Any

import numpy as np

from specahd.core.loop_cache import njit
from specahd.routing.kernels.distances import leg_length


@njit(cache=True, nogil=True)
def nearest_routes(distances: Any, demands: Any, capacity: int, times: Any) -> Any:
    """Build routes one after another, each time visiting the nearest customer that fits.

    Ties go to the lowest index; a route closes when no customer fits. Times are summed leg by leg
    from the depot, in the order in which the checkers sum them. A customer fits if its window is
    open on arrival or later, and time is left to return to the depot. Each customer must be
    feasible on a route of its own.

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
def joined_routes(
    distances: Any, demands: Any, capacity: int, times: Any, starts: Any, ends: Any
) -> Any:
    """Join routes of one customer each end to end, trying the pairs in the given order.

    Times are not looked at.

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


@njit(cache=True, nogil=True)
def nearest_deliveries(distances: Any, demands: Any, capacity: int, times: Any) -> Any:
    """Build full loads one after another, each time visiting the nearest waiting customer.

    Each customer receives the rest of the load, or its remaining demand if that is
    less. Ties go to the lowest index. Times are not looked at.

    Returns
    -------
    Lengths of the routes, their customers one after another, and the quantity
    of each visit.
    """
    waiting = len(demands) - 1
    # Every delivery completes a demand or uses up a load.
    most = waiting + demands.sum() // capacity + 1
    values = np.empty(most, np.int64)
    quantities = np.empty(most, np.int64)
    lengths = np.zeros(most, np.int64)
    unserved = np.arange(1, waiting + 1)
    residual = demands.copy()
    stops = 0
    routes = 0
    current = 0
    rest = capacity
    while waiting > 0:
        if rest == 0:
            routes += 1
            current = 0
            rest = capacity
        chosen = 0
        shortest = np.inf
        for place in range(waiting):
            node = unserved[place]
            distance = leg_length(distances, current, node)
            # Removal leaves `unserved` unordered, so ties compare indices.
            if distance < shortest or (distance == shortest and node < unserved[chosen]):
                shortest = distance
                chosen = place
        current = unserved[chosen]
        quantity = min(residual[current], rest)
        values[stops] = current
        quantities[stops] = quantity
        lengths[routes] += 1
        stops += 1
        rest -= quantity
        residual[current] -= quantity
        if residual[current] == 0:
            waiting -= 1
            unserved[chosen] = unserved[waiting]
    return lengths[: routes + 1], values[:stops], quantities[:stops]


@njit(cache=True, nogil=True)
def inserted_routes(
    distances: Any,
    demands: Any,
    capacity: int,
    times: Any,
    margin: float,
    by_deadline: bool,
    reward: float,
    patience: float,
) -> Any:
    """Build routes one after another by insertion: Solomon's I1 (1987), with mu = 1.

    A route opens with the unserved customer farthest from the depot, or with the one
    whose window closes first. The cost of a place in the route is ``1 - patience`` times
    the detour plus ``patience`` times the delay of the customer after it, and each
    unserved customer takes its cheapest place. The customer with the largest ``reward``
    times depot distance minus this cost is inserted. Ties go to the lowest index and to
    the earliest place.

    Parameters
    ----------
    margin
        Least time between every start of service and its deadline: 0 if sums are
        exact, else more than their rounding error.

    Returns
    -------
    Lengths of the routes, and their customers one after another.
    """
    ready, due, service = times
    customers = len(demands) - 1
    values = np.empty(customers, np.int64)
    lengths = np.zeros(customers, np.int64)
    served = np.zeros(customers + 1, np.bool_)
    # The route from depot to depot, departure from each stop, and latest start of its service.
    stops = np.zeros(customers + 2, np.int64)
    leave = np.zeros(customers + 2)
    latest = np.zeros(customers + 2)
    leave[0] = ready[0]
    filled = 0
    routes = 0
    while filled < customers:
        node = 0
        for other in range(1, customers + 1):
            if served[other]:
                continue
            first = (
                due[other] < due[node]
                if by_deadline
                else leg_length(distances, 0, other) > leg_length(distances, 0, node)
            )
            if node == 0 or first:
                node = other
        place = 1
        length = 0
        load = 0
        while node != 0:
            served[node] = True
            load += demands[node]
            for later in range(length, place - 1, -1):
                stops[later + 1] = stops[later]
            stops[place] = node
            length += 1
            stops[length + 1] = 0
            _schedule(distances, ready, due, service, stops, leave, latest, length)
            node, place = _best_insertion(
                distances,
                demands,
                capacity - load,
                ready,
                due,
                service,
                margin,
                reward,
                patience,
                served,
                stops,
                leave,
                latest,
                length,
            )
        for step in range(1, length + 1):
            values[filled] = stops[step]
            filled += 1
        lengths[routes] = length
        routes += 1
    return lengths[:routes], values


@njit(cache=True, nogil=True)
def _schedule(
    distances: Any,
    ready: Any,
    due: Any,
    service: Any,
    stops: Any,
    leave: Any,
    latest: Any,
    length: int,
) -> None:
    """Write the departure from each stop of the route, and the latest start of its service."""
    for step in range(1, length + 1):
        node = stops[step]
        leave[step] = (
            max(leave[step - 1] + leg_length(distances, stops[step - 1], node), ready[node])
            + service[node]
        )
    latest[length + 1] = due[0]
    for step in range(length, 0, -1):
        node = stops[step]
        latest[step] = min(
            due[node],
            latest[step + 1] - leg_length(distances, node, stops[step + 1]) - service[node],
        )


@njit(cache=True, nogil=True)
def _best_insertion(
    distances: Any,
    demands: Any,
    rest: int,
    ready: Any,
    due: Any,
    service: Any,
    margin: float,
    reward: float,
    patience: float,
    served: Any,
    stops: Any,
    leave: Any,
    latest: Any,
    length: int,
) -> Any:
    """Return the customer to insert and its place; the customer is 0 if none can be inserted."""
    chosen = 0
    chosen_place = 0
    largest = -np.inf
    for node in range(1, len(demands)):
        if served[node] or demands[node] > rest:
            continue
        cheapest = np.inf
        cheapest_place = 0
        for place in range(1, length + 2):
            start = max(
                leave[place - 1] + leg_length(distances, stops[place - 1], node), ready[node]
            )
            # Every later place leaves after this one.
            if leave[place - 1] > due[node]:
                break
            if start > due[node] - margin:
                continue
            after = stops[place]
            arrival = start + service[node] + leg_length(distances, node, after)
            if after != 0:
                arrival = max(arrival, ready[after])
            if arrival > latest[place] - margin:
                continue
            before = leave[place - 1] + leg_length(distances, stops[place - 1], after)
            if after != 0:
                before = max(before, ready[after])
            detour = (
                leg_length(distances, stops[place - 1], node)
                + leg_length(distances, node, after)
                - leg_length(distances, stops[place - 1], after)
            )
            cost = (1.0 - patience) * detour + patience * (arrival - before)
            if cost < cheapest:
                cheapest = cost
                cheapest_place = place
        if cheapest_place == 0:
            continue
        gain = reward * leg_length(distances, 0, node) - cheapest
        if gain > largest:
            largest = gain
            chosen = node
            chosen_place = cheapest_place
    return chosen, chosen_place
