"""One sample on its way through the loop, and what the journal keeps of it."""

from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from specahd.core.contract import Request
from specahd.core.program import Outcome, Program
from specahd.core.proposer import Reply
from specahd.memory.novelty import Verdict
from specahd.search.base import CandidateEvaluation, Sample


@dataclass
class PendingSample:
    """One sample on its way through the loop."""

    request: Request
    reply: "Future[Reply]"
    started: float
    program: Program | None = None
    verdict: Verdict | None = None
    failure: CandidateEvaluation | None = None
    evaluation: "Future[Any] | None" = None
    screened: bool = False
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def ready(self) -> bool:
        """Whether it can be committed as soon as those before it are."""
        return self.screened and (self.evaluation is None or self.evaluation.done())

    def told(self, evaluation: CandidateEvaluation, program: Program | None) -> Sample:
        """Return what the search method is told of it."""
        return Sample(
            request=self.request,
            text=self.reply.result().text,
            outcome=evaluation.outcome,
            detail=evaluation.detail,
            program=program,
            score=evaluation.score,
            retained=evaluation.retained,
            responses=evaluation.responses,
            measured=evaluation.vector,
        )

    def record(self, evaluation: CandidateEvaluation, program: Program | None) -> dict[str, Any]:
        """Return what the journal keeps of a program, survivors apart."""
        return {
            "sample": self.request.id,
            **named(self.request),
            "skills": [skill.id for skill in self.request.skills],
            "reply": self.reply.result().text,
            "source": program.source if program else None,
            "idea": program.idea if program else None,
            "tier": evaluation.tier,
            "novelty": self.verdict.record if self.verdict else None,
            "outcome": evaluation.outcome,
            "detail": evaluation.detail,
            "score": evaluation.score,
            "responses": self.request.id if evaluation.vector else None,
            **evaluation.record,
        }


def text_record(request: Request, text: str) -> dict[str, Any]:
    """Return what the journal keeps of a text."""
    return {"record": "text", "text": request.id, **named(request), "reply": text}


def named(request: Request) -> Mapping[str, Any]:
    """Return which request it was, in plain values."""
    return {
        "level": request.level,
        "contract": request.contract.id,
        "round": request.round,
        "index": request.index,
        "operator": request.operator.name,
        "parents": [parent.program.id for parent in request.parents],
        "request": request.hash,
    }


def rejected(outcome: Outcome, detail: str) -> CandidateEvaluation:
    """Return the evaluation of a reply that none of the evaluators sees."""
    return CandidateEvaluation(outcome, detail, None, False)


def measured_of(number: int, evaluation: CandidateEvaluation, **who: str) -> dict[str, Any]:
    """Return what ``LevelSearch.recall`` needs of a round's evaluation, in plain values."""
    return {
        **who,
        "round": number,
        "tier": evaluation.tier,
        "outcome": evaluation.outcome,
        "detail": evaluation.detail,
        **evaluation.vector,
    }


def next_events(flight: deque[PendingSample]) -> list["Future[Any]"]:
    """Return the futures that can let the loop go on: the next reply, the next commit."""
    events: list[Future[Any]] = []
    head = flight[0]
    if head.evaluation is not None:
        events.append(head.evaluation)
    events.extend([sample.reply for sample in flight if not sample.screened][:1])
    return events
