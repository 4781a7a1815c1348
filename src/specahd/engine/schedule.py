"""Default parameters of a search: temperatures, neighbours and group counts.

Measured on X-n1001-k43, XL-n3054-k461 and XL-n10001-k1570 with the hand-written programs; the first
temperature on routes of more than 24 stops: benchmarks/notes/2026-11-30-long-routes.md.
"""

from typing import Any

import numpy as np

from specahd.routing.base import FloatArray

_NEAREST = 10
_HOT, _COLD = 1.5, 0.05  # benchmarks/notes/2026-11-22-what-the-rest-stands-on.md
SMALL = 20_000
"""Number of nodes of the largest instance whose customers keep their numbers: the data that passes
read is close enough in memory. Customers of larger instances are numbered along a curve
(benchmarks/notes/2026-11-24-customers-near-each-other.md)."""
_SHORT = 20.0
"""Number of stops of the longest routes that count as short
(benchmarks/notes/2026-11-22-do-evolved-programs-pay.md)."""
_LONG = 40.0
"""Number of stops of the shortest routes on which exchanges pay without time windows
(benchmarks/notes/2026-11-30-long-routes.md)."""
_STOPS, _HOTTEST = 16.0, 12.0
"""Number of stops of a route for each unit of the first temperature without time windows, where
that is above the usual, and the highest (benchmarks/notes/2026-11-30-long-routes.md)."""


def temperature_by_stops(instance: Any) -> float:
    """Return the first temperature without time windows, as a share: it is higher on long routes.

    Savings are far above the optimum there, and what they did wrong takes many dearer steps.
    """
    room = _STOPS * instance.demands[1:].mean()
    return float(max(_HOT, min(_HOTTEST, instance.capacity / max(1e-9, room))))


def temperature_by_spread(neighbour_distances: FloatArray) -> float:
    """Return the first temperature of a tour, as a share: it is higher where nodes form clusters.

    It is the mean square of the distances of neighbours, over the square of their mean
    (benchmarks/notes/2026-11-30-turned-runs-of-tours.md).
    """
    near = neighbour_distances[1:]
    mean = float(near.mean()) if near.size else 0.0
    return float(np.square(near).mean()) / mean**2 if mean else 1.0


def on_short_routes(instance: Any) -> bool:
    """Return whether a vehicle has room for fewer than twenty mean demands.

    On such routes with time windows, loads and windows exclude most positions. Without windows,
    large instances with such routes are searched part by part
    (benchmarks/notes/2026-11-24-customers-near-each-other.md).
    """
    return bool(instance.capacity < _SHORT * instance.demands[1:].mean())


def on_long_routes(instance: Any) -> bool:
    """Return whether a vehicle has room for forty mean demands."""
    return bool(instance.capacity >= _LONG * instance.demands[1:].mean())


def many_on_short_routes(instance: Any) -> bool:
    """Return whether customers are numbered along a curve, and routes are short."""
    numbered = instance.matrix is None and len(instance.coords) > SMALL
    return numbered and on_short_routes(instance)


def neighbour_count(customers: int) -> int:
    """Return the number of a customer's neighbours next to which positions are considered.

    Where a second allows few repairs of each customer, fewer neighbours and more repairs are better
    (benchmarks/notes/2026-11-22-what-the-rest-stands-on.md).
    """
    return 60 if customers <= 5000 else 40


def temperatures(
    neighbour_distances: FloatArray, start_temperature: float = _HOT, end_temperature: float = _COLD
) -> tuple[float, float]:
    """Return the first and the last temperature of a search, in units of cost.

    They are shares of the mean distance between a customer and its ten nearest neighbours.
    A repair changes the cost by about that distance, however far the depot is.

    Parameters
    ----------
    neighbour_distances
        Shape (n + 1, k), nearest first; row 0 is the depot's.
    start_temperature, end_temperature
        The shares.
    """
    near = neighbour_distances[1:, :_NEAREST]
    scale = float(near.mean()) if near.size else 0.0
    return start_temperature * scale, end_temperature * scale


def group_count(customers: int) -> int:
    """Return the number of groups of a pass, small enough that groups seldom meet."""
    return max(1, min(64, customers // 120))
