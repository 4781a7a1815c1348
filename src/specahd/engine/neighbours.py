"""Lists of nearest neighbours, made once for an instance by the trusted side."""

import numpy as np
from scipy.spatial import cKDTree

from specahd.routing.base import FloatArray, IntArray
from specahd.routing.geometry import Convention, distances

_ENTRIES = 1 << 20
"""How many neighbours are looked up at a time, so that memory is that of what is kept."""


def nearest_neighbours(
    coords: FloatArray,
    convention: Convention,
    matrix: FloatArray | None,
    count: int,
    depot: bool,
) -> tuple[IntArray, FloatArray]:
    """Return the nearest neighbours of every node, nearest first, and how far they are.

    Where distances follow from coordinates, a k-d tree finds those that are near in the plane
    (for GEO, on the sphere); equal distances go by the lower index.

    Parameters
    ----------
    coords
        Shape (n, 2).
    matrix
        Distances of an EXPLICIT instance, shape (n, n); else None.
    count
        How many are wanted, at least 1; fewer where there are no more nodes.
    depot
        Whether node 0 is one, which is nobody's neighbour.

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
            found = np.asarray(tree.query(points[rows], k=np.arange(1, count + 2))[1]) + first
        else:
            assert matrix is not None  # one of both
            found = np.argpartition(matrix[rows, first:], count, axis=1)[:, : count + 1] + first
        # By index, so that a stable order of distances breaks ties by it.
        found = np.sort(_others(found, rows), axis=1)
        if matrix is not None:
            measured = matrix[rows[:, None], found]
        else:
            measured = distances(coords[rows][:, None], coords[found], convention)
        order = np.argsort(measured, axis=1, kind="stable")
        neighbours[rows] = np.take_along_axis(found, order, 1)
        neighbour_distances[rows] = np.take_along_axis(measured, order, 1)
    return neighbours, neighbour_distances


def _others(found: IntArray, rows: IntArray) -> IntArray:
    """Return the nodes that were found for each row, all but one: itself, or the last."""
    kept = found != rows[:, None]
    # The depot does not find itself; nor need a node whose place many others share.
    kept[kept.all(axis=1), -1] = False
    nearest: IntArray = found[kept].reshape(len(rows), -1)
    return nearest


def _on_sphere(coords: FloatArray) -> FloatArray:
    """Return points whose straight distances have the order of GEO's."""
    degrees = np.trunc(coords)
    angles = np.radians(degrees + 5.0 * (coords - degrees) / 3.0)
    latitude, longitude = angles[:, 0], angles[:, 1]
    across = np.cos(latitude)
    return np.stack(
        (across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)), axis=1
    )
