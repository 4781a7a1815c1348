"""What happens in a run, told to whoever wants to know.

Observers may fail without harm: told through ``tracking.observers.Observers``, the
run goes on without one that failed. The algorithms themselves never log or print.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specahd.core.budget import Spent
from specahd.core.program import Level, Outcome, Program


@dataclass(frozen=True, slots=True)
class Committed:
    """One sample, committed in index order.

    ``score`` is the level's measure (lower: mean response on the round's
    tasks; upper: mean U - λΩ), None unless the outcome is ok. ``best`` is the
    round's best so far at that level.
    """

    level: Level
    round: int
    index: int
    operator: str
    outcome: Outcome
    program: Program | None
    score: float | None
    best: float | None


@dataclass(frozen=True, slots=True)
class RoundEnd:
    """One finished round: measures by name (``J``, ``utility``, ``selection`` …)."""

    round: int
    measures: Mapping[str, float]


class Observer:
    """Hears of a run; every hook does nothing by default."""

    def on_start(self, config: Mapping[str, Any], tickets: int, directory: Path) -> None:
        """A run begins."""

    def on_phase(self, text: str, total: int) -> None:
        """A phase of ``total`` steps begins (baselines, rescoring, final evaluation)."""

    def on_step(self) -> None:
        """One step of the phase is done."""

    def on_commit(self, sample: Committed, spent: Spent) -> None:
        """A sample was committed."""

    def on_round(self, end: RoundEnd) -> None:
        """A round ended."""

    def on_finish(
        self, status: str, measures: Mapping[str, float], checkpoint: Path | None
    ) -> None:
        """The run ended: ``complete``, ``interrupted`` or ``failed``."""
