"""Descriptor Φ of a group of customers: the coordinates that vehicle problems share."""

import numpy as np

from specahd.routing.base import FloatArray, IntArray, Region
from specahd.routing.groups import concatenated
from specahd.routing.kernels.descriptors import GROUP_NAMES, describe_group
from specahd.routing.vehicles.instance import VehicleInstance
from specahd.routing.vehicles.routes import Solution

NAMES = GROUP_NAMES


def touched_routes(solution: Solution, region: Region) -> list[tuple[int, ...]]:
    """Return the routes that visit some customer of the region."""
    members = set(region.nodes)
    return [route for route in solution if not members.isdisjoint(route)]


def describe(instance: VehicleInstance, solution: Solution, region: Region) -> FloatArray:
    """Return the raw coordinates, one float per name of :data:`NAMES`."""
    return describe_nodes(
        instance.coords, instance.demands, instance.capacity, instance.spread, solution, region
    )


def describe_nodes(
    coords: FloatArray,
    demands: IntArray,
    capacity: int,
    spread: float,
    solution: Solution,
    region: Region,
) -> FloatArray:
    """Return the raw coordinates of a region of any nodes with demands.

    Parameters
    ----------
    spread
        Root mean square distance of all nodes from their centre.
    """
    nodes = np.array(region.nodes, np.int64)
    routes = concatenated(touched_routes(solution, region))
    descriptor: FloatArray = describe_group(coords, demands, capacity, spread, nodes, *routes)
    return descriptor
