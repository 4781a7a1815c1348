"""Φ of a run of the tour."""

import numpy as np

from specahd.problems.tsp.instance import Solution, TSPInstance
from specahd.routing.base import FloatArray, Region
from specahd.routing.geometry import Convention, path_length
from specahd.routing.kernels.segments import SEGMENT_NAMES, describe_segment

NAMES = SEGMENT_NAMES


def describe(instance: TSPInstance, solution: Solution, region: Region) -> FloatArray:
    """Return the raw coordinates, one float per name of :data:`NAMES`."""
    walk = np.array([*solution, solution[0]], np.int64)
    tour_edge = path_length(instance.coords, walk, Convention.EXACT_2D) / len(solution)
    nodes = np.array(region.nodes, np.int64)
    descriptor: FloatArray = describe_segment(
        instance.coords, instance.centre, instance.spread, tour_edge, nodes
    )
    return descriptor
