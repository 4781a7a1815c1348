"""Decorator that inlines functions into the loop that calls them for every customer.

Their arguments are records of many arrays (:mod:`specahd.engine.state`), which a call would copy
word by word.
"""

from collections.abc import Callable
from typing import Any

from specahd.core.loop_cache import njit

inlined: Callable[[Any], Any] = njit(cache=True, forceinline=True)
"""Decorator to use instead of ``njit(cache=True)``."""
