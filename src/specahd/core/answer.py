"""The answer of one program call, as a runner in the sandbox child returns it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """Integer arrays, and the number of the program's choices that were replaced.

    Parameters
    ----------
    arrays
        One-dimensional arrays of int64; each runner defines their meaning.
    fallbacks
        Number of unavailable choices that a deterministic rule replaced, at least 0.
    """

    arrays: Sequence[NDArray[np.int64]] = ()
    fallbacks: int = 0
