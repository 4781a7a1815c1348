"""Distance conventions in NumPy; :mod:`specahd.routing.kernels` has them compiled."""

from enum import StrEnum

import numpy as np

from specahd.routing.base import FloatArray, IntArray

EARTH_RADIUS = 6378.388
"""In kilometres, as TSPLIB's GEO has it."""
GEO_PI = 3.141592
"""TSPLIB's pi."""


class Convention(StrEnum):
    """How an instance measures distances, as EDGE_WEIGHT_TYPE writes it.

    ``EXACT_2D``, the unrounded Euclidean distance, ``FLOOR_2D``, the same
    rounded down, and ``DIMACS``, rounded down to tenths (12th DIMACS
    challenge), are ours: TSPLIB has no names for them.
    """

    EUC_2D = "EUC_2D"
    CEIL_2D = "CEIL_2D"
    GEO = "GEO"
    ATT = "ATT"
    EXACT_2D = "EXACT_2D"
    FLOOR_2D = "FLOOR_2D"
    DIMACS = "DIMACS"
    EXPLICIT = "EXPLICIT"


def distances(start: FloatArray, end: FloatArray, convention: Convention) -> FloatArray:
    """Return the distance of each pair of points, in a convention that has coordinates.

    Parameters
    ----------
    start, end
        Points, shapes (..., 2) that broadcast.

    Raises
    ------
    ValueError
        The convention is EXPLICIT.
    """
    if convention is Convention.GEO:
        return _geographical(start, end)
    across = start[..., 0] - end[..., 0]
    along = start[..., 1] - end[..., 1]
    exact: FloatArray = np.sqrt(across * across + along * along)
    match convention:
        case Convention.EUC_2D:
            # TSPLIB's nint; np.round would send halves to the even neighbour.
            return np.floor(exact + 0.5)
        case Convention.CEIL_2D:
            return np.ceil(exact)
        case Convention.ATT:
            # The pseudo-Euclidean distance: rounded up, where rounding to nearest would go down.
            return np.ceil(np.sqrt((across * across + along * along) / 10.0))
        case Convention.EXACT_2D:
            return exact
        case Convention.FLOOR_2D:
            return np.floor(exact)
        case Convention.DIMACS:
            return np.floor(10.0 * exact) / 10.0
    raise ValueError(f"Expected a convention with coordinates, got {convention}.")


def _geographical(start: FloatArray, end: FloatArray) -> FloatArray:
    """Great-circle kilometres between points in degrees and minutes (DDD.MM), rounded down."""
    latitude, longitude = (_radians(start[..., axis]) for axis in (0, 1))
    other_latitude, other_longitude = (_radians(end[..., axis]) for axis in (0, 1))
    q1 = np.cos(longitude - other_longitude)
    q2 = np.cos(latitude - other_latitude)
    q3 = np.cos(latitude + other_latitude)
    cosine = np.clip(0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3), -1.0, 1.0)
    same = (latitude == other_latitude) & (longitude == other_longitude)
    return np.where(same, 0.0, np.floor(EARTH_RADIUS * np.arccos(cosine) + 1.0))


def _radians(degrees: FloatArray) -> FloatArray:
    whole = np.trunc(degrees)
    radians: FloatArray = GEO_PI * (whole + 5.0 * (degrees - whole) / 3.0) / 180.0
    return radians


def path_length(
    coords: FloatArray, nodes: IntArray, convention: Convention, matrix: FloatArray | None = None
) -> float:
    """Return the length of the walk through ``nodes``; ``matrix`` serves EXPLICIT only."""
    if matrix is not None:
        return float(matrix[nodes[:-1], nodes[1:]].sum())
    points = coords[nodes]
    return float(distances(points[:-1], points[1:], convention).sum())


def root_mean_square_radius(coords: FloatArray) -> float:
    """Return the spread of points: the root mean square distance from their centre."""
    return float(np.sqrt(np.square(coords - coords.mean(axis=0)).sum(axis=1).mean()))


def classical_scaling(matrix: FloatArray) -> FloatArray:
    """Return points of the plane whose distances resemble a symmetric distance matrix.

    Coordinates come from the two leading eigenvectors of the doubly centred
    squared distances (Torgerson 1952). The largest entry of each is made
    positive and all are rounded to six decimals, so that equal matrices give equal points.

    Parameters
    ----------
    matrix
        Shape (n, n).

    Returns
    -------
    Array of shape (n, 2).
    """
    squares = np.square(matrix)
    means = squares.mean(axis=0)
    values, vectors = np.linalg.eigh(-0.5 * (squares - means - means[:, None] + means.mean()))
    coords = np.zeros((len(matrix), 2))
    for axis in range(min(2, len(matrix))):
        value, vector = values[-1 - axis], vectors[:, -1 - axis]
        sign = np.sign(vector[np.argmax(np.abs(vector))])
        coords[:, axis] = sign * vector * np.sqrt(max(value, 0.0))
    return np.round(coords, 6) + 0.0
