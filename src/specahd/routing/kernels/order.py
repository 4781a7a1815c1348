"""A stable argsort for the short arrays of construction loops.

The algorithm counts, for every pair once, which of the two comes later. This takes
n^2 / 2 comparisons, but no branches, and it vectorises: up to a few hundred values
it is several times faster than quicksort.
"""

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from specahd.core.loop_cache import njit

BLOCK = 256
"""Longer arrays are ordered in blocks of this length, which are then merged."""

_INTEGERS = types.Array(types.int64, 1, "C")


def _keys_of(dtype: types.Type) -> list[Any]:
    """Return the signatures of conversions of an array of any layout to integers."""
    arrays = (types.Array(dtype, 1, "C"), types.Array(dtype, 1, "A", readonly=True))
    return [_INTEGERS(array) for array in arrays]


_NAN = np.int64(2**63 - 1)
_MAGNITUDE = np.int64(2**63 - 1)


# Compiled for any layout at import: a confined child loads no other form from disk.
@njit(_keys_of(types.float64), cache=True, nogil=True)
def float_keys(values: Any) -> Any:
    """Return integers in the order of floats: -0 equals 0, and every NaN comes last."""
    keys = np.empty(len(values), np.int64)
    for place in range(len(values)):
        value = values[place]
        # Adding 0 turns -0 into 0; the bits of negative numbers count backwards.
        bits = np.float64(value + 0.0).view(np.int64)
        keys[place] = bits ^ ((bits >> 63) & _MAGNITUDE) if value == value else _NAN
    return keys


@njit(cache=True, nogil=True)
def _order_block(keys: Any, start: int, order: Any) -> None:
    ranks = np.zeros(len(keys), np.int64)
    for later in range(1, len(keys)):
        key = keys[later]
        above = np.int64(0)
        for earlier in range(later):
            greater = np.int64(keys[earlier] > key)
            ranks[earlier] += greater
            above += greater
        ranks[later] = later - above
    for place in range(len(keys)):
        order[start + ranks[place]] = start + place


@njit(cache=True, nogil=True)
def _merge(keys: Any, order: Any, merged: Any, start: int, middle: int, end: int) -> None:
    left = start
    right = middle
    for place in range(start, end):
        from_right = left == middle or (right < end and keys[order[right]] < keys[order[left]])
        merged[place] = order[right] if from_right else order[left]
        right += from_right
        left += not from_right


@njit(_keys_of(types.int64), cache=True, nogil=True)
def stable_order(keys: Any) -> Any:
    """Return the indices that sort int64 keys; equal keys stay in their order."""
    size = len(keys)
    order = np.empty(size, np.int64)
    for start in range(0, size, BLOCK):
        _order_block(keys[start : start + BLOCK], start, order)
    spare = np.empty(size if size > BLOCK else 0, np.int64)
    width = BLOCK
    while width < size:
        for start in range(0, size, 2 * width):
            _merge(
                keys, order, spare, start, min(start + width, size), min(start + 2 * width, size)
            )
        order, spare = spare, order
        width *= 2
    return order


def argsort(values: Any) -> Any:
    """Return the indices that sort an array, equal values in their order."""
    return np.argsort(values, kind="stable")


@overload(argsort)
def _argsort(values: Any) -> Any:
    def of_floats(values: Any) -> Any:
        return stable_order(float_keys(values))

    def of_integers(values: Any) -> Any:
        return stable_order(values)

    def of_others(values: Any) -> Any:
        return np.argsort(values)

    if not isinstance(values, types.Array) or values.ndim != 1:
        return of_others
    return {types.float64: of_floats, types.int64: of_integers}.get(values.dtype, of_others)
