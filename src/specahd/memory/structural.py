"""The structural memory: programs compared without any weights, the same on every machine.

Features are hashed to coordinates (scikit-learn's :class:`FeatureHasher`:
MurmurHash3, without signs), whose values are counts. Scalar products and squared
norms are thus integers that float64 holds exactly in any order of summation, and
a cosine is one square root and one division, both correctly rounded.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack
from sklearn.feature_extraction import FeatureHasher  # type: ignore[import-untyped]  # ships no types

from specahd.core.errors import ConfigError
from specahd.core.program import Program
from specahd.memory.novelty import Verdict, normalised
from specahd.memory.views import VIEWS, View

FEATURES = 2**16
"""Coordinates of a view; a program has some hundred features, so they rarely collide."""
DIGITS = 6
"""Decimals of a similarity, in comparisons as in records."""
FUSED = "fused"
_SYNTAX = "syntax"


class StructuralFilter:
    """Turns away a program that resembles an earlier one in the mean over its views.

    An identical normalised syntax tree is always turned away, whatever the ideas
    (SPEC section 7). A program that was turned away is remembered, too.

    Parameters
    ----------
    threshold
        Least fused similarity that makes a duplicate, above 0 and at most 1
        (docs/novelty.md says how the default was chosen).
    views
        What is fused: ``syntax`` and any of ``tokens`` and ``idea``.
    """

    def __init__(self, threshold: float, views: Sequence[str] = tuple(VIEWS)) -> None:
        number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
        if not number or not 0 < threshold <= 1:
            raise ConfigError(f"Expected memory.threshold above 0 and at most 1, got {threshold}.")
        if len(set(views)) < len(views) or not {_SYNTAX} <= set(views) <= VIEWS.keys():
            raise ConfigError(
                f"Expected memory.views to be {_SYNTAX} and any others of {', '.join(VIEWS)}, "
                f"each once, got {', '.join(map(str, views)) or 'none'}."
            )
        self.threshold = threshold
        self._programs: list[Program] = []
        self._views = {name: _Vectors(VIEWS[name]) for name in views}

    def judge(self, program: Program) -> Verdict:
        by_view = {name: vectors.compare(program) for name, vectors in self._views.items()}
        earlier = tuple(self._programs)
        self._programs.append(program)
        if not earlier:
            return Verdict()
        fused = np.round(sum(by_view.values()) / len(by_view), DIGITS)
        # Of equally near ones the oldest.
        position = int(np.argmax(fused))
        nearest = earlier[position].id
        similarity = {name: float(values[position]) for name, values in by_view.items()}
        similarity[FUSED] = float(fused[position])
        # Equal trees have equal bags of paths, so few programs need to be compared as trees.
        alike = [earlier[index] for index in np.flatnonzero(by_view[_SYNTAX] == 1)]
        same = _identical(program, alike) if alike else None
        near = nearest if similarity[FUSED] >= self.threshold else None
        return Verdict(same or near, nearest, similarity)


def _identical(program: Program, others: Sequence[Program]) -> str | None:
    """Return the first of the others whose normalised syntax tree is the program's."""
    tree = normalised(program.source)
    return next((other.id for other in others if normalised(other.source) == tree), None)


class _Vectors:
    """All programs so far in one view."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._hasher = FeatureHasher(FEATURES, alternate_sign=False)
        self._rows: Any = csr_array((0, FEATURES))
        self._squares: NDArray[np.float64] = np.empty(0)

    def compare(self, program: Program) -> NDArray[np.float64]:
        """Return the cosine with every earlier program, in order; remember this one."""
        row = self._hasher.transform([self._view(program)])
        square = float(row.data @ row.data)
        dense = np.zeros(FEATURES)
        dense[row.indices] = row.data
        products = self._rows @ dense
        # Two empty bags are alike; an empty one is like no other.
        lengths = np.sqrt(self._squares * square)
        empty = np.where(self._squares == square, 1.0, 0.0)
        cosines: NDArray[np.float64] = np.divide(products, lengths, out=empty, where=lengths > 0)
        self._rows = vstack([self._rows, row], format="csr")
        self._squares = np.append(self._squares, square)
        return cosines.round(DIGITS)
