"""Baseline solvers B of any vehicle problem that does not split: deterministic, always feasible.

PyVRP (Wouda, Lan and Kool 2024) takes integers only, and numbers clients from 0,
apart from locations. Only this file depends on that.
"""

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial import cKDTree

from specahd.core.errors import ConfigError
from specahd.core.extras import require
from specahd.routing.base import FloatArray, IntArray
from specahd.routing.distances import LIMITS, PRICES, SHIFTS, TYPE_TIMES, is_computed
from specahd.routing.groups import nested
from specahd.routing.kernels.construction import (
    joined_routes,
    nearest_routes,
    neighbouring_pairs,
    paid_savings,
)
from specahd.routing.vehicles.fleet import limits_both, reduced, roads, stop_times, time_unit
from specahd.routing.vehicles.instance import VehicleInstance
from specahd.routing.vehicles.routes import Solution

if TYPE_CHECKING:
    import pyvrp as solver

NEIGHBOURS = 100
"""Number of neighbours of each customer that ``savings`` considers."""
FEW_NEIGHBOURS = 40
"""The same number if distances are computed on the fly: time and memory are linear in it."""
TENTHS = 10
"""Parts of a unit for an instance whose numbers are whole tenths."""
THOUSANDTHS = 1000
"""Parts of a unit for any other instance, whose numbers are rounded to them."""
MATRICES = 5
"""Number of matrices of distances at a time in PyVRP (measured)."""


def nearest(instance: VehicleInstance) -> Solution:
    """Go from the depot to the nearest unserved customer that fits, until none does.

    Ties go to the lowest index. O(n^2), without a matrix.
    """
    return nested(*nearest_routes(*instance.kernel))


def savings(instance: VehicleInstance) -> Solution:
    """Join routes by largest saving first (Clarke and Wright 1964, the parallel version).

    Only pairs in which one customer is among the :data:`NEIGHBOURS` nearest of the other are
    considered (:data:`FEW_NEIGHBOURS` if n is large), so the whole takes O(n log n). Ties
    go to the lower indices. Time windows are not looked at.
    """
    kernel = instance.kernel
    pairs = neighbouring_pairs(*_nearest(instance))
    starts, ends, losses = paid_savings(kernel.distances, *pairs)
    # Pairs come in lexicographic order, which a stable sort keeps among equals.
    order = np.argsort(losses, kind="stable")
    del losses
    return nested(*joined_routes(*kernel, starts[order], ends[order]))


def _nearest(instance: VehicleInstance) -> tuple[IntArray, FloatArray]:
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


def pyvrp(
    instance: VehicleInstance,
    iterations: int,
    seed: int = 0,
    baseline: str = "pyvrp",
    *,
    seconds: float | None = None,
) -> Solution:
    """Return the best routes that PyVRP finds in that many iterations of its local search.

    Equal arguments give equal routes, unless ``seconds`` bound the search in place of them.
    Integral data, and data in tenths, are solved exactly. Other data are rounded to thousandths:
    distances to the nearest; travel times, service times and the opening of windows
    up; the closing of windows down. So routes that keep the rounded windows keep the
    true ones. A limit of a route is rounded down too. All limits and prices of vehicles hold.

    Parameters
    ----------
    iterations
        At least 1.
    seed
        At least 0.
    baseline
        The name of the baseline solver in a message.
    seconds
        The time of the search, without that of the model; None: ``iterations`` bound it, and where
        they find no feasible routes, as many again from a route for each customer.

    Raises
    ------
    ConfigError
        PyVRP is not installed, ``iterations`` or ``seed`` is out of its range, no feasible routes
        were found, or a window is too narrow to be rounded.
    NotEnoughMemory
        The distance matrices that it needs would not fit into memory.
    """
    distances = instance.whole_matrix(baseline, MATRICES)
    require("train", "PyVRP")
    # Slow to import, and needed only when this solver is asked for.
    import pyvrp as solver
    from pyvrp.stop import MaxIterations, MaxRuntime

    if iterations < 1:
        raise ConfigError(f"Expected solver_iterations of at least 1, got {iterations}.")
    if seed < 0:
        raise ConfigError(f"Expected a solver seed of at least 0, got {seed}.")
    data = problem_data(instance, distances)
    search = partial(solver.solve, data, seed=seed, collect_stats=False)
    result = search(MaxIterations(iterations) if seconds is None else MaxRuntime(seconds))
    if not result.is_feasible() and seconds is not None:
        raise ConfigError(f"PyVRP found no feasible routes in {seconds:g} s.")
    if not result.is_feasible() and data.num_vehicles >= data.num_clients:
        # From a feasible start the best solution is feasible, though seldom as good.
        alone = solver.Solution(data, [[client] for client in range(data.num_clients)])
        result = search(MaxIterations(iterations), initial_solution=alone)
    if not result.is_feasible():
        raise ConfigError(
            f"PyVRP found no feasible routes in {iterations} iterations, "
            "expected more solver_iterations or another baseline."
        )
    return tuple(
        tuple(activity.idx + 1 for activity in route if activity.is_client())
        for route in result.best.routes()
    )


