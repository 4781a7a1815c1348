"""THE loop: ask, request, screen, evaluate, commit — concurrent and deterministic.

Sample ``i`` is asked for right after sample ``i - lag`` was committed, never
later, so it reads exactly the state that ``i - lag`` left behind, however many
samplers and evaluators there are. Replies are screened (parsed, guarded,
checked for novelty) in index order before any is evaluated, and evaluations are
committed in index order (SPEC section 6).
"""

import threading
import time
from collections import deque
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Self

from specahd.core.budget import Ledger
from specahd.core.contract import Proposer, Reply, Request
from specahd.core.errors import TransportError
from specahd.core.events import Committed, Observer
from specahd.core.journal import Journal
from specahd.core.program import Level, Outcome, Program
from specahd.core.seeding import generator
from specahd.llm.parsing import ParseError, parse_reply
from specahd.memory.novelty import NoveltyFilter
from specahd.sandbox.guard import guard
from specahd.search.base import Evaluation, LevelSearch

REISSUES = 5
"""How often in a row one request is made again before the service counts as dead."""


@dataclass
class _Sample:
    """One sample on its way through the loop."""

    request: Request
    reply: "Future[Reply]"
    started: float
    program: Program | None = None
    failure: Evaluation | None = None
    evaluation: "Future[Any] | None" = None
    screened: bool = False
    seconds: dict[str, float] = field(default_factory=dict)


