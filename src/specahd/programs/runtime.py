"""What compiled programs call: checks where numba differs from Python, and a stable argsort.

Where Python raises, extends an integer or compares shapes, numba continues. There a check before or
after the operation raises instead, and the call has no answer. A check costs one or two comparisons
for each operation, and nothing for each element unless its docstring states so.
"""

import math
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from specahd.core.loop_cache import njit

LARGEST = 2**53
"""Largest integer of a compiled program: floats do not hold all larger ones."""
LONGEST = 2**28
"""Longest axis of a new array: NumPy refuses some longer ones even without elements."""

MOST_STEPS = 2**31
"""Most steps of a loop; with more it would exceed any time limit."""

_check = njit(error_model="numpy")


@_check
def short_range(numbers: Any) -> None:
    """Refuse a range that is too long for any time limit."""
    if len(numbers) > MOST_STEPS:
        raise OverflowError("Endless loops are refused.")


def next_step(steps: Any) -> Any:
    """Count a step of a loop: without this, LLVM removes endless loops without effect."""
    if steps >= MOST_STEPS:
        raise OverflowError("Endless loops are refused.")
    return steps + 1


def counted(answer: Any, taken: Any, steps: Any) -> Any:
    """Add the steps of a call to those of the calls before, and return its answer."""
    taken[0] += steps
    return answer


def clip(values: Any, least: Any, most: Any) -> Any:
    """Clip an array as NumPy does: numba ignores values and bounds that are NaN."""
    return np.minimum(np.maximum(values, least), most)


@overload(clip)
def _clip(values: Any, least: Any, most: Any) -> Any:
    return clip if isinstance(values, types.Array) else None


@overload(counted)
def _counted(answer: Any, taken: Any, steps: Any) -> Any:
    return counted


@overload(next_step)
def _next_step(steps: Any) -> Any:
    return next_step


@_check
def small(value: int) -> None:
    """Refuse a large integer: sums and differences of small ones do not overflow."""
    if value > LARGEST or value < -LARGEST:
        raise OverflowError("Large integers are refused.")


@_check
def small_product(left: int, right: int) -> None:
    """Refuse integers with a large product: the product of their floats is large too."""
    if not abs(float(left) * float(right)) <= LARGEST:
        raise OverflowError("Large integers are refused.")


@_check
def small_power(base: int, exponent: int) -> None:
    """Refuse integers with a power that is large or a fraction."""
    if exponent < 0 or not abs(float(base) ** float(exponent)) <= LARGEST:
        raise OverflowError("Large integers and fractions are refused.")


@_check
def nonzero(divisor: float) -> None:
    """Refuse a divisor of zero: Python raises, NumPy does not."""
    if divisor == 0:
        raise ZeroDivisionError("division by zero")


@_check
def not_minus_one(divisor: int) -> None:
    """Refuse the divisor -1: the quotient of the least integer by it overflows."""
    if divisor == -1:
        raise OverflowError("Division of integers by -1 is refused.")


@_check
def finite(value: float) -> None:
    """Refuse a result that is not finite: there Python's ``math`` and powers raise."""
    if not math.isfinite(value):
        raise ArithmeticError("The result is not finite.")


@_check
def integral(value: float) -> None:
    """Refuse a number that is not finite, or that has a large whole part."""
    if not abs(value) <= LARGEST:
        raise OverflowError("Large integers are refused.")


@_check
def integral_array(values: Any) -> None:
    """Refuse an array with a number that :func:`integral` refuses; reads each element."""
    for value in values.flat:
        if not abs(value) <= LARGEST:
            raise OverflowError("Large integers are refused.")


@_check
def same_length(array: Any, mask: Any) -> None:
    """Refuse a mask that is not as long as the array it selects from."""
    if len(mask) != len(array):
        raise IndexError("The mask has another length than the array.")


def _inside(axis: int) -> Any:
    @_check
    def inside(array: Any, index: Any) -> None:
        """Refuse an integer out of bounds, as NumPy does even if nothing is selected."""
        if not -array.shape[axis] <= index[axis] < array.shape[axis]:
            raise IndexError("The index is out of bounds.")

    return inside


inside = tuple(map(_inside, range(3)))
"""For each axis, the check of an integer that stands beside an array of indices."""


@_check
def occupied(array: Any) -> None:
    """Refuse an array without elements: NumPy checks the indices into it too."""
    if array.size == 0:
        raise ValueError("Arrays without elements are refused.")


def _some(axis: int) -> Any:
    @_check
    def some(array: Any, index: Any) -> None:
        """Refuse a slice that selects nothing: NumPy checks the indices beside it too."""
        start, stop, step = index[axis].indices(array.shape[axis])
        if len(range(start, stop, step)) == 0:
            raise IndexError("Indices beside an empty slice are refused.")

    return some


some = tuple(map(_some, range(3)))
"""For each axis, the check of a slice that stands beside an array of indices."""


@_check
def fits(target: Any, value: Any) -> None:
    """Refuse a value that does not broadcast to the shape of a target."""
    for axis in range(value.ndim):
        length = value.shape[value.ndim - 1 - axis]
        if length != 1 and length != target.shape[target.ndim - 1 - axis]:
            raise ValueError("The shapes do not fit.")


@_check
def apart(target: Any, value: Any) -> None:
    """Refuse arrays that share memory, unless they are the same: NumPy copies the value first."""
    alike = target.shape == value.shape and target.strides == value.strides
    if not (alike and target.ctypes.data == value.ctypes.data):
        separate(target, value)


@_check
def separate(target: Any, other: Any) -> None:
    """Refuse arrays that share memory: NumPy reads all of one before it writes to the other."""
    low, high = _extent(target)
    least, most = _extent(other)
    if low < most and least < high:
        # Columns of one matrix alternate in memory without sharing it.
        offset, stride = other.ctypes.data - target.ctypes.data, target.strides[0]
        columns = target.ndim == other.ndim == 1 and stride == other.strides[0] != 0
        if not columns or offset % stride == 0:
            raise ValueError("The arrays overlap.")


@_check
def apart_from(target: Any, index: Any, value: Any) -> None:
    """Refuse a value that shares memory with the part of an array that it is assigned to."""
    apart(target[index], value)


def _separate_from(axis: int) -> Any:
    @_check
    def separate_from(target: Any, index: Any) -> None:
        """Refuse an array that shares memory with one of several indices."""
        separate(target, index[axis])

    return separate_from


separate_from = tuple(map(_separate_from, range(3)))
"""For each axis, the check of an array of indices that stands beside other indices."""


@_check
def _extent(array: Any) -> tuple[int, int]:
    low = high = array.ctypes.data
    for axis in range(array.ndim):
        reach = (array.shape[axis] - 1) * array.strides[axis]
        low += min(reach, 0)
        high += max(reach, 0)
    return low, high + array.itemsize


@_check
def short_axes(array: Any) -> None:
    """Refuse an array with a long axis."""
    for length in array.shape:
        if length > LONGEST:
            raise ValueError("Long axes are refused.")


@_check
def comparable(value: float) -> None:
    """Refuse a search for NaN: Python finds NaN only if it is the same object."""
    if value != value:
        raise ValueError("NaN is looked for.")


@_check
def ordered(values: Any) -> None:
    """Refuse an array that holds NaN, which has no place in an order; reads each element."""
    for value in values.flat:
        if value != value:
            raise ValueError("The array holds NaN.")


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
    """Return the indices that sort an array, equal values in their order.

    The algorithm counts, for every pair once, which of the two comes later. This takes n^2 / 2
    comparisons, but no branches, and it vectorises: up to a few hundred values it is several times
    faster than quicksort.
    """
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