def problem_data(instance: VehicleInstance, distances: FloatArray) -> "solver.ProblemData":
    """Return PyVRP's description of an instance, in whole parts of a unit.

    Parameters
    ----------
    distances
        All distances of the instance.

    Raises
    ------
    ConfigError
        A window is too narrow to be rounded, or types of vehicles limit distances beside times.
    """
    import pyvrp as solver

    types, both = instance.types or (), limits_both(instance)
    if types and both:
        raise ConfigError(
            f"Expected another baseline than PyVRP for {instance.name}, whose types of vehicles "
            "limit distances beside times."
        )
    if types:
        instance = reduced(instance)
    nodes = len(distances)
    clients: list[dict[str, Any]] = [
        {"location": node, "delivery": [demand]}
        for node, demand in enumerate(instance.demands.tolist())
    ]
    depot: dict[str, Any] = {"location": 0}
    lasting = distances
    if instance.directed:
        distances, lasting = roads(instance)
        if instance.max_distance is not None and not both:
            lasting = distances
    costs = instance.type_columns.get(PRICES, distances[None]).copy()
    for place, kind in enumerate(types):
        # Half of the fixed cost is on each way from and to the depot.
        half = kind.fixed_cost * instance.parts / 2
        costs[place, 0, 1:] -= half
        costs[place, 1:, 0] -= half
    # Where vehicles start and end, the ways and times of the depot are those of their type.
    times = np.repeat(lasting[None], len(costs), axis=0)
    if types:
        times[:, 0], times[:, :, 0] = instance.type_columns[TYPE_TIMES].swapaxes(0, 1)
    parts = _parts(costs, times)
    # The stubs of PyVRP misstate the type of matrices.
    durations: Any = np.zeros(times.shape, np.int64)
    if instance.windows is not None:
        ready, due, service = instance.windows.ready, instance.windows.due, instance.windows.service
        parts = _parts(costs, times, ready, due, service)
        durations = _rounded_up(times, parts)
        opening, closing = _rounded_up(ready, parts).tolist(), _rounded_down(due, parts).tolist()
        if any(closes < opens for opens, closes in zip(opening, closing, strict=True)):
            raise ConfigError(
                f"PyVRP cannot keep a time window that holds no whole 1/{parts} of a unit, "
                "expected another baseline."
            )
        for client, opens, closes, lasts in zip(
            clients, opening, closing, _rounded_up(service, parts).tolist(), strict=True
        ):
            client.update(tw_early=opens, tw_late=closes, service_duration=lasts)
        depot.update(tw_early=opening[0], tw_late=closing[0])
    if instance.prizes is not None:
        for client, prize in zip(clients, instance.prizes.tolist(), strict=True):
            if np.isfinite(prize):
                client.update(required=False, prize=round(prize * instance.parts * parts))
    vehicles: dict[str, Any] = {
        "num_available": instance.fleet or nodes - 1,
        "capacity": [instance.capacity],
        "fixed_cost": round(instance.fixed_cost * instance.parts * parts),
    }
    limit = instance.max_duration or (None if both else instance.max_distance)
    if limit is not None:
        if instance.windows is None:
            durations = _rounded_up(times, parts)
            lasts = _rounded_up(stop_times(instance), parts).tolist()
            for client, service_duration in zip(clients, lasts, strict=True):
                client.update(service_duration=service_duration)
        vehicles |= _duration(limit, instance, parts)
    if both and instance.max_distance is not None:
        vehicles["max_distance"] = int(instance.max_distance * instance.parts * parts)
    kinds = [vehicles]
    if types:
        limits, shifts = (instance.type_columns[name] for name in (LIMITS, SHIFTS))
        begin, end = _rounded_up(shifts[:, 0], parts), _rounded_down(shifts[:, 1], parts)
        kinds = [
            {
                "capacity": [capacity],
                "num_available": count,
                "fixed_cost": round(types[place].fixed_cost * instance.parts * parts),
                "profile": place,
                "tw_early": opens,
                "tw_late": closes,
                **_duration(types[place].max_duration, instance, parts),
            }
            for place, ((capacity, count), opens, closes) in enumerate(
                zip(limits.tolist(), begin.tolist(), end.tolist(), strict=True)
            )
        ]
    whole: Any = np.rint(costs * parts).astype(np.int64)
    if both:
        whole = _rounded_up(costs, parts)
    return solver.ProblemData(
        # Travel is in the matrices; coordinates would only serve plots.
        locations=[solver.Location(0, 0)] * nodes,
        clients=[solver.Client(**client) for client in clients[1:]],
        depots=[solver.Depot(**depot)],
        vehicle_types=[solver.VehicleType(**kind) for kind in kinds],
        distance_matrices=list(whole),
        duration_matrices=list(durations),
    )


def _duration(limit: float | None, instance: VehicleInstance, parts: int) -> dict[str, int]:
    """Return PyVRP's argument for the longest duration of a route, empty without one."""
    most = None if limit is None else int(limit * time_unit(instance) * parts)
    return {} if most is None else {"shift_duration": most}


def _parts(*arrays: FloatArray) -> int:
    """Return the number of parts of a unit that all numbers are multiples of or rounded to."""
    for parts in (1, TENTHS):
        # A number in tenths is the float nearest to a whole number over ten.
        if all(np.array_equal(np.rint(array * parts) / parts, array) for array in arrays):
            return parts
    return THOUSANDTHS


def _rounded_up(values: FloatArray, parts: int) -> IntArray:
    return np.ceil(_scaled(values, parts)).astype(np.int64)


def _rounded_down(values: FloatArray, parts: int) -> IntArray:
    return np.floor(_scaled(values, parts)).astype(np.int64)


def _scaled(values: FloatArray, parts: int) -> FloatArray:
    """Multiply the values by ``parts``; whole multiples of a part become whole numbers."""
    scaled = values * parts
    nearest = np.rint(scaled)
    exact: FloatArray = np.where(nearest / parts == values, nearest, scaled)
    return exact
