"""Descriptor Φ of a region: the coordinates of all vehicle problems, and two of the SDVRP."""

import math

import numpy as np

from specahd.problems.sdvrp.deliveries import Solution, quantities, stops
from specahd.problems.sdvrp.instance import SDVRPInstance
from specahd.routing.base import FloatArray, Region
from specahd.routing.groups import concatenated, nested
from specahd.routing.vehicles import descriptor

NAMES = (*descriptor.NAMES, "customer_demand", "log_splits")
"""Names of the coordinates. ``customer_demand`` is the mean demand of the region's customers over
the capacity, ``log_splits`` the logarithm of the mean number of deliveries to one of them."""


def describe(instance: SDVRPInstance, solution: Solution, region: Region) -> FloatArray:
    """Return the raw coordinates, one float per name of :data:`NAMES`.

    In the shared coordinates every delivery counts as a separate node. It has the
    customer's position, and its demand is the quantity delivered.
    """
    members = set(region.nodes)
    touched = tuple(
        route for route in solution if any(customer in members for customer, _ in route)
    )
    lengths, customers = concatenated(stops(touched))
    _, given = concatenated(quantities(touched, instance.demands))
    inside = np.flatnonzero(np.isin(customers, region.nodes)) + 1
    shared = descriptor.describe_nodes(
        np.concatenate((instance.coords[:1], instance.coords[customers])),
        np.concatenate((instance.demands[:1], given)),
        instance.capacity,
        instance.spread,
        nested(lengths, np.arange(1, len(customers) + 1)),
        Region(tuple(inside.tolist())),
    )
    demand = instance.demands[list(region.nodes)].mean() / instance.capacity
    return np.append(shared, (demand, math.log(len(inside) / len(region.nodes))))
