"""Random numbers of the engine: xorshift64*, the same on every machine."""

from typing import Any

import numpy as np

from specahd.core.loop_cache import njit

_UNIT = 1.0 / (1 << 53)


def state_of(seed: int) -> Any:
    """Return a generator's state, shape (1,) of uint64, spread from a seed by splitmix64."""
    mask = (1 << 64) - 1
    word = (seed * 0x9E3779B97F4A7C15 + 0x9E3779B97F4A7C15) & mask
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & mask
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & mask
    return np.array([(word ^ (word >> 31)) or 1], np.uint64)


@njit(cache=True)
def uniform(state: Any) -> Any:
    """Return a number in [0, 1) and advance the state."""
    word = state[0]
    word ^= word >> np.uint64(12)
    word ^= word << np.uint64(25)
    word ^= word >> np.uint64(27)
    state[0] = word
    return ((word * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(11)) * _UNIT


@njit(cache=True)
def refill(state: Any, numbers: Any, start: int, stop: int) -> None:
    """Write new uniform numbers to a part of an array."""
    for place in range(start, stop):
        numbers[place] = uniform(state)
