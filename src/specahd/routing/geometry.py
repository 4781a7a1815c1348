"""Distance conventions in NumPy; :mod:`specahd.routing.kernels` has them compiled."""

from collections.abc import Mapping
from enum import StrEnum

import numpy as np

from specahd.core.memory_limit import require_memory
from specahd.routing.base import FloatArray, IntArray

EARTH_RADIUS = 6378.388
"""Radius of the earth in kilometres, as in TSPLIB's GEO."""
GEO_PI = 3.141592
"""TSPLIB's pi."""
_MANY, _BASIS, _STEPS = 2_000, 16, 30
"""Nodes above which eigenvectors come from subspace iteration; its dimension and its steps."""
MEAN_RADIUS = 6_371_008.8
"""Mean radius of the earth in metres (IUGG)."""


class Convention(StrEnum):
    """The convention by which an instance measures distances, as in EDGE_WEIGHT_TYPE.

    Three names are our own, because TSPLIB has none for them: ``EXACT_2D``, the
    unrounded Euclidean distance, ``FLOOR_2D``, the same rounded down, and
    ``DIMACS``, the same rounded down to tenths (12th DIMACS challenge).
    """

    EUC_2D = "EUC_2D"
    CEIL_2D = "CEIL_2D"
    GEO = "GEO"
    ATT = "ATT"
    EXACT_2D = "EXACT_2D"
    FLOOR_2D = "FLOOR_2D"
    DIMACS = "DIMACS"
    EXPLICIT = "EXPLICIT"


MEANINGS: Mapping[Convention, str] = {
    Convention.EUC_2D: "straight, rounded to whole numbers",
    Convention.CEIL_2D: "straight, rounded up to whole numbers",
    Convention.GEO: "kilometres along great circles, as in TSPLIB",
    Convention.ATT: "TSPLIB's pseudo-Euclidean ones",
    Convention.EXACT_2D: "straight, not rounded",
    Convention.FLOOR_2D: "straight, rounded down to whole numbers",
    Convention.DIMACS: "straight, rounded down to tenths",
    Convention.EXPLICIT: "a matrix that was given, or metres between lon and lat",
}
"""What the conventions say of distances, for a user."""


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
            # TSPLIB's nint; np.round would round halves to the even neighbour.
            return np.floor(exact + 0.5)
        case Convention.CEIL_2D:
            return np.ceil(exact)
        case Convention.ATT:
            # The pseudo-Euclidean distance: TSPLIB adds 1 if nint rounded down, so it rounds up.
            return np.ceil(np.sqrt((across * across + along * along) / 10.0))
        case Convention.EXACT_2D:
            return exact
        case Convention.FLOOR_2D:
            return np.floor(exact)
        case Convention.DIMACS:
            return np.floor(10.0 * exact) / 10.0
    raise ValueError(f"Expected a convention with coordinates, got {convention}.")


def _geographical(start: FloatArray, end: FloatArray) -> FloatArray:
    """Return great-circle kilometres of points in degrees and minutes (DDD.MM), rounded down."""
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


def great_circles(degrees: FloatArray, name: str) -> FloatArray:
    """Return the distances among points on the earth in whole metres, by the haversine formula.

    Parameters
    ----------
    degrees
        Longitude and latitude, shape (n, 2).
    name
        Name of the instance for the message of the error.

    Raises
    ------
    NotEnoughMemory
        The matrix would not fit.
    """
    size = len(degrees)
    require_memory(8 * size * size, f"The distance matrix of {name} needs")
    longitude, latitude = np.radians(degrees).T
    metres = np.empty((size, size))
    for start in range(size):
        across = np.sin((longitude - longitude[start]) / 2) ** 2
        half = np.sin((latitude - latitude[start]) / 2) ** 2
        half += np.cos(latitude) * np.cos(latitude[start]) * across
        metres[start] = np.rint(2 * MEAN_RADIUS * np.arcsin(np.sqrt(np.minimum(half, 1.0))))
    # The two directions may differ in the last bit, and so by a metre after rounding.
    for start in range(size):
        metres[start:, start] = metres[start, start:]
    return metres


def projected(degrees: FloatArray) -> FloatArray:
    """Return points of a plane, in metres around the depot, for drawings and neighbourhoods."""
    longitude = (degrees[:, 0] - degrees[0, 0] + 180.0) % 360.0 - 180.0
    scale = np.radians(1.0) * MEAN_RADIUS
    across = scale * np.cos(np.radians(degrees[:, 1].mean())) * longitude
    return np.stack((across, scale * degrees[:, 1]), axis=1)


def path_length(
    coords: FloatArray, nodes: IntArray, convention: Convention, matrix: FloatArray | None = None
) -> float:
    """Return the length of the walk through ``nodes``; ``matrix`` is for EXPLICIT only."""
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
    products = -0.5 * (squares - means - means[:, None] + means.mean())
    if len(matrix) > _MANY:
        # All eigenvectors would take minutes; subspace iteration approximates the leading ones.
        basis = np.random.default_rng(0).standard_normal((len(matrix), _BASIS))
        for _ in range(_STEPS):
            basis, _ = np.linalg.qr(products @ basis)
        values, vectors = np.linalg.eigh(basis.T @ products @ basis)
        vectors = basis @ vectors
    else:
        values, vectors = np.linalg.eigh(products)
    coords = np.zeros((len(matrix), 2))
    for axis in range(min(2, len(matrix))):
        value, vector = values[-1 - axis], vectors[:, -1 - axis]
        sign = np.sign(vector[np.argmax(np.abs(vector))])
        coords[:, axis] = sign * vector * np.sqrt(max(value, 0.0))
    return np.round(coords, 6) + 0.0


LEVELS = 20
"""Levels of the curve, which passes through 2**20 columns of 2**20 cells each."""


def along_curve(coords: FloatArray) -> IntArray:
    """Return the positions of points along the Hilbert curve that fills their square.

    Parameters
    ----------
    coords
        Shape (n, 2).

    Returns
    -------
    Shape (n,): the position of each point's cell; all 0 if all points coincide.
    """
    corner = coords.min(axis=0)
    side = float((coords.max(axis=0) - corner).max())
    if side == 0.0:
        return np.zeros(len(coords), np.int64)
    cells = ((coords - corner) / side * (2**LEVELS - 1)).astype(np.int64)
    return hilbert_places(cells[:, 0], cells[:, 1], LEVELS)


def hilbert_places(columns: IntArray, rows: IntArray, levels: int) -> IntArray:
    """Return the position of each cell along the Hilbert curve that fills a square.

    Parameters
    ----------
    columns, rows
        Columns and rows of the cells, integers in [0, 2**levels).
    """
    places = np.zeros(len(columns), np.int64)
    for level in reversed(range(levels)):
        half = 1 << level
        right, upper = (columns >> level) & 1, (rows >> level) & 1
        places += half * half * ((3 * right) ^ upper)
        # Each quarter holds the same curve, mirrored or turned.
        mirrored = (upper == 0) & (right == 1)
        columns = np.where(mirrored, ~columns, columns) & (half - 1)
        rows = np.where(mirrored, ~rows, rows) & (half - 1)
        turned = upper == 0
        columns, rows = np.where(turned, rows, columns), np.where(turned, columns, rows)
    return places
