"""One sample in flight, and its records in the journal."""

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
    """One sample in flight."""

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
        """Whether the sample can be committed once all earlier samples are."""
        return self.screened and (self.evaluation is None or self.evaluation.done())

    def as_sample(self, evaluation: CandidateEvaluation, program: Program | None) -> Sample:
        """Return the sample as the search method receives it."""
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
        """Return the journal's record of a program, without survivors."""
        return {
            "sample": self.request.id,
            **request_fields(self.request),
            "skills": [skill.id for skill in self.request.skills],
            "reply": self.reply.result().text,
            **self.reply.result().origin,
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


def text_record(request: Request, reply: Reply) -> dict[str, Any]:
    """Return the journal's record of a text."""
    return {
        "record": "text",
        "text": request.id,
        **request_fields(request),
        "reply": reply.text,
        **reply.origin,
    }


def request_fields(request: Request) -> Mapping[str, Any]:
    """Return the fields that identify a request in the journal."""
    return {
        "level": request.level,
        "contract": request.contract.id,
        "round": request.round,
        "index": request.index,
        "operator": request.operator.name,
        "parents": [parent.program.id for parent in request.parents],
        "request": request.hash,
    }


def rejection(outcome: Outcome, detail: str) -> CandidateEvaluation:
    """Return the evaluation of a reply that is not evaluated."""
    return CandidateEvaluation(outcome, detail, None, False)


def measurement(number: int, evaluation: CandidateEvaluation, **who: str) -> dict[str, Any]:
    """Return the record of an evaluation from which ``LevelSearch.recall`` restores it."""
    return {
        **who,
        "round": number,
        "tier": evaluation.tier,
        "outcome": evaluation.outcome,
        "detail": evaluation.detail,
        **evaluation.vector,
    }


def next_futures(flight: deque[PendingSample]) -> list["Future[Any]"]:
    """Return the futures that the loop waits for: the next reply and the next commit."""
    events: list[Future[Any]] = []
    head = flight[0]
    if head.evaluation is not None:
        events.append(head.evaluation)
    events.extend([sample.reply for sample in flight if not sample.screened][:1])
    return events
