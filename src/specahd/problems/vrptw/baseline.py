"""Baseline solvers B: deterministic, always feasible."""

from collections.abc import Iterable
from itertools import chain, product

import numpy as np

from specahd.engine.timed_construction import inserted
from specahd.problems.vrptw.checker import cost
from specahd.problems.vrptw.instance import VRPTWInstance
from specahd.routing.base import FloatArray
from specahd.routing.distances import ComputedDistances, is_computed
from specahd.routing.geometry import Convention
from specahd.routing.geometry import distances as distances_between
from specahd.routing.groups import nested, separated
from specahd.routing.kernels.distances import distances_of, whole_matrix
from specahd.routing.kernels.timed_construction import inserted_routes, nearest_timed_routes
from specahd.routing.vehicles import solver
from specahd.routing.vehicles.routes import Solution

_ROUNDING = 1e-9
"""Upper bound of the relative error of a sum with as many terms as a route has legs."""


def nearest(instance: VRPTWInstance) -> Solution:
    """Go from the depot to the nearest unserved customer that fits in time, until none does.

    Ties go to the lowest index. O(n^2), without a matrix.
    """
    windows = instance.windows
    return nested(
        *nearest_timed_routes(
            distances_of(instance.coords, instance.measure, instance.matrix),
            instance.demands,
            instance.capacity,
            windows.ready,
            windows.due,
            windows.service,
        )
    )


def insertion(instance: VRPTWInstance) -> Solution:
    """Return the cheapest of eight runs of Solomon's insertion heuristic I1 (1987).

    The runs open routes with the farthest customer or with the one whose window
    closes first, and use the four settings of lambda and alpha in Solomon's study.
    """
    windows = instance.windows
    rows: FloatArray | ComputedDistances
    if is_computed(instance.size + 1, instance.matrix):
        distances = distances_of(instance.coords, instance.measure, None)
        rows = ComputedDistances(instance.coords, instance.coords, instance.measure)
    else:
        # Distances are read so often that a matrix pays.
        distances = rows = _matrix(instance, "insertion")
    margin = 0.0 if _integral(instance, rows) else _ROUNDING * windows.due[0]
    solutions = [
        nested(
            *inserted_routes(
                distances,
                instance.demands,
                instance.capacity,
                windows.ready,
                windows.due,
                windows.service,
                margin,
                by_deadline,
                reward,
                patience,
            )
        )
        for by_deadline, reward, patience in product((False, True), (1.0, 2.0), (0.0, 1.0))
    ]
    return min(solutions, key=lambda solution: cost(instance, solution))


def cheapest(instance: VRPTWInstance) -> Solution:
    """Insert each customer where the detour is least, the farthest from the depot first.

    Only places next to a customer's nearest neighbours in distance and time, and a new route,
    are considered, so the whole takes O(n log n), without a matrix. Ties go to the lowest
    index and to the nearest neighbour.
    """
    if instance.matrix is None:
        depot_distances = distances_between(instance.coords[0], instance.coords, instance.measure)
    else:
        depot_distances = instance.matrix[0]
    order = 1 + np.argsort(-depot_distances[1:], kind="stable")
    # To find out whether unrounded distances are integers, all would have to be computed.
    unrounded = instance.measure is Convention.EXACT_2D
    exact = not unrounded and _integral(
        instance, () if instance.matrix is None else instance.matrix
    )
    margin = 0.0 if exact else _ROUNDING * float(instance.windows.due[0])
    return separated(inserted(instance, order, margin))


def pyvrp(instance: VRPTWInstance, iterations: int) -> Solution:
    """Run PyVRP for the given number of iterations.

    Raises
    ------
    NotEnoughMemory
        The distance matrices that it needs would not fit into memory.
    """
    windows = instance.windows
    return solver.solve(
        distances=_matrix(instance, "pyvrp", solver.MATRICES),
        demands=instance.demands,
        capacity=instance.capacity,
        iterations=iterations,
        seed=0,
        ready=windows.ready,
        due=windows.due,
        service=windows.service,
    )


def _matrix(instance: VRPTWInstance, baseline: str, copies: int = 1) -> FloatArray:
    who = f"The baseline {baseline} of {instance.name}"
    return whole_matrix(instance.coords, instance.measure, instance.matrix, who, copies)


def _integral(instance: VRPTWInstance, distances: Iterable[FloatArray]) -> bool:
    """Return whether all sums of distances, given row by row, and of times are exact."""
    windows = instance.windows
    times = (windows.ready, windows.due, windows.service)
    rounded = instance.measure not in (Convention.EXACT_2D, Convention.EXPLICIT)
    arrays = times if rounded else chain(times, distances)
    return all(np.array_equal(np.rint(array), array) for array in arrays)
