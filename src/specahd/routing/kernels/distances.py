"""The distance conventions, compiled; bit for bit those of :mod:`specahd.routing.geometry`."""

import math
from typing import Any

import numpy as np
from numba import njit

from specahd.routing.base import FloatArray
from specahd.routing.geometry import EARTH_RADIUS, GEO_PI, Convention

_EUC_2D, _CEIL_2D, _GEO, _ATT, _EXACT_2D, _FLOOR_2D, _DIMACS, _EXPLICIT = range(8)

CODES = {
    Convention.EUC_2D: _EUC_2D,
    Convention.CEIL_2D: _CEIL_2D,
    Convention.GEO: _GEO,
    Convention.ATT: _ATT,
    Convention.EXACT_2D: _EXACT_2D,
    Convention.FLOOR_2D: _FLOOR_2D,
    Convention.DIMACS: _DIMACS,
    Convention.EXPLICIT: _EXPLICIT,
}
"""What kernels take for a convention."""

NO_MATRIX = np.empty((0, 0))
"""What kernels take for the matrix of a convention that has coordinates."""


def fill_distance_matrix(coords: FloatArray, convention: Convention, out: FloatArray) -> None:
    """Write all distances into ``out``, of shape (n, n), in place.

    Raises
    ------
    ValueError
        The convention is EXPLICIT, or ``out`` has another shape.
    """
    if convention is Convention.EXPLICIT or out.shape != (len(coords), len(coords)):
        raise ValueError(f"Expected coordinates and {len(coords)} rows, got {out.shape}.")
    _fill(coords, CODES[convention], out)


@njit(cache=True, nogil=True)
def between(coords: Any, matrix: Any, code: int, start: int, end: int) -> Any:
    """Return the distance between two nodes."""
    if code == _EXPLICIT:
        return matrix[start, end]
    if code == _GEO:
        return _geographical(coords[start, 0], coords[start, 1], coords[end, 0], coords[end, 1])
    across = coords[start, 0] - coords[end, 0]
    along = coords[start, 1] - coords[end, 1]
    exact = math.sqrt(across * across + along * along)
    if code == _EUC_2D:
        return np.floor(exact + 0.5)
    if code == _CEIL_2D:
        return np.ceil(exact)
    if code == _ATT:
        return np.ceil(math.sqrt((across * across + along * along) / 10.0))
    if code == _FLOOR_2D:
        return np.floor(exact)
    if code == _DIMACS:
        return np.floor(10.0 * exact) / 10.0
    return exact


@njit(cache=True, nogil=True)
def _geographical(latitude: float, longitude: float, other: float, other_longitude: float) -> float:
    if latitude == other and longitude == other_longitude:
        return 0.0
    q1 = math.cos(_radians(longitude) - _radians(other_longitude))
    q2 = math.cos(_radians(latitude) - _radians(other))
    q3 = math.cos(_radians(latitude) + _radians(other))
    cosine = 0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3)
    return math.floor(EARTH_RADIUS * math.acos(min(1.0, max(-1.0, cosine))) + 1.0)


@njit(cache=True, nogil=True)
def _radians(degrees: float) -> float:
    whole = math.trunc(degrees)
    return GEO_PI * (whole + 5.0 * (degrees - whole) / 3.0) / 180.0


@njit(cache=True, nogil=True)
def _fill(coords: Any, code: int, out: Any) -> None:
    if code in (_GEO, _ATT):
        for i in range(len(coords)):
            for j in range(len(coords)):
                out[i, j] = between(coords, out, code, i, j)
        return
    # One loop per convention and contiguous columns, so that they vectorise.
    xs = coords[:, 0].copy()
    ys = coords[:, 1].copy()
    size = len(xs)
    for i in range(size):
        x = xs[i]
        y = ys[i]
        row = out[i]
        for j in range(size):
            row[j] = math.sqrt((x - xs[j]) * (x - xs[j]) + (y - ys[j]) * (y - ys[j]))
        if code == _EUC_2D:
            for j in range(size):
                row[j] = np.floor(row[j] + 0.5)
        elif code == _CEIL_2D:
            for j in range(size):
                row[j] = np.ceil(row[j])
        elif code == _FLOOR_2D:
            for j in range(size):
                row[j] = np.floor(row[j])
        elif code == _DIMACS:
            for j in range(size):
                row[j] = np.floor(10.0 * row[j]) / 10.0
