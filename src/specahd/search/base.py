"""The ask/tell protocol of a search method, and the interface of a level for the loop."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from specahd.core.contract import Context, Contract, Operator, Parent, Request
from specahd.core.program import Level, Outcome, Program, Tier
from specahd.memory.skills import Effects
from specahd.routing.base import FloatArray
from specahd.runs.records import Measured

Rank = Callable[[Sequence[Program]], list[Parent]]
"""Function that orders programs, given oldest first, best first, and adds their measurements."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """The programs of the other level, and what they earned with those of this level.

    Parameters
    ----------
    rewards
        Shape (programs carried over, others); larger is better.
    others
        The programs of the other level, in the order of the columns.
    companions
        Programs of the other level that this round brought, by the index of their sample.
    """

    rewards: FloatArray
    others: Sequence[Parent]
    companions: Mapping[int, Parent]


@dataclass(frozen=True, slots=True)
class RoundStart:
    """The input of a search method at the start of a round.

    Parameters
    ----------
    contract
        Contract that programs must fulfil.
    tickets
        Number of programs that the round may request, for schedules (``0 <= t / tickets <= 1``).
    carried
        The programs to start from, measured in this round: those that the method held at
        the end of the round before, in the same order; in the first round the seed programs.
        A program that failed in this round is missing, so the tuple may be empty.
    rank
        The level's own order, which depends on all programs together (greedy J at the lower
        level). It accepts every program that was measured in the round.
    pairing
        Where programs are judged in pairs (:class:`specahd.design.pairs.Pairs`), what the pairs
        earned. The method then leaves vacancies: the round requests ``size`` programs less the
        members that it keeps.
    """

    contract: Contract
    tickets: int
    carried: tuple[Parent, ...]
    rank: Rank
    pairing: Pairing | None = None

    @property
    def founded(self) -> bool:
        """Whether a population is carried over: several programs, not only the contract's own."""
        own = {seed.id for seed in self.contract.seeds}
        return len(self.carried) > 1 and any(one.program.id not in own for one in self.carried)


@dataclass(frozen=True, slots=True)
class Query:
    """The next request of a search method.

    Parameters
    ----------
    operator
        Operator that requests a program, or a text.
    parents
        The programs to show, in this order; they are numbered from 1.
    hints
        Text by the method (a reflection, a summary, an observation), shown between
        the programs and the instruction.
    prompt
        The whole message to a language model, in place of the usual one
        (:func:`specahd.search.prompts.render`, which uses public functions of that module).
        Operator, parents and hints are then for the offline proposer and the journal.
    views
        Text shown of each parent, in the same order, instead of its idea and code: a part of the
        code, another description (:func:`specahd.search.prompts.idea_and_code` writes one).
        Empty for idea and code.
    """

    operator: Operator
    parents: tuple[Parent, ...] = ()
    hints: str = ""
    prompt: str = ""
    views: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """The result of one request, which a search method receives.

    Parameters
    ----------
    request
        The request; its ``index`` is that of the method's ``ask``.
    text
        The unchanged reply, or, if a text was requested, that text (thoughts removed, at most
        :data:`specahd.llm.parsing.MAX_TEXT` characters).
    outcome, detail
        ``ok``, or the kind of failure and a sentence about it. A text is ``ok`` unless empty.
    program
        None if a text was requested, or if the reply held no program.
    score
        Larger is better; None if the program was not measured.
    retained
        Whether the program may become a member. One that fails on some tasks of the lower
        level is retained, with the score 0 on these; SpecAHD alone retains one that fails on all.
    responses
        The score on every task or instance (:class:`specahd.core.contract.Parent`); empty
        if the program was not measured.
    measured
        Data behind the responses, by name: lower level ``cost_before``, ``cost_merged`` (None where
        a task failed), ``outcomes`` and ``fallbacks`` by task; upper level ``utilities``,
        ``penalties`` and ``regions`` by instance.
    """

    request: Request
    text: str
    outcome: Outcome
    detail: str = ""
    program: Program | None = None
    score: float | None = None
    retained: bool = False
    responses: tuple[float, ...] = ()
    measured: Mapping[str, Any] = field(default_factory=dict)

    @property
    def parent(self) -> Parent:
        """The program as a parent of later ones.

        Raises
        ------
        ValueError
            There is no measured program.
        """
        if self.program is None or self.score is None:
            raise ValueError(f"{self.request.id} has no measured program.")
        return Parent(self.program, self.score, self.responses)


