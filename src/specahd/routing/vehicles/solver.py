"""PyVRP behind one function: depot routes from a published heuristic solver.

PyVRP (Wouda, Lan and Kool 2024) takes integers only, and numbers clients from 0,
apart from locations. Only this file depends on that.
"""

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from specahd.core.errors import ConfigError
from specahd.core.extras import require
from specahd.routing.base import FloatArray, IntArray
from specahd.routing.vehicles.routes import Solution

if TYPE_CHECKING:
    import pyvrp

TENTHS = 10
"""Parts of a unit for an instance whose numbers are whole tenths."""
THOUSANDTHS = 1000
"""Parts of a unit for any other instance, whose numbers are rounded to them."""
MATRICES = 5
"""Number of matrices as large as ``distances`` at a time (measured), that one included."""


def solve(
    *,
    distances: FloatArray,
    demands: IntArray,
    capacity: int,
    iterations: int,
    seed: int,
    ready: FloatArray | None = None,
    due: FloatArray | None = None,
    service: FloatArray | None = None,
) -> Solution:
    """Return the best routes that PyVRP finds in that many iterations of its local search.

    Equal arguments give equal routes, because no result depends on a clock. Integral
    data, and data in tenths, are solved exactly. Other data are rounded to thousandths:
    distances to the nearest; travel times, service times and the opening of windows
    up; the closing of windows down. So routes that keep the rounded windows keep the
    true ones. The number of vehicles is not limited.

    Parameters
    ----------
    distances
        Travel costs, and travel times in the same unit; shape (n + 1, n + 1).
    demands
        Shape (n + 1,); 0 at the depot, from 0 to ``capacity`` elsewhere.
    iterations
        At least 1.
    seed
        At least 0.
    ready, due, service
        Windows in which service starts, and its duration, shape (n + 1,) each;
        row 0 is when vehicles may leave the depot and must be back. Either all
        three or none.

    Raises
    ------
    ConfigError
        PyVRP is not installed, ``iterations`` or ``seed`` is out of its range, no feasible routes
        were found, or a window is too narrow to be rounded.
    """
    require("train", "PyVRP")
    # Slow to import, and needed only when this solver is asked for.
    import pyvrp
    from pyvrp.stop import MaxIterations

    if iterations < 1:
        raise ConfigError(f"Expected solver_iterations of at least 1, got {iterations}.")
    if seed < 0:
        raise ConfigError(f"Expected a solver seed of at least 0, got {seed}.")
    data = _problem_data(distances, demands, capacity, ready, due, service)
    search = partial(pyvrp.solve, data, seed=seed, collect_stats=False)
    result = search(MaxIterations(iterations))
    if not result.is_feasible():
        # From a feasible start the best solution is feasible, though seldom as good.
        alone = pyvrp.Solution(data, [[client] for client in range(data.num_clients)])
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


def _problem_data(
    distances: FloatArray,
    demands: IntArray,
    capacity: int,
    ready: FloatArray | None,
    due: FloatArray | None,
    service: FloatArray | None,
) -> "pyvrp.ProblemData":
    """Return PyVRP's description of the instance, in whole parts of a unit."""
    import pyvrp

    nodes = len(demands)
    clients: list[dict[str, Any]] = [
        {"location": node, "delivery": [demand]} for node, demand in enumerate(demands.tolist())
    ]
    depot: dict[str, Any] = {"location": 0}
    if ready is None or due is None or service is None:
        parts = _parts(distances)
        # The stubs of PyVRP misstate the type of matrices.
        durations: Any = np.zeros((nodes, nodes), np.int64)
    else:
        parts = _parts(distances, ready, due, service)
        durations = _rounded_up(distances, parts)
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
    costs: Any = np.rint(distances * parts).astype(np.int64)
    return pyvrp.ProblemData(
        # Travel is in the matrices; coordinates would only serve plots.
        locations=[pyvrp.Location(0, 0)] * nodes,
        clients=[pyvrp.Client(**client) for client in clients[1:]],
        depots=[pyvrp.Depot(**depot)],
        vehicle_types=[pyvrp.VehicleType(num_available=nodes - 1, capacity=[capacity])],
        distance_matrices=[costs],
        duration_matrices=[durations],
    )


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
