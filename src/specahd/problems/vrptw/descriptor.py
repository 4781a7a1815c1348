"""Descriptor Φ of a group of customers: shared coordinates of vehicle problems, and times."""

import numpy as np

from specahd.problems.vrptw.instance import VRPTWInstance
from specahd.routing.base import FloatArray, Region
from specahd.routing.groups import concatenated
from specahd.routing.kernels.distances import distances_of
from specahd.routing.kernels.timed_descriptors import TIME_NAMES, describe_times
from specahd.routing.vehicles import descriptor
from specahd.routing.vehicles.routes import Solution

_SHARED = tuple(name for name in descriptor.NAMES if name != "demand_variation")
"""Shared coordinates without one: a descriptor has at most 16, and times describe more than it."""
_KEPT = [descriptor.NAMES.index(name) for name in _SHARED]

NAMES = (*_SHARED, *TIME_NAMES)


def describe(instance: VRPTWInstance, solution: Solution, region: Region) -> FloatArray:
    """Return the raw coordinates, one float per name of :data:`NAMES`."""
    shared = descriptor.describe(instance, solution, region)
    windows = instance.windows
    times = describe_times(
        distances_of(instance.coords, instance.measure, instance.matrix),
        windows.ready,
        windows.due,
        windows.service,
        np.array(region.nodes, np.int64),
        *concatenated(descriptor.touched_routes(solution, region)),
    )
    return np.concatenate((shared[_KEPT], times))
