"""Baseline solvers B: deterministic, always feasible."""

from collections.abc import Iterable
from itertools import chain, product

import numpy as np

from specahd.routing.base import FloatArray
from specahd.routing.distances import ComputedDistances, is_computed
from specahd.routing.geometry import Convention
from specahd.routing.groups import nested, separated
from specahd.routing.kernels.construction import inserted_routes
from specahd.routing.vehicles.feasibility import cost
from specahd.routing.vehicles.instance import VehicleInstance
from specahd.routing.vehicles.routes import Solution

_ROUNDING = 1e-9
"""Upper bound of the relative error of a sum with as many terms as a route has legs."""


def insertion(instance: VehicleInstance) -> Solution:
    """Return the cheapest of eight runs of Solomon's insertion heuristic I1 (1987).

    The runs open routes with the farthest customer or with the one whose window
    closes first, and use the four settings of lambda and alpha in Solomon's study.
    """
    kernel = instance.kernel
    rows: FloatArray | ComputedDistances
    if is_computed(instance.size + 1, instance.matrix):
        rows = ComputedDistances(instance.coords, instance.coords, instance.measure)
    else:
        # Distances are read so often that a matrix pays.
        rows = instance.whole_matrix("insertion")
        kernel = kernel._replace(distances=rows)
    margin = _margin(instance, rows)
    solutions = [
        nested(*inserted_routes(*kernel, margin, by_deadline, reward, patience))
        for by_deadline, reward, patience in product((False, True), (1.0, 2.0), (0.0, 1.0))
    ]
    return min(solutions, key=lambda solution: cost(instance, solution))


def cheapest(instance: VehicleInstance) -> Solution:
    """Insert each customer where the detour is least, the farthest from the depot first.

    Only places next to a customer's nearest neighbours in distance and time, and a new route,
    are considered, so the whole takes O(n log n), without a matrix. Ties go to the lowest
    index and to the nearest neighbour.
    """
    # It imports the engine's loops, which small instances do not need.
    from specahd.engine.timed_construction import inserted

    depot_distances = instance.between(0, np.arange(instance.size + 1))
    order = 1 + np.argsort(-depot_distances[1:], kind="stable")
    # To find out whether unrounded distances are integers, all would have to be computed.
    return separated(inserted(instance, order, _margin(instance, instance.matrix)))


def _margin(instance: VehicleInstance, distances: Iterable[FloatArray] | None) -> float:
    """Return 0 if all sums of distances, given row by row, and of times are exact.

    Otherwise, and for unrounded distances that are not given, return more than their rounding
    error.
    """
    windows = instance.windows
    assert windows is not None  # every instance of this problem has windows
    arrays: Iterable[FloatArray] = (windows.ready, windows.due, windows.service)
    if instance.measure in (Convention.EXACT_2D, Convention.EXPLICIT):
        if distances is None:
            return _ROUNDING * float(windows.due[0])
        arrays = chain(arrays, distances, () if instance.durations is None else instance.durations)
    exact = all(np.array_equal(np.rint(array), array) for array in arrays)
    return 0.0 if exact else _ROUNDING * float(windows.due[0])
