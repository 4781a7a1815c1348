"""Events of a run, and the observers that receive them.

A failing observer does no harm: ``tracking.observers.Observers`` calls the observers, and
the run goes on without one that failed. The algorithms themselves never log or print.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from specahd.core.budget import Spent
from specahd.core.contract import Request
from specahd.core.display import visible
from specahd.core.program import Level, Outcome


@dataclass(frozen=True, slots=True)
class Committed:
    """One sample, committed in index order; the journal holds the rest of its data.

    Parameters
    ----------
    id
        Identifier of the sample in the journal.
    best
        The best score of the round so far at that level.
    """

    id: str
    level: Level
    round: int
    outcome: Outcome
    best: float | None


@dataclass(frozen=True, slots=True)
class RoundEnd:
    """One finished round: measures by name (``J``, ``utility``, ``selection`` …)."""

    round: int
    measures: Mapping[str, float]


class Observer:
    """A receiver of the events of a run; every hook does nothing by default."""

    def on_prepare(self) -> None:
        """A run is requested. It begins only if its options and instances are valid."""

    def on_start(self, tickets: int, directory: Path) -> None:
        """A run begins."""

    def on_phase(self, text: str, total: int) -> None:
        """A phase of ``total`` steps begins (baselines, rescoring, final evaluation)."""

    def on_step(self) -> None:
        """One step of the phase is done."""

    def on_compile(self) -> None:
        """Loops are compiled, which takes a while, once per installation if they can be cached."""

    def on_request(self, request: Request) -> None:
        """A program or a text is requested; a resumed run repeats these events."""

    def on_commit(self, sample: Committed, spent: Spent) -> None:
        """A sample was committed."""

    def on_round(self, end: RoundEnd) -> None:
        """A round ended."""

    def on_warning(self, text: str) -> None:
        """A warning for the user; the run goes on."""

    def on_stop(self, reason: str) -> None:
        """The run is about to end before it is complete; the reason is one sentence."""

    def on_finish(self, status: str) -> None:
        """The run ended: ``complete``, ``partial``, ``interrupted`` or ``failed``."""


class PythonWarnings(Observer):
    """An observer that issues Python ``warnings``, for scripts without their own observer."""

    def on_warning(self, text: str) -> None:
        warnings.warn(visible(text, keep="\n"), stacklevel=4)
