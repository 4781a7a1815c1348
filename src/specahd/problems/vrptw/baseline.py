"""Baseline solvers B: deterministic, always feasible."""

from collections.abc import Iterable
from itertools import chain, product
from typing import Any

import numpy as np

from specahd.core.loop_cache import njit
from specahd.engine.timed_construction import inserted
from specahd.problems.vrptw.instance import VRPTWInstance
from specahd.routing.base import FloatArray
from specahd.routing.distances import ComputedDistances, is_computed
from specahd.routing.geometry import Convention
from specahd.routing.geometry import distances as distances_between
from specahd.routing.groups import nested, separated
from specahd.routing.kernels.construction import nearest_routes
from specahd.routing.kernels.distances import distances_of, leg_length, whole_matrix
from specahd.routing.vehicles import solver
from specahd.routing.vehicles.feasibility import routes_length
from specahd.routing.vehicles.routes import Solution

_ROUNDING = 1e-9
"""Upper bound of the relative error of a sum with as many terms as a route has legs."""


def nearest(instance: VRPTWInstance) -> Solution:
    """Go from the depot to the nearest unserved customer that fits in time, until none does.

    Ties go to the lowest index. O(n^2), without a matrix.
    """
    windows = instance.windows
    return nested(
        *nearest_routes(
            distances_of(instance.coords, instance.measure, instance.matrix),
            instance.demands,
            instance.capacity,
            (windows.ready, windows.due, windows.service),
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
    return min(solutions, key=lambda solution: _length(instance, solution))


def _length(instance: VRPTWInstance, solution: Solution) -> float:
    return routes_length(solution, instance.coords, instance.measure, instance.matrix)


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


@njit(cache=True, nogil=True)
def inserted_routes(
    distances: Any,
    demands: Any,
    capacity: int,
    ready: Any,
    due: Any,
    service: Any,
    margin: float,
    by_deadline: bool,
    reward: float,
    patience: float,
) -> Any:
    """Build routes one after another by insertion: Solomon's I1 (1987), with mu = 1.

    A route opens with the unserved customer farthest from the depot, or with the one
    whose window closes first. The cost of a place in the route is ``1 - patience`` times
    the detour plus ``patience`` times the delay of the customer after it, and each
    unserved customer takes its cheapest place. The customer with the largest ``reward``
    times depot distance minus this cost is inserted. Ties go to the lowest index and to
    the earliest place.

    Parameters
    ----------
    margin
        Least time between every start of service and its deadline: 0 if sums are
        exact, else more than their rounding error.

    Returns
    -------
    Lengths of the routes, and their customers one after another.
    """
    customers = len(demands) - 1
    values = np.empty(customers, np.int64)
    lengths = np.zeros(customers, np.int64)
    served = np.zeros(customers + 1, np.bool_)
    # The route from depot to depot, departure from each stop, and latest start of its service.
    stops = np.zeros(customers + 2, np.int64)
    leave = np.zeros(customers + 2)
    latest = np.zeros(customers + 2)
    leave[0] = ready[0]
    filled = 0
    routes = 0
    while filled < customers:
        node = 0
        for other in range(1, customers + 1):
            if served[other]:
                continue
            first = (
                due[other] < due[node]
                if by_deadline
                else leg_length(distances, 0, other) > leg_length(distances, 0, node)
            )
            if node == 0 or first:
                node = other
        place = 1
        length = 0
        load = 0
        while node != 0:
            served[node] = True
            load += demands[node]
            for later in range(length, place - 1, -1):
                stops[later + 1] = stops[later]
            stops[place] = node
            length += 1
            stops[length + 1] = 0
            _schedule(distances, ready, due, service, stops, leave, latest, length)
            node, place = _best_insertion(
                distances,
                demands,
                capacity - load,
                ready,
                due,
                service,
                margin,
                reward,
                patience,
                served,
                stops,
                leave,
                latest,
                length,
            )
        for step in range(1, length + 1):
            values[filled] = stops[step]
            filled += 1
        lengths[routes] = length
        routes += 1
    return lengths[:routes], values


@njit(cache=True, nogil=True)
def _schedule(
    distances: Any,
    ready: Any,
    due: Any,
    service: Any,
    stops: Any,
    leave: Any,
    latest: Any,
    length: int,
) -> None:
    """Write the departure from each stop of the route, and the latest start of its service."""
    for step in range(1, length + 1):
        node = stops[step]
        leave[step] = (
            max(leave[step - 1] + leg_length(distances, stops[step - 1], node), ready[node])
            + service[node]
        )
    latest[length + 1] = due[0]
    for step in range(length, 0, -1):
        node = stops[step]
        latest[step] = min(
            due[node],
            latest[step + 1] - leg_length(distances, node, stops[step + 1]) - service[node],
        )


@njit(cache=True, nogil=True)
def _best_insertion(
    distances: Any,
    demands: Any,
    rest: int,
    ready: Any,
    due: Any,
    service: Any,
    margin: float,
    reward: float,
    patience: float,
    served: Any,
    stops: Any,
    leave: Any,
    latest: Any,
    length: int,
) -> Any:
    """Return the customer to insert and its place; the customer is 0 if none can be inserted."""
    chosen = 0
    chosen_place = 0
    largest = -np.inf
    for node in range(1, len(demands)):
        if served[node] or demands[node] > rest:
            continue
        cheapest = np.inf
        cheapest_place = 0
        for place in range(1, length + 2):
            start = max(
                leave[place - 1] + leg_length(distances, stops[place - 1], node), ready[node]
            )
            # Every later place leaves after this one.
            if leave[place - 1] > due[node]:
                break
            if start > due[node] - margin:
                continue
            after = stops[place]
            arrival = start + service[node] + leg_length(distances, node, after)
            if after != 0:
                arrival = max(arrival, ready[after])
            if arrival > latest[place] - margin:
                continue
            before = leave[place - 1] + leg_length(distances, stops[place - 1], after)
            if after != 0:
                before = max(before, ready[after])
            detour = (
                leg_length(distances, stops[place - 1], node)
                + leg_length(distances, node, after)
                - leg_length(distances, stops[place - 1], after)
            )
            cost = (1.0 - patience) * detour + patience * (arrival - before)
            if cost < cheapest:
                cheapest = cost
                cheapest_place = place
        if cheapest_place == 0:
            continue
        gain = reward * leg_length(distances, 0, node) - cheapest
        if gain > largest:
            largest = gain
            chosen = node
            chosen_place = cheapest_place
    return chosen, chosen_place
