"""Neighbours in distance and in time, for customers with time windows."""

import numpy as np

from specahd.routing.base import FloatArray, IntArray
from specahd.routing.formats.vrplib import TimeWindows

WAITING, LATENESS = 0.2, 1.0
"""Weights of a unit of waiting and of a unit of lateness, in units of distance."""
CANDIDATES = 500
"""Number of the nearest nodes in the plane that are considered for each customer."""
_MOST = 1 << 25
"""Maximum number of candidates in all, unless the lists themselves are longer."""
_ROWS = 1 << 11


def candidates(nodes: int, count: int) -> int:
    """Return the number of nearest neighbours to consider for lists of length ``count``."""
    return max(count, min(CANDIDATES, _MOST // nodes))


def neighbours_in_time(
    neighbours: IntArray,
    distances: FloatArray,
    windows: TimeWindows,
    count: int,
    durations: FloatArray | None = None,
) -> tuple[IntArray, FloatArray]:
    """Return those nearest neighbours that also fit in time, nearest first, and their distances.

    The measure is that of Vidal, Crainic, Gendreau and Prins (Computers & Operations Research 40,
    2013): the distance, plus the weighted least waiting and lateness of driving straight from one
    to the other, in the better of both directions.

    Parameters
    ----------
    neighbours, distances
        As returned by :func:`specahd.engine.neighbours.nearest_neighbours`.
    count
        The number of neighbours that are kept of each list; all of a shorter list.
    durations
        The time from each node to each other one, shape (n, n); None where it is the distance.

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
        there = back = far
        if durations is not None:
            there, back = durations[here, near], durations[near, here]
        cost = np.minimum(
            WAITING * np.maximum(0.0, ready[near] - late[here] - there)
            + LATENESS * np.maximum(0.0, done[here] + there - due[near]),
            WAITING * np.maximum(0.0, ready[here] - late[near] - back)
            + LATENESS * np.maximum(0.0, done[near] + back - due[here]),
        )
        if durations is not None and there.any():
            # A unit of time costs as much as the distance that vehicles drive in it.
            cost *= float(np.median(far)) / max(float(np.median(there)), 1e-9)
        order = np.argsort(far + cost, axis=1, kind="stable")[:, :kept]
        # The lists are sorted by distance, so that sorted places give sorted distances.
        chosen[rows] = np.sort(order, axis=1)
    return np.take_along_axis(neighbours, chosen, 1), np.take_along_axis(distances, chosen, 1)
