"""Descriptor Φ of a region: a run of the tour, or a group of nodes anywhere on it."""

import numpy as np

from specahd.problems.tsp.instance import Solution, TSPInstance
from specahd.routing.base import FloatArray, IntArray, Region
from specahd.routing.geometry import Convention, path_length
from specahd.routing.kernels.segments import (
    SCATTERED_NAMES,
    SEGMENT_NAMES,
    describe_scattered,
    describe_segment,
)

NAMES = SEGMENT_NAMES
GROUP_NAMES = SCATTERED_NAMES


def describe(instance: TSPInstance, solution: Solution, region: Region) -> FloatArray:
    """Return the raw coordinates of a run, one float per name of :data:`NAMES`."""
    _, tour_edge = _tour(instance, solution)
    nodes = np.array(region.nodes, np.int64)
    descriptor: FloatArray = describe_segment(
        instance.coords, instance.centre, instance.spread, tour_edge, nodes
    )
    return descriptor


def describe_group(instance: TSPInstance, solution: Solution, region: Region) -> FloatArray:
    """Return the raw coordinates of a group, one float per name of :data:`GROUP_NAMES`."""
    tour, tour_edge = _tour(instance, solution)
    nodes = np.array(region.nodes, np.int64)
    descriptor: FloatArray = describe_scattered(
        instance.coords, instance.centre, instance.spread, tour_edge, tour, nodes
    )
    return descriptor


def _tour(instance: TSPInstance, solution: Solution) -> tuple[IntArray, float]:
    """Return the nodes of a tour in its order, and its mean edge length."""
    walk = np.array([*solution, solution[0]], np.int64)
    length = path_length(instance.coords, walk, Convention.EXACT_2D)
    return walk[:-1], length / len(solution)
