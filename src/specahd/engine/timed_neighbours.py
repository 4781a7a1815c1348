"""Neighbours in distance and in time, for customers with time windows."""

import numpy as np

from specahd.routing.base import FloatArray, IntArray
from specahd.routing.formats.vrplib import TimeWindows

WAITING, LATENESS = 0.2, 1.0
"""What a unit of waiting and one of lateness count, in units of distance."""
CANDIDATES = 500
"""How many of the nearest in the plane are looked at for each customer."""
_MOST = 1 << 25
"""How many candidates there are in all, at most."""
_ROWS = 1 << 11


def candidates(nodes: int, count: int) -> int:
    """Return how many nearest neighbours to look at for lists of such a length."""
    return max(count, min(CANDIDATES, _MOST // nodes))


def neighbours_in_time(
    neighbours: IntArray, distances: FloatArray, windows: TimeWindows, count: int
) -> tuple[IntArray, FloatArray]:
    """Return of nearest neighbours those that fit in time too, nearest first, and how far they are.

    The measure is that of Vidal, Crainic, Gendreau and Prins (Computers & Operations Research 40,
    2013): the distance, and the least waiting and lateness that driving straight from one to the
    other costs, in the better of both directions.

    Parameters
    ----------
    neighbours, distances
        As :func:`specahd.engine.neighbours.nearest_neighbours` gives them.
    count
        How many are kept of each list, or all of a shorter one.

    Returns
    -------
    Two arrays of shape (n, min(count, candidates)).
    """
    nodes, most = neighbours.shape
    kept = min(count, most)
    chosen = np.empty((nodes, kept), np.int64)
    ready, due = windows.ready, windows.due
    # Times at which service may end.
    done, late = ready + windows.service, due + windows.service
    for start in range(0, nodes, _ROWS):
        rows = np.arange(start, min(nodes, start + _ROWS))
        near, far, here = neighbours[rows], distances[rows], rows[:, None]
        cost = np.minimum(
            WAITING * np.maximum(0.0, ready[near] - late[here] - far)
            + LATENESS * np.maximum(0.0, done[here] + far - due[near]),
            WAITING * np.maximum(0.0, ready[here] - late[near] - far)
            + LATENESS * np.maximum(0.0, done[near] + far - due[here]),
        )
        order = np.argsort(far + cost, axis=1, kind="stable")[:, :kept]
        # Lists come nearest first, so that places in order are distances in order.
        chosen[rows] = np.sort(order, axis=1)
    return np.take_along_axis(neighbours, chosen, 1), np.take_along_axis(distances, chosen, 1)
