"""The structural memory: programs compared without any weights, the same on every machine.

Features are hashed to coordinates (MurmurHash3, without signs, as scikit-learn's
``FeatureHasher`` does it), whose values are counts. Scalar products and squared
norms are thus integers that float64 holds exactly in any order of summation, and
a cosine is one square root and one division, both correctly rounded.
"""

from collections.abc import Sequence
from typing import Any

import mmh3
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from specahd.core.errors import ConfigError
from specahd.core.program import Program
from specahd.memory.memory import Memory
from specahd.memory.views import VIEWS, View

FEATURES = 2**16
"""Coordinates of a view; a program has some hundred features, so they rarely collide."""


def structural(encoders: Sequence[str], **options: Any) -> Memory:
    """Return a memory that compares programs by views of their form.

    Parameters
    ----------
    encoders
        Which views, each of ``syntax``, ``tokens`` and ``idea`` at most once.
    options
        Those of :class:`~specahd.memory.memory.Memory`.
    """
    if len(set(encoders)) < len(encoders) or not set(encoders) <= VIEWS.keys():
        raise ConfigError(
            f"Expected memory.encoders to be any of {', '.join(VIEWS)}, each once, "
            f"got {', '.join(map(str, encoders)) or 'none'}."
        )
    return Memory({name: StructuralEncoder(VIEWS[name]) for name in encoders}, **options)


class StructuralEncoder:
    """An encoder of which a vector counts the features of one view."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._rows: Any = csr_array((0, FEATURES))
        self._squares: NDArray[np.float64] = np.empty(0)

    def preflight(self) -> None:
        """Need nothing."""

    def add(self, programs: Sequence[Program]) -> None:
        """Take in programs."""
        bags = [self._view(program) for program in programs]
        indices = [abs(mmh3.hash(feature)) % FEATURES for bag in bags for feature in bag]
        counts = np.array([count for bag in bags for count in bag.values()], dtype=np.float64)
        ends = np.cumsum([0, *map(len, bags)])
        rows = csr_array((counts, indices, ends), shape=(len(bags), FEATURES))
        # Features that share a coordinate are added up.
        rows.sum_duplicates()
        self._rows = vstack([self._rows, rows], format="csr")
        squares = np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).ravel()
        self._squares = np.append(self._squares, squares)

    def cosines(self, position: int) -> NDArray[np.float64]:
        """Return the cosines of one program with all that were added, in order."""
        row = self._rows[[position]]
        dense = np.zeros(FEATURES)
        dense[row.indices] = row.data
        products = self._rows @ dense
        square = self._squares[position]
        # Two programs without features are alike; one without is like no other.
        lengths = np.sqrt(self._squares * square)
        empty = np.where(self._squares == square, 1.0, 0.0)
        cosines: NDArray[np.float64] = np.divide(products, lengths, out=empty, where=lengths > 0)
        return cosines
