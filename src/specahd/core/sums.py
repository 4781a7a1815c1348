"""Sums of floats with one order of additions, whatever the interpreter."""

from collections.abc import Iterable
from functools import reduce
from operator import add


def sequential_sum(numbers: Iterable[float], /, start: float = 0) -> float:
    """Return the sum of numbers, added from left to right.

    Since Python 3.12 the built-in ``sum`` compensates the rounding errors of floats. What is
    stored, or decides what is stored, has to be the same under every interpreter.
    """
    return reduce(add, iter(numbers), start)
