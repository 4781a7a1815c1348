"""Ranges of numbers in files, and their descriptions in messages."""

from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers in [low, high], or the integers among them; nan is in no range."""

    low: float
    high: float
    integer: bool = False

    def __str__(self) -> str:
        kind = "an integer" if self.integer else "a number"
        return f"{kind} in [{_short(self.low)}, {_short(self.high)}]"

    def __contains__(self, number: float) -> bool:
        return self.low <= number <= self.high and not (self.integer and number % 1)

    def outside(self, numbers: ArrayLike) -> list[int]:
        """Return the ascending indices (for a table, row indices) of numbers outside the range."""
        numbers = np.asarray(numbers)
        inside = (numbers >= self.low) & (numbers <= self.high)
        if self.integer:
            inside &= np.floor(numbers) == numbers
        places: list[int] = np.unique(np.nonzero(~inside)[0]).tolist()
        return places


def number_of(word: str) -> float:
    """Return a word as a number; nan if it is none, as ``1_000`` and ``٣`` are none."""
    # Python reads both as numbers.
    if "_" in word or not word.isascii():
        return nan
    try:
        return float(word)
    except ValueError:
        return nan


def _short(bound: float) -> str:
    text = f"{bound:g}".replace("e+0", "e")
    return text if float(text) == bound else f"{bound:.12g}"
