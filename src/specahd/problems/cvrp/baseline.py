"""Baseline solvers B: deterministic, always feasible."""

import numpy as np
from scipy.spatial import cKDTree

from specahd.problems.cvrp.instance import CVRPInstance
from specahd.routing.base import FloatArray, IntArray
from specahd.routing.distances import is_computed
from specahd.routing.groups import nested
from specahd.routing.kernels.construction import (
    joined_routes,
    nearest_routes,
    neighbouring_pairs,
    paid_savings,
)
from specahd.routing.kernels.distances import distances_of, whole_matrix
from specahd.routing.vehicles import solver
from specahd.routing.vehicles.routes import Solution

NEIGHBOURS = 100
"""Number of neighbours of each customer that ``savings`` considers."""
FEW_NEIGHBOURS = 40
"""The same number if distances are computed on the fly: time and memory are linear in it."""


def nearest(instance: CVRPInstance) -> Solution:
    """Go from the depot to the nearest unserved customer that fits, until none does.

    Ties go to the lowest index. O(n^2), without a matrix.
    """
    distances = distances_of(instance.coords, instance.convention, instance.matrix)
    return nested(*nearest_routes(distances, instance.demands, instance.capacity))


def savings(instance: CVRPInstance) -> Solution:
    """Join routes by largest saving first (Clarke and Wright 1964, the parallel version).

    Only pairs in which one customer is among the :data:`NEIGHBOURS` nearest of the other are
    considered (:data:`FEW_NEIGHBOURS` if n is large), so the whole takes O(n log n). Ties
    go to the lower indices.
    """
    distances = distances_of(instance.coords, instance.convention, instance.matrix)
    starts, ends, losses = paid_savings(distances, *neighbouring_pairs(*_nearest(instance)))
    # Pairs come in lexicographic order, which a stable sort keeps among equals.
    order = np.argsort(losses, kind="stable")
    del losses
    return nested(*joined_routes(starts[order], ends[order], instance.demands, instance.capacity))


def pyvrp(instance: CVRPInstance, iterations: int) -> Solution:
    """Run PyVRP for the given number of iterations.

    Raises
    ------
    NotEnoughMemory
        The distance matrices that it needs would not fit into memory.
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


def _nearest(instance: CVRPInstance) -> tuple[IntArray, FloatArray]:
    """Return the nearest customers of each customer, perhaps with itself, and their distances."""
    many = is_computed(instance.size + 1, instance.matrix)
    # The nearest points of a customer include itself.
    count = min((FEW_NEIGHBOURS if many else NEIGHBOURS) + 1, instance.size)
    if instance.matrix is None:
        points = instance.coords[1:]
        distances, neighbours = cKDTree(points).query(points, k=np.arange(1, count + 1))
    else:
        among = instance.matrix[1:, 1:]
        neighbours = np.argsort(among, axis=1, kind="stable")[:, :count]
        distances = np.take_along_axis(among, neighbours, 1)
    return np.asarray(neighbours), np.asarray(distances)
