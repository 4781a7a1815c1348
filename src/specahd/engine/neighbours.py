"""Neighbour lists, computed once for an instance by the trusted process."""

import numpy as np
from scipy.spatial import cKDTree

from specahd.routing.base import FloatArray, IntArray
from specahd.routing.geometry import Convention, distances

_ENTRIES = 1 << 20
"""Number of neighbours that are looked up at a time, which bounds the temporary memory."""
PLACES = 10
"""Number of a node's nearest nodes in each direction, next to which it may be inserted."""
_SEEN = 1000
"""Number of a node's nearest nodes among which those of an empty quadrant are looked for."""


def nearest_neighbours(
    coords: FloatArray,
    convention: Convention,
    matrix: FloatArray | None,
    count: int,
    depot: bool,
) -> tuple[IntArray, FloatArray]:
    """Return the nearest neighbours of every node, nearest first, and their distances.

    Where distances follow from coordinates, a k-d tree finds the nodes that are near in the plane
    (for GEO, on the sphere). Of equal distances, that to the lower index comes first.

    Parameters
    ----------
    coords
        Shape (n, 2).
    matrix
        Distances of an EXPLICIT instance, shape (n, n); else None. Of a way and the way back, the
        shorter one counts.
    count
        The number of neighbours of each node, at least 1; fewer if there are too few nodes.
    depot
        Whether node 0 is a depot. A depot is in no node's list.

    Returns
    -------
    Two arrays of shape (n, min(count, nodes that can be neighbours of a customer)).
    """
    size, first = len(coords), int(depot)
    count = min(count, size - first - 1)
    neighbours = np.empty((size, count), np.int64)
    neighbour_distances = np.empty((size, count))
    points = coords if convention is not Convention.GEO else _on_sphere(coords)
    tree = cKDTree(points[first:]) if matrix is None else None
    most = max(1, _ENTRIES // (count + 1 if tree is not None else size))
    for start in range(0, size, most):
        rows = np.arange(start, min(size, start + most))
        if count == 0:
            continue
        if tree is not None:
            found = _nearest(tree, points, rows, count) + first
        else:
            assert matrix is not None  # one of both
            # The shorter of the way and the way back.
            ways = np.minimum(matrix[rows], matrix[:, rows].T)
            found = np.argpartition(ways[:, first:], count, axis=1)[:, : count + 1] + first
        # Sorted by index, so that the stable sort by distance breaks ties by index.
        found = np.sort(_others(found, rows), axis=1)
        if matrix is not None:
            measured = np.take_along_axis(ways, found, 1)
        else:
            measured = distances(coords[rows][:, None], coords[found], convention)
        order = np.argsort(measured, axis=1, kind="stable")
        neighbours[rows] = np.take_along_axis(found, order, 1)
        neighbour_distances[rows] = np.take_along_axis(measured, order, 1)
    return neighbours, neighbour_distances


def neighbours_around(
    coords: FloatArray, convention: Convention, count: int, each: int
) -> tuple[IntArray, FloatArray]:
    """Return near neighbours of every node on all sides, nearest first, and their distances.

    They are the nearest ones, of which the farthest give way to the nearest ``each`` of every
    quadrant around the node. So nodes of a cluster have neighbours outside of it (Johnson and
    McGeoch, in Aarts and Lenstra, Local Search in Combinatorial Optimization, 1997). Of equal
    distances, the quadrants take turns.

    The parameters and the result are those of :func:`nearest_neighbours`, with node 0 as a depot;
    ``count`` is at least four times ``each``.
    """
    neighbours, measured = nearest_neighbours(coords, convention, None, count, depot=True)
    points = coords if convention is not Convention.GEO else _on_sphere(coords)
    tree = cKDTree(points[1:])
    size, count = neighbours.shape
    seen = max(count, min(_SEEN, size - 2))
    for rows in np.array_split(np.arange(size), 1 + size * seen // _ENTRIES):
        ranks = _ranks(coords, rows, neighbours[rows])
        lacking = rows[(ranks == each).sum(axis=1) < 4]
        if lacking.size and seen > count:
            found = _others(_nearest(tree, points, lacking, seen) + 1, lacking)
            there = _ranks(coords, lacking, found)
            farther = (there == 0) | (there > each)
            chosen = np.sort(np.argsort(farther, axis=1, kind="stable")[:, :count], axis=1)
            neighbours[lacking] = near = np.take_along_axis(found, chosen, 1)
            measured[lacking] = distances(coords[lacking][:, None], coords[near], convention)
            ranks = _ranks(coords, rows, neighbours[rows])
        order = np.lexsort((ranks, measured[rows]))
        neighbours[rows] = np.take_along_axis(neighbours[rows], order, 1)
        measured[rows] = np.take_along_axis(measured[rows], order, 1)
    return neighbours, measured


def _nearest(tree: cKDTree, points: FloatArray, rows: IntArray, count: int) -> IntArray:
    """Return the places in a tree of the nodes nearest to each row's, one more than ``count``."""
    return np.asarray(tree.query(points[rows], k=np.arange(1, count + 2))[1])


def _ranks(coords: FloatArray, rows: IntArray, near: IntArray) -> IntArray:
    """Return the place of each near node among those of its quadrant, from 1; 0 at its row's place.

    The quadrants are those around the nodes of the rows.
    """
    across, along = np.moveaxis(coords[near] - coords[rows][:, None], -1, 0)
    ranks = np.zeros(near.shape, np.int64)
    # Each axis belongs to the quadrant that it begins.
    for side in (
        (across > 0) & (along >= 0),
        (across <= 0) & (along > 0),
        (across < 0) & (along <= 0),
        (across >= 0) & (along < 0),
    ):
        ranks += np.cumsum(side, axis=1) * side
    return ranks


def directed_neighbours(matrix: FloatArray, count: int) -> IntArray:
    """Return the nodes with the shortest ways to each node, and those with the shortest from it.

    Returns
    -------
    Shape (2, n, min(count, n - 1)), nearest first. Of equal ways, that of the lower index comes
    first.
    """
    size = len(matrix)
    count = min(count, size - 1)
    neighbours = np.empty((2, size, count), np.int64)
    for rows in np.array_split(np.arange(size), 1 + size * size // _ENTRIES):
        for lists, ways in zip(neighbours, (matrix[:, rows].T, matrix[rows]), strict=True):
            found = _others(np.argpartition(ways, count, axis=1)[:, : count + 1], rows)
            found.sort(axis=1)
            order = np.argsort(np.take_along_axis(ways, found, 1), axis=1, kind="stable")
            lists[rows] = np.take_along_axis(found, order, 1)
    return neighbours


def _others(found: IntArray, rows: IntArray) -> IntArray:
    """Return the nodes found for each row without the row's own node, or else without the last."""
    kept = found != rows[:, None]
    # The depot does not find itself. A node at the same place as many others may not, either.
    kept[kept.all(axis=1), -1] = False
    nearest: IntArray = found[kept].reshape(len(rows), -1)
    return nearest


def _on_sphere(coords: FloatArray) -> FloatArray:
    """Return points on the sphere whose straight distances have the order of GEO distances."""
    degrees = np.trunc(coords)
    angles = np.radians(degrees + 5.0 * (coords - degrees) / 3.0)
    latitude, longitude = angles[:, 0], angles[:, 1]
    across = np.cos(latitude)
    return np.stack(
        (across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)), axis=1
    )
