"""The loop: ask, request, screen, evaluate, commit; concurrent and deterministic.

Sample ``i`` is asked for right after sample ``i - lag`` was committed, or after a later commit if
the method waits for it. It depends on that state only, not on the number of samplers or evaluators.
Replies are screened (parsed, guarded, checked for novelty) in index order before any is evaluated,
and evaluations are committed in index order. A request for a text passes through the same queue,
but takes no ticket; the method receives its reply.
"""

import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from specahd.core.budget import Allowance, Ledger
from specahd.core.contract import Parent, Request
from specahd.core.errors import RunFailed
from specahd.core.events import Committed, Observer
from specahd.core.interrupts import Interrupts
from specahd.core.program import Level, Outcome, Program
from specahd.core.proposer import Proposer
from specahd.core.seeding import generator
from specahd.core.skill import Skill
from specahd.llm.parsing import ParseError, parse_program, parse_text
from specahd.memory.memory import Memory
from specahd.memory.skills import make_skill
from specahd.programs.guard import guard
from specahd.runs.journal import Journal
from specahd.search.base import CandidateEvaluation, LevelSearch, RoundStart, Sample
from specahd.search.prompts import render, shared_length
from specahd.search.replay import Replay
from specahd.search.request_pool import (
    PendingSample,
    RequestPool,
    measurement,
    next_futures,
    rejection,
    text_record,
)
from specahd.search.reservations import Reservations

TEXTS = 100
"""Largest number of texts that a method may request in a row, since no budget limits them."""
_POLL_SECONDS = 0.2  # between two checks for an interrupt


