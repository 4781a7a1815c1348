"""Concurrent requests to the proposer; each reply is written to disk before use."""

import threading
from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from specahd.core.budget import Ledger
from specahd.core.contract import Request
from specahd.core.errors import ServiceUnavailable, TransportError
from specahd.core.journal import JournalFile
from specahd.core.program import Outcome, Program
from specahd.core.proposer import Proposer, Reply
from specahd.llm.recorded import reply_record
from specahd.memory.novelty import Verdict
from specahd.search.base import CandidateEvaluation, Sample
from specahd.search.replay import Replay


@dataclass
class PendingSample:
    """One sample in flight."""

    request: Request
    reply: "Future[Reply]"
    started: float
    race: Any = None
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


REISSUES = 5
"""Number of reissues of a request in a row before the service counts as unavailable."""


class RequestPool:
    """Pool of threads that make requests.

    Parameters
    ----------
    samplers
        Number of concurrent requests.
    wal
        File to which replies are written in the order of their arrival.
    """

    def __init__(
        self, proposer: Proposer, ledger: Ledger, wal: JournalFile, replay: Replay, samplers: int
    ) -> None:
        self._proposer = proposer
        self._ledger = ledger
        self._wal = wal
        self._replay = replay
        self._closing = False
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(samplers, thread_name_prefix="sampler")

    def submit(self, request: Request) -> "Future[Reply]":
        """Request a text, or a program for which a ticket was taken."""
        return self._threads.submit(self._ask, request)

    def close(self, *, failed: bool) -> None:
        """Wait for open requests; abandon them if the run failed."""
        if failed:
            self._closing = True
            self._proposer.close()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _ask(self, request: Request) -> Reply:
        """Get the reply to a request (in a sampler thread) and put it on disk."""
        text = request.operator.wants_text
        known = self._replay.reply(request)
        if known is not None:
            reply, refunds = known
            self._ledger.count(reply, auxiliary=text, refunds=refunds)
            return reply
        tariff = self._proposer.tariff(request)
        for attempt in range(REISSUES + 1):
            try:
                reply = self._proposer.propose(request)
                break
            except TransportError as error:
                # Without a reply the ticket is refunded; the repeated request takes a new one.
                last = attempt == REISSUES or isinstance(error, ServiceUnavailable)
                if not text:
                    self._ledger.refund()
                if self._closing or last or not (text or self._ledger.take()):
                    raise
        self._ledger.count(reply, auxiliary=text)
        with self._lock:
            self._wal.append(
                {
                    **reply_record(request, reply, tariff),
                    "request": _request_record(request),
                    "refunds": 0 if text else attempt,
                }
            )
        return reply


def _request_record(request: Request) -> Mapping[str, Any]:
    """Return the record of a request."""
    return {
        "contract": request.contract.id,
        "seed": request.seed,
        "level": request.level,
        "round": request.round,
        "index": request.index,
        "operator": request.operator.name,
        "text": request.operator.wants_text,
        "parents": [{"id": parent.program.id, "score": parent.score} for parent in request.parents],
        "skills": [skill.id for skill in request.skills],
    }
