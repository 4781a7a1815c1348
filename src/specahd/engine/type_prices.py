"""What a route costs with a type of vehicles, and which types the routes of a start have."""

from typing import Any

import numpy as np

from specahd.core.loop_cache import njit
from specahd.engine.reach import walk_reaches
from specahd.routing.base import IntArray
from specahd.routing.groups import separated


@njit(cache=True)
def price(own: Any, load: int, walk: Any, kind: int) -> Any:
    """Return what a route of some customers costs with a type; infinity if that cannot serve it.

    Parameters
    ----------
    own
        The times (:class:`specahd.engine.timed.Times`), with a fleet.
    """
    fleet, ready, due, service = own.fleet, own.ready, own.due, own.service
    leaving, returning = fleet.times[kind, 0], fleet.times[kind, 1]
    if load > fleet.capacities[kind]:
        return np.inf
    # The latest departure with which all stops are in time.
    leaves = np.inf
    paid, time, worked, here = 0.0, fleet.shifts[kind, 0], 0.0, 0
    for node in walk:
        paid += fleet.prices[kind, here, node]
        way_time = leaving[node] if here == 0 else own.durations[here, node]
        time = max(time + way_time, ready[node])
        if time > due[node]:
            return np.inf
        worked += way_time
        leaves = min(leaves, due[node] - worked)
        worked += service[node]
        time += service[node]
        here = node
    time += returning[here]
    lasts = max(worked + returning[here], time - leaves)
    if time > fleet.shifts[kind, 1] or not walk_reaches(own, kind, walk, lasts):
        return np.inf
    return paid + fleet.prices[kind, here, 0]


def with_vehicles(own: Any, demands: IntArray, stops: IntArray) -> IntArray:
    """Return the routes that get a vehicle; route r of the fleet has the type of the rth of them.

    Routes that few types can serve come first, then those with large loads; each takes the cheapest
    type of which a vehicle is left. A route without one is left out.

    Parameters
    ----------
    own
        The times, with a fleet of which no route has a vehicle yet.
    stops
        Routes with 0 between two of them.
    """
    routes = [np.array(route, np.int64) for route in separated(stops)]
    left, loads = own.fleet.left, [int(demands[route].sum()) for route in routes]
    prices = np.array(
        [
            [price(own, load, route, kind) for kind in range(len(left))]
            for route, load in zip(routes, loads, strict=True)
        ]
    ).reshape(-1, len(left))
    fitting = np.isfinite(prices).sum(axis=1)
    kept: list[int] = []
    count = 0
    for place in sorted(range(len(routes)), key=lambda place: (fitting[place], -loads[place])):
        found = np.where(left > 0, prices[place], np.inf)
        kind = int(np.argmin(found))
        if np.isfinite(found[kind]):
            left[kind] -= 1
            kept += [0, *routes[place].tolist()]
            own.fleet.kinds[count] = kind
            count += 1
    return np.array(kept[1:], np.int64)
