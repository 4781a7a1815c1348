"""Construction of a first solution with time windows, in near-linear time.

Each customer in turn is inserted where the detour is least, next to one of its neighbours or on a
route of its own. The positions are found as for a removed group in a search.
"""

from typing import Any

import numpy as np

from specahd.engine import links, timed
from specahd.engine.neighbours import nearest_neighbours
from specahd.engine.passes import insert_cheapest
from specahd.engine.state import Scratch, begun, instance_for
from specahd.engine.timed_neighbours import neighbours_in_time
from specahd.routing.base import IntArray

CANDIDATES, NEIGHBOURS = 100, 40
"""Numbers of nearest nodes considered for each customer, and of those kept as the best in time."""


def inserted(instance: Any, order: IntArray, margin: float) -> IntArray:
    """Insert all customers in an order, each where the detour is least.

    Parameters
    ----------
    margin
        The time by which the windows close earlier: 0 where sums are exact, else more than their
        rounding error.

    Returns
    -------
    The routes, with 0 between two of them.
    """
    windows, customers = instance.windows, instance.size
    # One route more than customers, so that one is always free.
    count = customers + 1
    size = customers + 1 + count
    nodes = np.zeros((size, 4), np.int32)
    edges = np.zeros((size, 2))
    loads = np.zeros(count, np.int64)
    free = np.zeros(count, np.int64)
    links.load_routes(np.zeros(0, np.int64), nodes, loads, instance.demands, free)
    # Nothing is undone. All stamps equal the current group's number, so that no times are noted.
    own = timed.times_for(
        windows.ready, windows.due - margin, windows.service, size, instance.durations
    )
    nobody = np.zeros(0, np.int64)
    shape = instance.coords, instance.measure, instance.matrix
    near = neighbours_in_time(
        *nearest_neighbours(*shape, CANDIDATES, depot=True), windows, NEIGHBOURS, instance.durations
    )
    given = instance_for(instance.columns, instance.kernel.distances, *near)
    state = begun(given, nodes, edges, loads, free, count, nobody, 0.0, 0, own)
    most = 2 * near[0].shape[1] + 1
    log = np.zeros((1, 3), np.int32), np.zeros((1, 3))
    scratch = Scratch(nobody, *log, np.empty((6, most)), np.empty(most, np.int64), np.empty(0))
    insert_cheapest(order, given, state, scratch)
    following = np.ascontiguousarray(nodes[:, links.BEHIND])
    found: IntArray = links.flat_routes(following, customers)
    return found