class Engine:
    """The loop that runs rounds of either level with one proposer, ledger and journal.

    Parameters
    ----------
    lag
        Largest number of samples in flight, at least 1. It determines which earlier samples
        a request depends on, so it is part of the experiment; ``samplers`` is not.
    samplers
        Number of concurrent requests.
    memories
        One memory for each level, kept over all rounds.
    replay
        Replies and measurements recorded before, if the run is resumed.
    allowance
        Bound on the cost of replies; the run ends if another request might exceed it.

    Attributes
    ----------
    outcomes, failures
        Number of programs by outcome, and of those that failed by the reason.
    stopped
        Reason why no further sample is requested; None while samples are requested.
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
        memories: Mapping[Level, Memory],
        observer: Observer,
        replay: Replay | None = None,
        allowance: Allowance | None = None,
    ) -> None:
        self.seed = seed
        self.lag = lag
        self.ledger = ledger
        self._journal = journal
        self._memories = memories
        self._observer = observer
        self.replay = replay or Replay()
        self._requests = RequestPool(proposer, ledger, journal.wal, self.replay, samplers)
        self._reservations = Reservations(proposer, allowance or Allowance())
        self.stopped: str | None = None
        self.outcomes: Counter[Outcome] = Counter()
        self.failures: Counter[str] = Counter()
        self._interrupts = Interrupts()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._requests.close(failed=kind is not None)

    def run(self, search: LevelSearch, tickets: int) -> int:
        """Spend up to ``tickets`` on one round of one level; return how many were spent.

        Raises
        ------
        KeyboardInterrupt
            The user has pressed Ctrl-C; raised after the current commit.
        RunFailed
            The method requests no more programs.
        """
        with self._interrupts.deferred():
            return self._run(search, tickets)

    def _run(self, search: LevelSearch, tickets: int) -> int:
        flight: deque[PendingSample] = deque()
        asked: deque[tuple[Request, Any]] = deque()
        tickets = min(tickets, self.ledger.left)
        index = wanted = texts = 0
        waiting = False
        while True:
            if self._interrupts.pressed:
                raise KeyboardInterrupt
            # Commits depend on earlier samples only, not on samples in flight.
            room = self.lag - len(flight)
            while not (waiting or self.stopped) and wanted < tickets and len(asked) < room:
                request = self._next_request(search, index)
                if request is None:
                    # The query depends on committed samples: ask again after a commit.
                    waiting = True
                    break
                texts = texts + 1 if request.operator.wants_text else 0
                if texts > TEXTS:
                    raise RunFailed(f"The search method asked for {texts} texts and no program.")
                wanted += not request.operator.wants_text
                index += 1
                # What may stop the candidate is what the request depends on, too.
                asked.append((request, search.race()))
            self._send(asked, flight)
            if not flight:
                if waiting and not self.stopped:
                    raise RunFailed("The search method waits, and no sample is in flight.")
                return wanted - sum(not request.operator.wants_text for request, _ in asked)
            self._screen(search, flight)
            if flight[0].ready:
                self._commit(search, flight.popleft())
                waiting = False
            else:
                wait(next_futures(flight), timeout=_POLL_SECONDS, return_when=FIRST_COMPLETED)

    def _send(self, asked: deque[tuple[Request, Any]], flight: deque[PendingSample]) -> None:
        """Send waiting requests as far as the allowance permits; the rest wait for commits.

        The allowance affects when a request is sent, not its content. The run ends if none is in
        flight and the allowance does not suffice for the next one.
        """
        while asked and not self.stopped:
            request, race = asked[0]
            paid = not flight and request.id in self.replay.replies
            objection = self._reservations.reserve(request, needed=paid)
            if objection is not None:
                self.stopped = None if flight else objection
                return
            asked.popleft()
            if not request.operator.wants_text:
                self.ledger.take()
            pending = self._requests.submit(request)
            flight.append(PendingSample(request, pending, time.perf_counter(), race))
            self._observer.on_request(request)
            self._journal.keep_prompt(request.id, request.prompt, shared_length(request))

    def carry_over(self, search: LevelSearch, programs: Sequence[Program], tickets: int) -> None:
        """Measure the programs carried over from the previous round, and start the method.

        Parameters
        ----------
        tickets
            Number of programs that the round may request.
        """
        evaluations = [self._evaluation(search, program) for program in programs]
        kept = []
        carried = []
        for program, evaluation in zip(programs, evaluations, strict=True):
            result = evaluation.result()
            measured = search.measure(result)
            self._journal.responses.append(measurement(search.round, measured, carried=program.id))
            if measured.retained:
                kept.append(replace(program, tier=measured.tier))
                search.admit(kept[-1], result)
                assert measured.score is not None
                carried.append(Parent(kept[-1], measured.score, measured.responses))
        tickets = min(tickets, self.ledger.left)
        search.method.begin(RoundStart(search.contract, tickets, tuple(carried), search.rank))
        by_id = {program.id: program for program in kept}
        for program in kept:
            if program.parents and program.parents[0] in by_id:
                self._learn(search, program, by_id[program.parents[0]])

    def _learn(self, search: LevelSearch, child: Program, parent: Program) -> None:
        """Record where the child was better and worse than its parent in this round."""
        memory = self._memories[search.level]
        if not memory.learns:
            return
        effects = search.effects(child.id, parent.id)
        if effects is not None:
            skill = make_skill(child, parent, effects, memory.version(child))
            memory.learn(skill)
            self._journal.samples.append(skill.record)

    def _evaluation(self, search: LevelSearch, program: Program, race: Any = None) -> "Future[Any]":
        """Start the evaluation of a program, or recall its recorded result."""
        known = self.replay.measurement(search.round, program)
        if known is None:
            return search.submit(program, race)
        recalled: Future[Any] = Future()
        recalled.set_result(search.recall(known))
        return recalled

    def _next_request(self, search: LevelSearch, index: int) -> Request | None:
        """Return the method's next request, None if it waits for open ones."""
        rng = generator(self.seed, search.level, search.round, index)
        query = search.method.ask(index, rng)
        if query is None:
            return None
        request = Request(
            contract=search.contract,
            seed=self.seed,
            level=search.level,
            round=search.round,
            index=index,
            operator=query.operator,
            parents=query.parents,
            hints=query.hints,
            context=search.context([parent.program for parent in query.parents]),
        )
        request = replace(request, skills=self._skills(request))
        return replace(request, prompt=query.prompt or render(request, query.views))

    def _skills(self, request: Request) -> tuple[Skill, ...]:
        """Return the skill records of a request; in a replay, the recorded ones."""
        memory = self._memories[request.level]
        if not (request.operator.skills and request.parents):
            return ()
        if (known := self.replay.skills(request.id)) is not None:
            return memory.recall(known)
        return memory.retrieve(request.parents[0].program)

    def _screen(self, search: LevelSearch, flight: deque[PendingSample]) -> None:
        """Screen arrived replies in index order."""
        for sample in flight:
            if sample.screened:
                continue
            if not sample.reply.done():
                return
            sample.screened = True
            sample.seconds["reply"] = time.perf_counter() - sample.started
            if sample.request.operator.wants_text:
                continue
            sample.program, sample.failure = self._admissible(sample)
            if sample.program is not None and sample.failure is None:
                sample.evaluation = self._evaluation(search, sample.program, sample.race)

    def _admissible(
        self, sample: PendingSample
    ) -> tuple[Program | None, CandidateEvaluation | None]:
        request = sample.request
        if sample.reply.result().refused:
            return None, rejection(Outcome.PROMPT_REFUSED, sample.reply.result().text)
        try:
            source, idea = parse_program(sample.reply.result(), request.contract)
        except ParseError as error:
            return None, rejection(Outcome.PARSE_ERROR, str(error))
        program = Program(
            id=request.id,
            level=request.level,
            source=source,
            idea=idea,
            operator=request.operator.name,
            parents=tuple(parent.program.id for parent in request.parents),
            skills=tuple(skill.id for skill in request.skills),
            contract=request.contract.id,
        )
        objection = guard(source, request.contract.name, request.contract.arguments)
        if objection is not None:
            return program, rejection(Outcome.GUARD_REJECTED, objection)
        known = self.replay.verdicts.get(program.id)
        sample.verdict = self._memories[request.level].judge(program, known)
        if self.replay.measurement(request.round, program) is not None:
            # It was new when it was measured, even if a model now gives another verdict.
            sample.verdict = replace(sample.verdict, duplicate_of=None)
        if sample.verdict.duplicate_of is not None:
            return program, rejection(Outcome.DUPLICATE, f"Repeats {sample.verdict.duplicate_of}.")
        return program, None

    def _commit(self, search: LevelSearch, sample: PendingSample) -> None:
        self._reservations.commit(sample.request, sample.reply.result())
        if sample.request.operator.wants_text:
            self._commit_text(search, sample)
        else:
            self._commit_program(search, sample)

    def _commit_text(self, search: LevelSearch, sample: PendingSample) -> None:
        reply = sample.reply.result()
        text = "" if reply.refused else parse_text(reply.text)
        outcome = Outcome.OK if text else Outcome.PARSE_ERROR
        detail = "" if text else "The reply holds no text."
        if reply.refused:
            outcome, detail = Outcome.PROMPT_REFUSED, reply.text
        self._tell(search, Sample(sample.request, text, outcome, detail))
        self._journal.samples.append(text_record(sample.request, reply))

    def _tell(self, search: LevelSearch, sample: Sample) -> None:
        request = sample.request
        rng = generator(self.seed, search.level, search.round, request.index, "tell")
        search.method.tell(sample, rng)

    def _commit_program(self, search: LevelSearch, sample: PendingSample) -> None:
        request, program = sample.request, sample.program
        if sample.failure is not None:
            evaluation = sample.failure
        else:
            assert sample.evaluation is not None
            result = sample.evaluation.result()
            evaluation = search.measure(result)
            if evaluation.retained:
                assert program is not None
                program = replace(program, tier=evaluation.tier)
                search.admit(program, result)
        self._tell(search, sample.as_sample(evaluation, program))
        self.outcomes[evaluation.outcome] += 1
        if evaluation.detail:
            self.failures[evaluation.detail] += 1
        sample.seconds["commit"] = time.perf_counter() - sample.started
        best = search.best()
        if sample.evaluation is not None:
            measured = measurement(search.round, evaluation, sample=request.id)
            self._journal.responses.append(measured)
        repeated = self._journal.samples.repeating
        survivors = [member.program.id for member in search.method.members]
        self._journal.samples.append(
            {**sample.record(evaluation, program), "survivors": survivors, "best": best}
        )
        if evaluation.retained and request.parents:
            assert program is not None
            self._learn(search, program, request.parents[0].program)
        if not repeated:
            now = round(time.time(), 3)
            self._journal.timings.append({"sample": request.id, "at": now, **sample.seconds})
        self._observer.on_commit(
            Committed(request.id, request.level, request.round, evaluation.outcome, best),
            self.ledger.read(),
        )