class Engine:
    """Runs rounds of either level against one proposer, ledger and journal.

    Parameters
    ----------
    lag
        How many samples are in flight at most, at least 1. It fixes what a
        sample may know, so it is part of the experiment; samplers are not.
    samplers
        How many requests are made at once.
    filters
        One novelty filter per level; it remembers over all rounds.
    """

    def __init__(
        self,
        *,
        seed: int,
        lag: int,
        samplers: int,
        proposer: Proposer,
        ledger: Ledger,
        journal: Journal,
        filters: dict[Level, NoveltyFilter],
        observer: Observer,
    ) -> None:
        self.seed = seed
        self.lag = lag
        self.ledger = ledger
        self._proposer = proposer
        self._journal = journal
        self._filters = filters
        self._observer = observer
        self._wal_lock = threading.Lock()
        self._requests = ThreadPoolExecutor(samplers, thread_name_prefix="sampler")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._requests.shutdown(wait=True, cancel_futures=True)

    def run(self, search: LevelSearch, tickets: int) -> int:
        """Spend up to ``tickets`` on one round of one level; return how many were spent."""
        flight: deque[_Sample] = deque()
        issued = committed = 0
        while True:
            while issued < tickets and issued < committed + self.lag and self.ledger.take():
                flight.append(self._issue(search, issued))
                issued += 1
            if not flight:
                return issued
            self._screen(search, flight)
            head = flight[0]
            if head.screened and (head.evaluation is None or head.evaluation.done()):
                self._commit(search, flight.popleft())
                committed += 1
            else:
                wait(_next_events(flight), return_when=FIRST_COMPLETED)

    def _issue(self, search: LevelSearch, index: int) -> _Sample:
        rng = generator(self.seed, search.level, search.round, index)
        variation = search.policy.ask(index, rng)
        request = Request(
            contract=search.contract,
            seed=self.seed,
            level=search.level,
            round=search.round,
            index=index,
            operator=variation.operator,
            parents=variation.parents,
        )
        reply = self._requests.submit(self._request, request)
        return _Sample(request, reply, time.perf_counter())

    def _request(self, request: Request) -> Reply:
        """Get the reply to a request (in a sampler thread) and put it on disk."""
        for attempt in range(REISSUES + 1):
            try:
                reply = self._proposer.propose(request)
                break
            except TransportError:
                # No reply, no ticket; the same request takes a new one.
                self.ledger.refund()
                if attempt == REISSUES or not self.ledger.take():
                    raise
        self.ledger.count(reply)
        with self._wal_lock:
            self._journal.wal.append(
                {
                    "sample": request.id,
                    "request": request_record(request),
                    "reply": reply.text,
                    "prompt_tokens": reply.prompt_tokens,
                    "completion_tokens": reply.completion_tokens,
                    "cost": reply.cost,
                }
            )
        return reply

    def _screen(self, search: LevelSearch, flight: deque[_Sample]) -> None:
        """Screen replies as far as they have come, in index order."""
        for sample in flight:
            if sample.screened:
                continue
            if not sample.reply.done():
                return
            sample.screened = True
            sample.seconds["reply"] = time.perf_counter() - sample.started
            sample.program, sample.failure = self._admissible(sample)
            if sample.program is not None and sample.failure is None:
                sample.evaluation = search.submit(sample.program)

    def _admissible(self, sample: _Sample) -> tuple[Program | None, Evaluation | None]:
        request = sample.request
        try:
            source, idea = parse_reply(sample.reply.result().text, request.contract)
        except ParseError as error:
            return None, _rejected(Outcome.PARSE_ERROR, str(error))
        program = Program(
            id=request.id,
            level=request.level,
            source=source,
            idea=idea,
            operator=request.operator,
            parents=tuple(parent.program.id for parent in request.parents),
            skills=request.skills,
        )
        objection = guard(source, request.contract.name, request.contract.arguments)
        if objection is not None:
            return program, _rejected(Outcome.GUARD_REJECTED, objection)
        earlier = self._filters[request.level].duplicate_of(program.id, source)
        if earlier is not None:
            return program, _rejected(Outcome.DUPLICATE, f"Repeats {earlier}.")
        return program, None

    def _commit(self, search: LevelSearch, sample: _Sample) -> None:
        request, program = sample.request, sample.program
        if sample.evaluation is None:
            assert sample.failure is not None
            evaluation = sample.failure
        else:
            result = sample.evaluation.result()
            evaluation = search.measure(result)
            if evaluation.retained:
                assert program is not None
                program = replace(program, tier=evaluation.tier)
                search.admit(program, result)
        search.policy.tell(program if evaluation.retained else None)
        sample.seconds["commit"] = time.perf_counter() - sample.started
        best = search.best()
        if evaluation.vector:
            self._journal.responses.append({"sample": request.id, **evaluation.vector})
        self._journal.samples.append(
            {
                "sample": request.id,
                "level": request.level,
                "round": request.round,
                "index": request.index,
                "operator": request.operator,
                "parents": [parent.program.id for parent in request.parents],
                "skills": list(request.skills),
                "request": request.hash,
                "reply": sample.reply.result().text,
                "source": program.source if program else None,
                "idea": program.idea if program else None,
                "tier": evaluation.tier,
                "outcome": evaluation.outcome,
                "detail": evaluation.detail,
                "score": evaluation.score,
                "responses": request.id if evaluation.vector else None,
                "survivors": [member.program.id for member in search.policy.members],
                "best": best,
                **evaluation.record,
            }
        )
        self._journal.timings.append({"sample": request.id, **sample.seconds})
        self._observer.on_commit(
            Committed(
                request.level,
                request.round,
                request.index,
                request.operator,
                evaluation.outcome,
                program,
                evaluation.score,
                best,
            ),
            self.ledger.read(),
        )


def _rejected(outcome: Outcome, detail: str) -> Evaluation:
    return Evaluation(outcome, detail, None, False)


def _next_events(flight: deque[_Sample]) -> list["Future[Any]"]:
    """Return the futures that can let the loop go on: the next reply, the next commit."""
    events: list[Future[Any]] = []
    head = flight[0]
    if head.evaluation is not None:
        events.append(head.evaluation)
    events.extend([sample.reply for sample in flight if not sample.screened][:1])
    return events


def request_record(request: Request) -> dict[str, Any]:
    """Return what a request says, in plain values."""
    return {
        "contract": request.contract.name,
        "seed": request.seed,
        "level": request.level,
        "round": request.round,
        "index": request.index,
        "operator": request.operator,
        "parents": [{"id": parent.program.id, "score": parent.score} for parent in request.parents],
        "skills": list(request.skills),
    }
