"""Construction of depot routes whose deliveries may be split."""

from typing import Any

import numpy as np

from specahd.core.loop_cache import njit
from specahd.routing.kernels.distances import leg_length


@njit(cache=True, nogil=True)
def nearest_deliveries(distances: Any, demands: Any, capacity: int) -> Any:
    """Build full loads one after another, each time visiting the nearest waiting customer.

    Each customer receives the rest of the load, or its remaining demand if that is
    less. Ties go to the lowest index.

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
