"""Baseline solvers B: deterministic, always feasible."""

import numpy as np
from scipy.spatial import cKDTree

from specahd.problems.cvrp.instance import CVRPInstance
from specahd.routing.base import IntArray
from specahd.routing.groups import nested
from specahd.routing.kernels.construction import (
    joined_routes,
    nearest_routes,
    pair_savings,
)
from specahd.routing.kernels.distances import distances_of, whole_matrix
from specahd.routing.vehicles import solver
from specahd.routing.vehicles.routes import Solution

NEIGHBOURS = 100
"""How many neighbours of each customer ``savings`` considers."""


def nearest(instance: CVRPInstance) -> Solution:
    """Go from the depot to the nearest unserved customer that fits, until nothing does.

    Ties go to the lowest index. O(n^2), without a matrix.
    """
    distances = distances_of(instance.coords, instance.convention, instance.matrix)
    return nested(*nearest_routes(distances, instance.demands, instance.capacity))


def savings(instance: CVRPInstance) -> Solution:
    """Join routes by largest saving first (Clarke and Wright 1964, the parallel version).

    Only pairs in which one customer is among the :data:`NEIGHBOURS` nearest of
    the other are considered, so the whole takes O(n log n). Ties go to the
    lower indices.
    """
    starts, ends = _neighbouring_pairs(instance)
    distances = distances_of(instance.coords, instance.convention, instance.matrix)
    gains = pair_savings(distances, starts, ends)
    # Pairs come in lexicographic order, which a stable sort keeps among equals.
    order = np.argsort(-gains, kind="stable")
    order = order[gains[order] > 0]
    return nested(*joined_routes(starts[order], ends[order], instance.demands, instance.capacity))


def pyvrp(instance: CVRPInstance, iterations: int) -> Solution:
    """Run PyVRP for so many iterations.

    Raises
    ------
    NotEnoughMemory
        The distance matrices that it needs would not fit.
    """
    return solver.solve(
        distances=whole_matrix(
            instance.coords,
            instance.convention,
            instance.matrix,
            f"The baseline pyvrp of {instance.name}",
            solver.MATRICES,
        ),
        demands=instance.demands,
        capacity=instance.capacity,
        iterations=iterations,
        seed=0,
    )


def _neighbouring_pairs(instance: CVRPInstance) -> tuple[IntArray, IntArray]:
    """Return the pairs i < j, one among the nearest of the other, in lexicographic order."""
    # Among its nearest points a customer finds itself.
    count = min(NEIGHBOURS + 1, instance.size)
    if instance.matrix is None:
        points = instance.coords[1:]
        neighbours = cKDTree(points).query(points, k=np.arange(1, count + 1))[1]
    else:
        neighbours = np.argsort(instance.matrix[1:, 1:], axis=1, kind="stable")[:, :count]
    owners = np.repeat(np.arange(1, instance.size + 1), count)
    others = neighbours.ravel() + 1
    low = np.minimum(owners, others)
    high = np.maximum(owners, others)
    keys = np.unique((low * (instance.size + 1) + high)[low < high])
    starts, ends = np.divmod(keys, instance.size + 1)
    return starts, ends
