"""The structural memory: it compares programs without a model, equally on every machine.

Features are hashed to coordinates whose values are counts (MurmurHash3, without signs, as in
scikit-learn's ``FeatureHasher``). Scalar products and squared norms are integers, so float64
holds them exactly in any order of summation. A cosine needs one square root and one
division, both correctly rounded.
"""

from collections.abc import Sequence
from typing import Annotated, Any

import mmh3
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from specahd.core.errors import ConfigError
from specahd.core.options import Option, checked
from specahd.core.program import Program
from specahd.memory.memory import Memory
from specahd.memory.views import VIEWS, View

FEATURES = 2**16
"""Number of coordinates of a view; the few hundred features of a program rarely collide."""


@checked("memory.")
def structural(
    encoders: Annotated[
        Sequence[str],
        Option("views that are compared: syntax, tokens, idea", choices=VIEWS, part=True),
    ],
    **options: Annotated[Any, Memory],
) -> Memory:
    """Return a memory that compares programs by deterministic views of them.

    Parameters
    ----------
    encoders
        Each name of :data:`~specahd.memory.views.VIEWS` at most once.
    options
        Options of :class:`~specahd.memory.memory.Memory`.
    """
    if len(set(encoders)) < len(encoders):
        raise ConfigError(
            f"Expected memory.encoders to be views, each once, got {', '.join(encoders)}."
        )
    return Memory({name: StructuralEncoder(VIEWS[name]) for name in encoders}, **options)


class StructuralEncoder:
    """An encoder with vectors that count the features of one view."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._rows: Any = csr_array((0, FEATURES))
        self._squares: NDArray[np.float64] = np.empty(0)

    def preflight(self) -> None:
        """Do nothing: a structural encoder is always ready."""

    def add(self, programs: Sequence[Program]) -> None:
        """Add programs."""
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
        # Two programs without features have cosine 1; one without and one with have cosine 0.
        lengths = np.sqrt(self._squares * square)
        empty = np.where(self._squares == square, 1.0, 0.0)
        cosines: NDArray[np.float64] = np.divide(products, lengths, out=empty, where=lengths > 0)
        return cosines
