"""Checkpoint candidates: one per round, from which the best is chosen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

from specahd.checkpoint.frozen import Checkpoint
from specahd.core.program import Program
from specahd.core.settings import Accept, Settings
from specahd.repair.router import ResponseArchive, Utilities


@dataclass(frozen=True, slots=True)
class Candidate:
    """A checkpoint candidate: (G, H, A) at the end of a round.

    Parameters
    ----------
    uppers
        Upper programs G, at least one, in the order of their turns.
    selection
        Mean improvement on the selection pool, nan if there is none.
    failed
        Number of selection instances on which a program of G failed; no mean includes them.
    portfolio
        As in :class:`specahd.repair.system.RepairSystem`.
    utilities
        As in :class:`specahd.checkpoint.frozen.Checkpoint`.
    """

    round: int
    uppers: tuple[Program, ...]
    repertoire: tuple[Program, ...]
    archive: ResponseArchive
    selection: float
    failed: int = 0
    portfolio: bool = False
    utilities: Utilities | None = None

    @property
    def upper(self) -> Program:
        """The first of the upper programs."""
        return self.uppers[0]

    @property
    def names(self) -> list[str]:
        """The names of the upper programs."""
        return [program.id for program in self.uppers]

    def checkpoint(
        self,
        problem: str,
        problem_settings: Mapping[str, Any],
        settings: Settings,
        training: Mapping[str, Any],
    ) -> Checkpoint:
        """Return the candidate as a checkpoint."""
        return Checkpoint(
            problem=problem,
            settings=problem_settings,
            uppers=self.uppers,
            repertoire=self.repertoire,
            archive=self.archive,
            statistics=self.archive.statistics(),
            accept=Accept(settings.accept),
            neighbours=settings.neighbours,
            portfolio=self.portfolio,
            passes=settings.passes,
            tries=settings.tries,
            training=training,
            utilities=self.utilities,
        )


def ranked_candidates(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates, the best selection score first, the earliest on ties.

    A candidate that failed on fewer instances precedes all that failed on more.
    """

    def rank(candidate: Candidate) -> tuple[int, float]:
        score = candidate.selection
        return -candidate.failed, score if isfinite(score) else -inf

    return sorted(candidates, key=rank, reverse=True)


def best_candidate(candidates: Sequence[Candidate]) -> Candidate:
    """Return the first of :func:`ranked_candidates`."""
    return ranked_candidates(candidates)[0]
