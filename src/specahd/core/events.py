"""What happens in a run, told to whoever wants to know.

Observers may fail without harm: told through ``tracking.observers.Observers``, the
run goes on without one that failed. The algorithms themselves never log or print.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specahd.core.budget import Spent
from specahd.core.contract import Reply
from specahd.core.program import Level, Outcome, Program


@dataclass(frozen=True, slots=True)
class Committed:
    """One sample, committed in index order.

    Parameters
    ----------
    score
        The level's measure (lower: mean response on the round's tasks; upper:
        mean U - λΩ), None unless the candidate was retained.
    best
        The round's best so far at that level.
    parents
        The programs that the request showed.
    detail
        What went wrong, empty if nothing did.
    prompt
        What a language model was told; empty where nobody knows any more.
    reply
        What came back, and what it cost.
    seconds
        From the request on: until the ``reply``, until the ``commit``.
    """

    level: Level
    round: int
    index: int
    operator: str
    outcome: Outcome
    program: Program | None
    score: float | None
    best: float | None
    parents: tuple[str, ...] = ()
    detail: str = ""
    prompt: str = ""
    reply: Reply = field(default_factory=lambda: Reply(""))
    seconds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RoundEnd:
    """One finished round: measures by name (``J``, ``utility``, ``selection`` …)."""

    round: int
    measures: Mapping[str, float]


class Observer:
    """Hears of a run; every hook does nothing by default."""

    def on_prepare(self) -> None:
        """A run is wanted; it does not begin if its options or instances are wrong."""

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
