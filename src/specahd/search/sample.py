"""One sample on its way through the loop."""

from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from specahd.core.contract import Reply, Request
from specahd.core.program import Outcome, Program
from specahd.memory.novelty import Verdict
from specahd.search.base import Evaluation


@dataclass
class Sample:
    """One sample on its way through the loop."""

    request: Request
    reply: "Future[Reply]"
    started: float
    program: Program | None = None
    verdict: Verdict | None = None
    failure: Evaluation | None = None
    evaluation: "Future[Any] | None" = None
    screened: bool = False
    seconds: dict[str, float] = field(default_factory=dict)


def rejected(outcome: Outcome, detail: str) -> Evaluation:
    """Return the evaluation of a reply that none of the evaluators sees."""
    return Evaluation(outcome, detail, None, False)


def next_events(flight: deque[Sample]) -> list["Future[Any]"]:
    """Return the futures that can let the loop go on: the next reply, the next commit."""
    events: list[Future[Any]] = []
    head = flight[0]
    if head.evaluation is not None:
        events.append(head.evaluation)
    events.extend([sample.reply for sample in flight if not sample.screened][:1])
    return events
