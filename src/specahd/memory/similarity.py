"""Similarity of programs: the mean cosine over several encoders."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from specahd.core.program import Program

DIGITS = 6
"""Number of decimals of a similarity, in comparisons and in records."""
FUSED = "fused"

Similarities = Mapping[str, NDArray[np.float64]]
"""Similarities by encoder and as ``fused``: one value in [-1, 1] for each program."""


class ProgramEncoder(Protocol):
    """Store of programs as vectors of one space, in the order in which they were added."""

    def preflight(self) -> None:
        """Check that programs can be encoded.

        Raises
        ------
        ServiceError
            The encoder cannot encode them.
        """
        ...

    def add(self, programs: Sequence[Program]) -> None:
        """Add programs."""
        ...

    def cosines(self, position: int) -> NDArray[np.float64]:
        """Return the cosines of one program with all that were added, in order.

        Raises
        ------
        ServiceError, TransportError
            The encoder returns no vectors; only an encoder with a server raises this.
        """
        ...


class SimilarityIndex:
    """Index of all programs of a level as vectors, encoded when they are first compared.

    Parameters
    ----------
    encoders
        The encoders by name; the mean of their cosines is the fused similarity.
    """

    def __init__(self, encoders: Mapping[str, ProgramEncoder]) -> None:
        self._encoders = encoders
        self._positions: dict[str, int] = {}
        self._pending: list[Program] = []

    def preflight(self) -> None:
        """Check that programs can be encoded."""
        for encoder in self._encoders.values():
            encoder.preflight()

    def add(self, program: Program) -> None:
        """Add a program."""
        self._positions[program.id] = len(self._positions)
        self._pending.append(program)

    def similarities(self, program: str, others: Sequence[str]) -> Similarities:
        """Return the similarities of one program to others; all must have been added."""
        places = [self._positions[other] for other in others]
        if not places or not self._encoders:
            return {FUSED: np.zeros(len(places))}
        if self._pending:
            for encoder in self._encoders.values():
                encoder.add(self._pending)
            self._pending = []
        found = {
            name: encoder.cosines(self._positions[program])[places].round(DIGITS)
            for name, encoder in self._encoders.items()
        }
        mean = np.asarray(sum(found.values()) / len(found)).round(DIGITS)
        return {**found, FUSED: mean}
