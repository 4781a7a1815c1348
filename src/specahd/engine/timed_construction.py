"""A first solution with time windows in near-linear time, from the positions of the search.

Every customer in turn is put in where the detour is least, next to one of its neighbours or on a
route of its own: what the search does to a group that was taken out, done to all customers.
"""

from typing import Any

import numpy as np
from numba import njit

from specahd.engine import links, timed
from specahd.engine.borrowed_views import borrowed
from specahd.engine.capacitated import depot_row
from specahd.engine.neighbours import nearest_neighbours
from specahd.engine.programs import DETOUR
from specahd.engine.state import Instance, Scratch, begun
from specahd.engine.timed_neighbours import neighbours_in_time
from specahd.routing.base import IntArray
from specahd.routing.kernels.distances import distances_of

CANDIDATES, NEIGHBOURS = 100, 40
"""How many of the nearest are looked at for each customer, and how many fit best in time too."""


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
    # Nothing is taken back: of a group that all stamps know already, no times are noted.
    own = timed.times_for(windows.ready, windows.due - margin, windows.service, size)
    nobody = np.zeros(0, np.int64)
    state = begun(nodes, edges, loads, free, count, nobody, 0.0, 0, own, customers)
    shape = instance.coords, instance.measure, instance.matrix
    distances = distances_of(*shape)
    near = neighbours_in_time(
        *nearest_neighbours(*shape, CANDIDATES, depot=True), windows, NEIGHBOURS
    )
    depot_distances, capacity = depot_row(distances, customers + 1), int(instance.capacity)
    given = Instance(distances, *near, depot_distances, instance.demands, capacity)
    most = 2 * near[0].shape[1] + 1
    log = np.zeros((1, 3), np.int32), np.zeros((1, 3))
    scratch = Scratch(nobody, *log, np.empty((6, most)), np.empty(most, np.int64), np.empty(0))
    _insert(order, given, state, scratch)
    following = np.ascontiguousarray(nodes[:, links.BEHIND])
    found: IntArray = links.flat_routes(following, customers)
    return found


@njit(cache=True, nogil=True)
def _insert(order: Any, instance: Any, state: Any, scratch: Any) -> None:
    # Whoever calls keeps the arrays.
    instance, state, scratch = borrowed(instance), borrowed(state), borrowed(scratch)
    for customer in order:
        count = timed.find_positions(state, instance, scratch, customer, 1, np.inf)
        chosen = np.argmin(scratch.found[DETOUR, :count])
        last = chosen == count - 1
        timed.insert(state, instance, scratch, 0, customer, 1, chosen, last, 0.0)
