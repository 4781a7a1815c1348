"""The lower level: learn how to repair the regions that an upper program exposes."""

from collections.abc import Sequence
from concurrent.futures import Future

import numpy as np

from specahd.core.contract import Context, Contract, Parent
from specahd.core.errors import RunFailed
from specahd.core.program import Level, Outcome, Program, Tier
from specahd.core.settings import Settings
from specahd.design import facts
from specahd.memory.skills import Effects
from specahd.repair.evaluator import LowerResult
from specahd.repair.racing import Race
from specahd.repair.repertoire import greedy_selection, objective, survival_order
from specahd.repair.responses import RepairTask, Response, ResponseTable, count_outcomes
from specahd.runs.records import Measured
from specahd.sandbox.executor import Executor
from specahd.search.base import CandidateEvaluation, SearchMethod, stopped_evaluation
from specahd.search.replay import NOT_REPRODUCED

_COLUMNS = ("outcomes", "cost_before", "cost_merged", "fallbacks")


class LowerSearch:
    """One round of the lower level on a fixed set of tasks R_g.

    Parameters
    ----------
    tasks
        The round's tasks, at least one.
    coordinates
        Names of the values in the tasks' descriptors.
    known
        Sentences about the round for a language model.
    portfolio
        Whether every member of the repertoire will be tried on every instance.
    judged_singly
        Whether programs are judged singly: they are ordered by their mean response alone, one that
        fails on every task is discarded, and requests have no facts about the round's programs.
    order
        The order of the tasks in which candidates race; None if they do not.
    """

    level = Level.LOWER

    def __init__(
        self,
        *,
        number: int,
        contract: Contract,
        method: SearchMethod,
        tasks: Sequence[RepairTask],
        executor: Executor,
        settings: Settings,
        coordinates: Sequence[str],
        known: Sequence[str] = (),
        portfolio: bool = False,
        judged_singly: bool = False,
        order: Sequence[int] | None = None,
    ) -> None:
        self.round = number
        self.contract = contract
        self.method = method
        self.table = ResponseTable(tasks)
        self._executor = executor
        self._settings = settings
        self._coordinates = tuple(coordinates)
        self._known = tuple(known)
        self._portfolio = portfolio
        self._judged_singly = judged_singly
        self._order = order
        self._tried: list[facts.Tried] = []

    def race(self) -> Race | None:
        """Return the race that a candidate requested now runs."""
        if self._order is None:
            return None
        scores = self.table.scores([member.program.id for member in self.method.members])
        settings = self._settings
        return Race.against(
            scores,
            np.zeros_like(scores),
            beta=settings.beta,
            budget=settings.repertoire_size,
            size=self.method.size,
            order=self._order,
        )

    def submit(self, program: Program, race: Race | None = None) -> "Future[LowerResult]":
        """Start measuring a candidate on every task."""
        return self._executor.submit("respond", program, self.table.tasks, race)

    def measure(self, result: LowerResult) -> CandidateEvaluation:
        """Score a candidate by its mean response.

        A candidate that fails to launch is discarded. A task on which it fails has the score 0.
        If ``judged_singly``, a candidate that fails on every task is discarded too.
        """
        if not result.launched:
            return CandidateEvaluation(result.outcome, result.detail, None, False)
        if result.tried is not None:
            return stopped_evaluation(result.detail, result.tier, result.tried)
        scores = [response.score for response in result.responses]
        return CandidateEvaluation(
            result.outcome,
            result.detail,
            float(np.mean(scores)),
            result.outcome is Outcome.OK or not self._judged_singly,
            tier=result.tier,
            responses=tuple(scores),
            vector={
                "cost_before": [response.cost_before for response in result.responses],
                "cost_merged": [response.cost_merged for response in result.responses],
                "outcomes": [response.outcome for response in result.responses],
                "fallbacks": [response.fallbacks for response in result.responses],
            },
            record={"tasks": count_outcomes(result.responses)},
        )

    def recall(self, record: Measured) -> LowerResult:
        """Return the result of an evaluation that the journal recorded.

        Raises
        ------
        RunFailed
            The record is not one of this round's tasks.
        """
        outcome, outcomes = record.outcome, record.outcomes
        if record.tried is not None and record.tier is not None:
            return LowerResult(True, record.tier, outcome, record.detail, (), record.tried)
        if outcomes is None or record.tier is None:
            return LowerResult(False, Tier.INTERPRETED, outcome, record.detail, ())
        columns = outcomes, record.cost_before, record.cost_merged, record.fallbacks
        if {len(column) for column in columns} != {len(self.table.tasks)}:
            raise RunFailed(NOT_REPRODUCED)
        responses = tuple(map(Response, *columns))
        return LowerResult(True, record.tier, outcome, record.detail, responses)

    def admit(self, program: Program, result: LowerResult) -> None:
        """Add a retained candidate's row to the response table.

        The row stays for the whole round: a program may become a member again, and a parent is
        compared with its children also when it is no longer a member.
        """
        self.table.add(program.id, result.responses)
        failed = facts.failures(result.responses)
        score = float(np.mean([response.score for response in result.responses]))
        self._tried.append(facts.Tried(program, score, failed))

    def effects(self, child: str, parent: str) -> Effects | None:
        """Return how two programs differ on the round's tasks."""
        measured = self.table.rows
        if child not in measured or parent not in measured:
            return None
        rows = measured[child], measured[parent]
        scores = [np.array([response.score for response in row]) for row in rows]
        failed = [response for response in rows[0] if response.cost_merged is None]
        return Effects(
            scores[0] - scores[1],
            np.array([task.descriptor for task in self.table.tasks]),
            self._coordinates,
            np.array([task.case for task in self.table.tasks]),
            count_outcomes(failed),
        )

    def rank(self, programs: Sequence[Program]) -> list[Parent]:
        """Order programs, given oldest first: greedy J order, then mean response."""
        scores = self.table.scores([program.id for program in programs])
        budget = 1 if self._judged_singly else self._settings.repertoire_size
        order = survival_order(scores, beta=self._settings.beta, budget=budget)
        return [
            Parent(programs[row], float(scores[row].mean()), tuple(scores[row].tolist()))
            for row in order
        ]

    def context(self, shown: Sequence[Program]) -> Context:
        """Return the context of the round and of the shown programs."""
        if self._judged_singly:
            return Context(self._known)
        rows = self.table.rows
        seed = self.contract.seed.id
        kept = {member.program.id for member in self.method.members}
        return facts.request_context(
            [
                *self._known,
                *facts.survival_facts(self._settings.repertoire_size),
                *self.served(),
                *facts.tried_facts(self._tried, kept),
            ],
            float(self.table.scores([seed]).mean()) if seed in rows else None,
            max(self.method.members, key=lambda member: member.score, default=None),
            {one.id: facts.lower_result_facts(rows[one.id]) for one in shown if one.id in rows},
        )

    def served(self) -> list[str]:
        """Return a sentence on the regions on which the members save much or little."""
        scores = self.table.scores([member.program.id for member in self.method.members])
        return facts.served_facts(self.table.tasks, scores.max(axis=0)) if len(scores) else []

    def best(self) -> float:
        """Return J of the greedy repertoire of the current population."""
        scores = self.table.scores([member.program.id for member in self.method.members])
        settings = self._settings
        chosen = greedy_selection(scores, beta=settings.beta, budget=settings.repertoire_size)
        return objective(scores, chosen, beta=settings.beta, budget=settings.repertoire_size)

    def repertoire(self) -> list[Program]:
        """Return H in greedy order; for a portfolio, the method's members in their own order.

        If no program has a positive gain, H is the first member alone, so that a
        frozen system always has a program for repairs.
        """
        programs = [member.program for member in self.method.members]
        settings = self._settings
        if self._portfolio:
            return programs[: settings.repertoire_size]
        scores = self.table.scores([program.id for program in programs])
        chosen = greedy_selection(scores, beta=settings.beta, budget=settings.repertoire_size)
        return [programs[row] for row in chosen] or programs[:1]
