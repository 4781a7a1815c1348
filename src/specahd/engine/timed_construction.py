"""A first solution with time windows in near-linear time, from the positions of the search.

Every customer in turn is put in where the detour is least, next to one of its neighbours or on a
route of its own: what the search does to a group that was taken out, done to all customers.
"""

from typing import Any

import numpy as np
from numba import njit

from specahd.engine import links, timed
from specahd.engine.neighbours import nearest_neighbours
from specahd.engine.programs import BACK, DETOUR, THERE
from specahd.engine.timed_neighbours import neighbours_in_time
from specahd.routing.base import IntArray
from specahd.routing.kernels.distances import between, distances_of

CANDIDATES, NEIGHBOURS = 100, 40
"""How many of the nearest are looked at for each customer, and how many fit best in time too."""
_ROWS = 6
"""Of what :func:`specahd.engine.timed.positions` writes."""


def inserted(instance: Any, order: IntArray, margin: float) -> IntArray:
    """Insert all customers in an order, each where the detour is least.

    Parameters
    ----------
    margin
        By how much every customer must stay in time: 0 where sums are exact, else above their
        rounding error.

    Returns
    -------
    The routes, with 0 between two of them.
    """
    windows, customers = instance.windows, instance.size
    # One route more than customers: there is always a free one.
    count = customers + 1
    size = customers + 1 + count
    nodes = np.zeros((size, 4), np.int32)
    edges = np.zeros((size, 2))
    loads = np.zeros(count, np.int64)
    free = np.zeros(count, np.int64)
    links.load_routes(np.zeros(0, np.int64), nodes, loads, instance.demands, free)
    service = windows.service.copy()
    service[0] = 0.0
    due = windows.due - margin
    start, latest = np.full(size, windows.ready[0]), np.full(size, due[0])
    # Nothing is taken back: of a group that all stamps know already, no times are noted.
    stamps, touched, offered = np.zeros((3, size), np.int64)
    times = (
        *(windows.ready, due, service, start, latest),
        *(stamps, np.zeros((size, 2)), touched, offered, np.zeros((4, 0)), np.zeros(3, np.int64)),
    )
    shape = instance.coords, instance.measure, instance.matrix
    near = neighbours_in_time(
        *nearest_neighbours(*shape, CANDIDATES, depot=True), windows, NEIGHBOURS
    )
    demands, capacity = instance.demands, int(instance.capacity)
    routes = nodes, edges, loads, free
    _insert(order, distances_of(*shape), near, demands, capacity, times, routes)
    following = np.ascontiguousarray(nodes[:, links.BEHIND])
    found: IntArray = links.flat_routes(following, customers)
    return found


@njit(cache=True, nogil=True)
def _insert(
    order: Any,
    distances: Any,
    near: Any,
    demands: Any,
    capacity: int,
    times: Any,
    routes: Any,
) -> None:
    neighbours, neighbour_distances = near
    nodes, edges, loads, free = routes
    customers = len(demands) - 1
    home = np.empty(customers + 1)
    for node in range(customers + 1):
        home[node] = between(distances, 0, node)
    found = np.empty((_ROWS, 2 * neighbours.shape[1] + 1))
    before = np.empty(2 * neighbours.shape[1] + 1, np.int64)
    available = len(free)
    for customer in order:
        terminal = customers + 1 + free[available - 1]
        count = timed.positions(
            times,
            customer,
            distances,
            neighbours,
            neighbour_distances,
            home,
            capacity - demands[customer],
            np.inf,
            nodes,
            edges,
            loads,
            terminal,
            found,
            before,
        )
        chosen = np.argmin(found[DETOUR, :count])
        ahead = before[chosen]
        there = found[THERE, chosen]
        back = found[BACK, chosen]
        links.link(nodes, edges, loads, demands[customer], customer, ahead, there, back)
        available -= int(ahead == terminal)
        timed.push(times, nodes, edges, customer)
