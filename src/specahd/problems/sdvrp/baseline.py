"""Baseline solvers B: deterministic, always feasible."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from specahd.core.errors import ConfigError
from specahd.core.loop_cache import njit
from specahd.problems.sdvrp.instance import Delivery, SDVRPInstance, Solution, joined
from specahd.routing.base import IntArray
from specahd.routing.groups import nested
from specahd.routing.kernels.construction import nearest_routes
from specahd.routing.kernels.distances import distances_of, leg_length, whole_matrix
from specahd.routing.vehicles import solver

PERCENTS = (20, 10, 5, 1)
"""Sizes of the pieces that ``splitting`` cuts demands into, in percent of the capacity."""


def nearest(instance: SDVRPInstance) -> Solution:
    """Go to the nearest unserved customer and deliver all that fits, until the vehicle is empty.

    Ties go to the lowest index. O(n) per delivery, without a matrix.
    """
    distances = distances_of(instance.coords, instance.convention, instance.matrix)
    lengths, customers, quantities = nearest_deliveries(
        distances, instance.demands, instance.capacity
    )
    return tuple(
        tuple(map(Delivery, *route))
        for route in zip(nested(lengths, customers), nested(lengths, quantities), strict=True)
    )


def unsplit(instance: SDVRPInstance) -> Solution:
    """Go to the nearest customer whose whole demand fits, until none does, as in the CVRP.

    Only a demand above the capacity is split: full loads go directly to the
    customer, one per route; then the rest is routed.
    """
    loads, rests = np.divmod(instance.demands, instance.capacity)
    waiting = np.concatenate(([0], np.flatnonzero(rests)))
    matrix = None
    if instance.matrix is not None:
        matrix = np.ascontiguousarray(instance.matrix[np.ix_(waiting, waiting)])
    distances = distances_of(instance.coords[waiting], instance.convention, matrix)
    routes = nested(*nearest_routes(distances, rests[waiting], instance.capacity))
    customers, lacking = waiting.tolist(), rests[waiting].tolist()
    direct = np.repeat(np.arange(len(loads)), loads).tolist()
    return (
        *((Delivery(customer, instance.capacity),) for customer in direct),
        *(tuple(Delivery(customers[node], lacking[node]) for node in route) for route in routes),
    )


MOST_PIECES = 20_000
"""Maximum number of pieces of ``splitting``; their distance matrix takes 3 GB."""


def splitting(instance: SDVRPInstance, iterations: int) -> Solution:
    """Cut the demands into pieces beforehand and solve the CVRP over the pieces.

    The pieces are those of the 20/10/5/1 rule (Chen, Golden, Wang and Wasil
    2017). PyVRP routes them; pieces of one customer that share a route are
    delivered together.

    Parameters
    ----------
    iterations
        Iterations of PyVRP's local search, at least 1.

    Raises
    ------
    ConfigError
        There are more pieces than :data:`MOST_PIECES`.
    NotEnoughMemory
        The distance matrices of the pieces would not fit into memory.
    """
    owners, pieces = cut(instance.demands, instance.capacity)
    if len(pieces) > MOST_PIECES:
        raise ConfigError(
            f"{instance.name}: baseline splitting makes {len(pieces)} pieces, "
            f"expected at most {MOST_PIECES}; choose another baseline."
        )
    matrix = None if instance.matrix is None else instance.matrix[np.ix_(owners, owners)]
    routes = solver.solve(
        distances=whole_matrix(
            instance.coords[owners],
            instance.convention,
            matrix,
            f"The baseline splitting of {instance.name}",
            solver.MATRICES,
        ),
        demands=pieces,
        capacity=instance.capacity,
        iterations=iterations,
        seed=0,
    )
    customers, quantities = owners.tolist(), pieces.tolist()
    return tuple(
        joined((customers[piece], quantities[piece]) for piece in route) for route in routes
    )


def cut(
    demands: IntArray, capacity: int, percents: Sequence[int] = PERCENTS
) -> tuple[IntArray, IntArray]:
    """Cut each demand into pieces of 20, then 10, 5 and 1 percent of the capacity.

    There are as many pieces of each size as fit; sizes are used in the order of ``percents``. A
    size is rounded down to units, but at least 1. The remainder of a demand is its last piece.

    Returns
    -------
    The node and the size of each piece; the first piece is the depot's, of size 0.
    """
    owners, pieces = [0], [0]
    sizes = [max(1, capacity * percent // 100) for percent in percents]
    for customer, demand in enumerate(demands.tolist()[1:], start=1):
        left = demand
        for size in sizes:
            count, left = divmod(left, size)
            owners += [customer] * count
            pieces += [size] * count
        if left:
            owners.append(customer)
            pieces.append(left)
    return np.array(owners), np.array(pieces)


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
