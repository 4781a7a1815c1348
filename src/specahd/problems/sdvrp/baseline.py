"""Baseline solvers B: deterministic, always feasible."""

from collections.abc import Sequence

import numpy as np

from specahd.core.errors import ConfigError
from specahd.routing.base import IntArray
from specahd.routing.groups import nested
from specahd.routing.kernels.construction import nearest_deliveries
from specahd.routing.vehicles import baselines
from specahd.routing.vehicles.instance import VehicleInstance
from specahd.routing.vehicles.routes import Delivery, SplitSolution, joined

PERCENTS = (20, 10, 5, 1)
"""Sizes of the pieces that ``splitting`` cuts demands into, in percent of the capacity."""


def nearest(instance: VehicleInstance) -> SplitSolution:
    """Go to the nearest unserved customer and deliver all that fits, until the vehicle is empty.

    Ties go to the lowest index. O(n) per delivery, without a matrix.
    """
    lengths, customers, quantities = nearest_deliveries(*instance.kernel)
    return tuple(
        tuple(map(Delivery, *route))
        for route in zip(nested(lengths, customers), nested(lengths, quantities), strict=True)
    )


def unsplit(instance: VehicleInstance) -> SplitSolution:
    """Go to the nearest customer whose whole demand fits, until none does, as in the CVRP.

    Only a demand above the capacity is split: full loads go directly to the
    customer, one per route; then the rest is routed.
    """
    loads, rests = np.divmod(instance.demands, instance.capacity)
    waiting = np.concatenate(([0], np.flatnonzero(rests)))
    routes = baselines.nearest(instance.at(waiting, rests[waiting]))
    customers, lacking = waiting.tolist(), rests[waiting].tolist()
    direct = np.repeat(np.arange(len(loads)), loads).tolist()
    return (
        *((Delivery(customer, instance.capacity),) for customer in direct),
        *(tuple(Delivery(customers[node], lacking[node]) for node in route) for route in routes),
    )


MOST_PIECES = 20_000
"""Maximum number of pieces of ``splitting``; their distance matrix takes 3 GB."""


def splitting(instance: VehicleInstance, iterations: int) -> SplitSolution:
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
    routes = baselines.pyvrp(instance.at(owners, pieces), iterations, baseline="splitting")
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