class SearchMethod(Protocol):
    """A search method: it chooses the next requests, and the programs to keep.

    The loop calls ``ask`` in index order and keeps up to ``search.lag`` samples in flight. It
    calls ``tell`` for every sample, also for failed ones and texts, in index order too. Before
    ``ask`` for sample ``i``, it has called ``tell`` for all samples up to ``i - lag``, and for no
    later one unless the method waited. All calls are made in one thread, in an order that does
    not depend on the number of workers. A method that draws only from the generators it is
    given therefore behaves the same in every run, and a resumed run repeats it.

    Programs take tickets, texts do not. If a later program needs a text, the method asks for
    the text first, and for the program after ``tell`` has passed the text.
    """

    size: int
    """The largest number of members."""

    @property
    def members(self) -> Sequence[Parent]:
        """The programs that the method keeps, best first (all islands, all of a tree's elite).

        The round's result is made of them, and they are carried over to the next round.
        """
        ...

    def begin(self, start: RoundStart) -> None:
        """Start a round. No sample is in flight; the measure is new, older scores are invalid."""
        ...

    def ask(self, index: int, rng: np.random.Generator) -> Query | None:
        """Choose the query of sample ``index``.

        None: the method waits for another sample. After the next ``tell``, ``ask`` is called
        again with the same index. A method may wait only while a sample is in flight.
        """
        ...

    def tell(self, sample: Sample, rng: np.random.Generator) -> None:
        """Receive the result of a sample."""
        ...


@dataclass(frozen=True, slots=True)
class CandidateEvaluation:
    """The measurements of one candidate at a level.

    Parameters
    ----------
    score
        The level's measure, larger is better; None if there is no score.
    retained
        Whether the candidate may survive.
    tier
        Tier in which the candidate ran and will run from now on; None if it did not run.
    responses
        The score on every task or instance.
    vector
        Measurements behind the score, for ``responses.jsonl``.
    record
        Further fields of the journal's record (counts by outcome, …).
    """

    outcome: Outcome
    detail: str
    score: float | None
    retained: bool
    tier: Tier | None = None
    responses: tuple[float, ...] = ()
    vector: Mapping[str, Any] = field(default_factory=dict)
    record: Mapping[str, Any] = field(default_factory=dict)


def stopped_evaluation(detail: str, tier: Tier, tried: int) -> CandidateEvaluation:
    """Return the evaluation of a candidate that was stopped after some tasks or instances."""
    count = {"tried": tried}
    return CandidateEvaluation(
        Outcome.STOPPED, detail, None, False, tier=tier, vector=count, record=count
    )


class LevelSearch(Protocol):
    """One round of one level: the contract, the measure and the survivors."""

    level: Level
    round: int
    contract: Contract
    method: SearchMethod

    def race(self) -> Any:
        """Return what may stop the evaluation of a candidate requested now, None if nothing."""
        ...

    def submit(self, program: Program, race: Any = None) -> "Future[Any]":
        """Start the evaluation of a candidate."""
        ...

    def measure(self, result: Any) -> CandidateEvaluation:
        """Compute the score from the result of the evaluation."""
        ...

    def recall(self, record: Measured) -> Any:
        """Return the result from which :meth:`measure` computes the recorded evaluation."""
        ...

    def rank(self, programs: Sequence[Program]) -> list[Parent]:
        """Order admitted programs, given oldest first, by the round's measure."""
        ...

    def admit(self, program: Program, result: Any) -> None:
        """Add a retained candidate, before the method receives it."""
        ...

    def effects(self, child: str, parent: str) -> Effects | None:
        """Return the differences of two programs, by id, in the measurements of this round.

        None unless both were measured, the child with success.
        """
        ...

    def context(self, shown: Sequence[Program]) -> Context:
        """Return the round's context for the next request, after these programs."""
        ...

    def best(self) -> float | None:
        """Return the round's best measure so far (J at the lower level)."""
        ...
