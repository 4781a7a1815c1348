"""Compiled distance conventions, bit for bit equal to :mod:`specahd.routing.geometry`."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

from specahd.core.loop_cache import njit
from specahd.core.memory_limit import require_memory
from specahd.routing.base import FloatArray
from specahd.routing.distances import CONVENTION, MATRIX, code_of
from specahd.routing.geometry import EARTH_RADIUS, GEO_PI, Convention

CODES = {convention: code_of(convention) for convention in Convention}
"""The number of each convention in kernels."""

_EUC_2D, _CEIL_2D, _GEO, _ATT, _EXACT_2D, _FLOOR_2D, _DIMACS, _ = CODES.values()

Distances = FloatArray | tuple[FloatArray, int]
"""Type of the distances of an instance in kernels: a matrix, or coordinates and a code."""


def distances_of(
    coords: FloatArray, convention: Convention, matrix: FloatArray | None
) -> Distances:
    """Return the distances of an instance in the form of the kernels, without computing any.

    Parameters
    ----------
    matrix
        The matrix of an EXPLICIT instance, or of all distances if already computed; else None.
    """
    return (coords, CODES[convention]) if matrix is None else matrix


def whole_matrix(
    coords: FloatArray,
    convention: Convention,
    matrix: FloatArray | None,
    who: str,
    copies: int = 1,
) -> FloatArray:
    """Return all distances of an instance as one matrix, for an algorithm that needs it.

    Parameters
    ----------
    matrix
        The matrix of an EXPLICIT instance, which is returned; else None.
    who
        Subject of the error message, for example ``The baseline pyvrp of X-n101-k25``.
    copies
        Number of matrices of this size that will exist at a time.

    Raises
    ------
    NotEnoughMemory
        The matrices would not fit; nothing was allocated.
    """
    size = len(coords)
    require_memory(copies * np.dtype(np.float64).itemsize * size**2, f"{who} needs")
    if matrix is not None:
        return matrix
    result = np.empty((size, size))
    fill_distance_matrix(coords, convention, result)
    return result


def fill_block(
    arrays: Mapping[str, NDArray[Any]],
    coords: FloatArray,
    convention: Convention,
    matrix: FloatArray | None,
) -> None:
    """Write the distances into a shared block that :func:`specahd.routing.distances.layout` made.

    Parameters
    ----------
    matrix
        The matrix of an EXPLICIT instance; else None.
    """
    if CONVENTION in arrays:
        arrays[CONVENTION][:] = code_of(convention)
    elif matrix is None:
        fill_distance_matrix(coords, convention, arrays[MATRIX])
    else:
        arrays[MATRIX][:] = matrix


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


# The functions below are force-inlined: LLVM does not inline the conventions by itself, because
# they are too long, and with a call for each distance constructions take ten times as long.


@njit(cache=True, nogil=True, forceinline=True)
def leg_length(distances: Any, start: int, end: int) -> Any:
    """Return the distance between two nodes, from either kind of :data:`Distances`."""
    return _by_kind(distances, start, end)


def _by_kind(distances: Any, start: Any, end: Any) -> Any:
    """Mark a call that numba replaces by one of two functions, chosen by type when it compiles."""
    raise NotImplementedError


@overload(_by_kind, jit_options={"nogil": True, "forceinline": True})
def _choose(distances: Any, start: Any, end: Any) -> Callable[[Any, Any, Any], Any]:
    # numba requires that the signatures below equal this one, with annotations.
    def stored(distances: Any, start: Any, end: Any) -> Any:
        return distances[start, end]

    def computed(distances: Any, start: Any, end: Any) -> Any:
        return _measured(distances[0], distances[1], start, end)

    return stored if isinstance(distances, types.Array) else computed


@njit(cache=True, nogil=True, forceinline=True)
def _measured(coords: Any, code: int, start: int, end: int) -> Any:
    """Return the distance between two nodes in a convention that has coordinates."""
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
                out[i, j] = _measured(coords, code, i, j)
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
