"""The distance conventions, compiled; bit for bit those of :mod:`specahd.routing.geometry`."""

import math
from typing import Any

import numpy as np
from numba import njit

from specahd.routing.base import FloatArray
from specahd.routing.geometry import Convention

_EUC_2D, _CEIL_2D, _EXACT_2D, _EXPLICIT = range(4)

CODES = {
    Convention.EUC_2D: _EUC_2D,
    Convention.CEIL_2D: _CEIL_2D,
    Convention.EXACT_2D: _EXACT_2D,
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
    across = coords[start, 0] - coords[end, 0]
    along = coords[start, 1] - coords[end, 1]
    exact = math.sqrt(across * across + along * along)
    if code == _EUC_2D:
        return np.floor(exact + 0.5)
    if code == _CEIL_2D:
        return np.ceil(exact)
    return exact


@njit(cache=True, nogil=True)
def _fill(coords: Any, code: int, out: Any) -> None:
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
