"""Compile functions that a loop calls for every customer into the loop.

They take records of many arrays (:mod:`specahd.engine.state`), which as arguments of a call would
be copied word by word.
"""

from collections.abc import Callable
from typing import Any

from numba import njit

inlined: Callable[[Any], Any] = njit(cache=True, forceinline=True)
"""In place of ``njit(cache=True)``."""
