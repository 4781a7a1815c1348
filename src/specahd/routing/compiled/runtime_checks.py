"""What a compiled program checks before or after an operation, so that it never goes on alone.

Where the interpreter raises, lets an integer grow or looks at shapes, numba
computes on. A check raises there instead, and a compiled call that raises is
made again by the interpreter, whose word counts. Checks cost a comparison or
two for each operation, and nothing for each element unless they say so.
"""

import math
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import overload

LARGEST = 2**53
"""Larger integers are left to the interpreter: floats no longer hold them exactly."""
LONGEST = 2**28
"""Longer axes are left to it too: NumPy refuses some of them also where nothing is stored."""

MOST_STEPS = 2**31
"""Loops of more steps are left to it too, and take it longer than any limit of time."""

_check = njit(error_model="numpy")


@_check
def short_range(numbers: Any) -> None:
    """Refuse a range that nothing gets through in time."""
    if len(numbers) > MOST_STEPS:
        raise OverflowError("Endless loops are left to the interpreter.")


def next_step(steps: Any) -> Any:
    """Count a step of a loop: without this, LLVM drops loops that have no effect and no end."""
    if steps >= MOST_STEPS:
        raise OverflowError("Endless loops are left to the interpreter.")
    return steps + 1


def clip(values: Any, least: Any, most: Any) -> Any:
    """Clip an array as NumPy does: numba passes over values and bounds that are NaN."""
    return np.minimum(np.maximum(values, least), most)


@overload(clip)
def _clip(values: Any, least: Any, most: Any) -> Any:
    return clip if isinstance(values, types.Array) else None


@overload(next_step)
def _next_step(steps: Any) -> Any:
    return next_step


@_check
def small(value: int) -> None:
    """Refuse a large integer: neither sums nor differences of small ones wrap around."""
    if value > LARGEST or value < -LARGEST:
        raise OverflowError("Large integers are left to the interpreter.")


@_check
def small_product(left: int, right: int) -> None:
    """Refuse integers whose product is large, and so is that of their floats."""
    if not abs(float(left) * float(right)) <= LARGEST:
        raise OverflowError("Large integers are left to the interpreter.")


@_check
def small_power(base: int, exponent: int) -> None:
    """Refuse integers whose power is large or a fraction."""
    if exponent < 0 or not abs(float(base) ** float(exponent)) <= LARGEST:
        raise OverflowError("Large integers and fractions are left to the interpreter.")


@_check
def nonzero(divisor: float) -> None:
    """Refuse a divisor of zero: Python raises, NumPy does not."""
    if divisor == 0:
        raise ZeroDivisionError("division by zero")


@_check
def not_minus_one(divisor: int) -> None:
    """Refuse the divisor by which the least integer has no quotient."""
    if divisor == -1:
        raise OverflowError("Division of integers by -1 is left to the interpreter.")


@_check
def finite(value: float) -> None:
    """Refuse a result that Python's ``math`` and powers never give: they raise."""
    if not math.isfinite(value):
        raise ArithmeticError("The result is not finite.")


@_check
def integral(value: float) -> None:
    """Refuse a number that has no whole part, or a large one."""
    if not abs(value) <= LARGEST:
        raise OverflowError("Large integers are left to the interpreter.")


@_check
def integral_array(values: Any) -> None:
    """Refuse an array that holds such a number; looks at each element."""
    for value in values.flat:
        if not abs(value) <= LARGEST:
            raise OverflowError("Large integers are left to the interpreter.")


@_check
def same_length(array: Any, mask: Any) -> None:
    """Refuse a mask that is not as long as the array it selects from."""
    if len(mask) != len(array):
        raise IndexError("The mask has another length than the array.")


def _inside(axis: int) -> Any:
    @_check
    def inside(array: Any, index: Any) -> None:
        """Refuse an integer out of bounds, which NumPy does also where nothing is selected."""
        if not -array.shape[axis] <= index[axis] < array.shape[axis]:
            raise IndexError("The index is out of bounds.")

    return inside


inside = tuple(map(_inside, range(3)))
"""For each axis, the check of an integer that stands beside an array of indices."""


@_check
def occupied(array: Any) -> None:
    """Refuse an array without elements, into which NumPy looks at indices too."""
    if array.size == 0:
        raise ValueError("Arrays without elements are left to the interpreter.")


def _some(axis: int) -> Any:
    @_check
    def some(array: Any, index: Any) -> None:
        """Refuse a slice that selects nothing: NumPy looks at the indices beside it too."""
        start, stop, step = index[axis].indices(array.shape[axis])
        if len(range(start, stop, step)) == 0:
            raise IndexError("Indices beside an empty slice are left to the interpreter.")

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
    """Refuse arrays that share memory, unless they are one: NumPy copies the value first."""
    alike = target.shape == value.shape and target.strides == value.strides
    if not (alike and target.ctypes.data == value.ctypes.data):
        separate(target, value)


@_check
def separate(target: Any, other: Any) -> None:
    """Refuse arrays that share memory: NumPy has read all of one before it writes to the other."""
    low, high = _extent(target)
    least, most = _extent(other)
    if low < most and least < high:
        # Columns of one matrix lie between each other.
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
        """Refuse memory shared with one of several indices."""
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
            raise ValueError("Long axes are left to the interpreter.")


@_check
def comparable(value: float) -> None:
    """Refuse to look for NaN: Python finds it where it is the same object."""
    if value != value:
        raise ValueError("NaN is looked for.")


@_check
def ordered(values: Any) -> None:
    """Refuse an array that holds NaN, which has no place in an order; looks at each element."""
    for value in values.flat:
        if value != value:
            raise ValueError("The array holds NaN.")
