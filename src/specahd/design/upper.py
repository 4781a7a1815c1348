"""The upper level: learn where to repair, under a frozen repair system."""

import math
from collections.abc import Sequence
from concurrent.futures import Future

import numpy as np

from specahd.core.contract import Context, Contract, Parent
from specahd.core.errors import RunFailed
from specahd.core.program import Level, Outcome, Program
from specahd.core.settings import Penalty
from specahd.design import facts
from specahd.engine.orders import Work
from specahd.memory.skills import Effects
from specahd.repair.cases import Incumbents
from specahd.repair.evaluator import UpperResult
from specahd.repair.racing import Race
from specahd.repair.repertoire import greedy_selection, survival_order
from specahd.repair.system import RepairSystem
from specahd.routing.base import FloatArray
from specahd.runs.records import Measured
from specahd.sandbox.executor import Executor
from specahd.search.base import CandidateEvaluation, SearchMethod, stopped_evaluation
from specahd.search.replay import NOT_REPRODUCED


class UpperSearch:
    """One round of the upper level: every candidate runs the complete frozen pipeline.

    Parameters
    ----------
    incumbents
        The solutions of the training instances D_train.
    uppers
        Largest number of programs kept; if several, those that add most to each other.
    chosen
        Whether one of the kept programs is chosen for each instance; else they take turns.
    coordinates
        Names of the values in the regions' descriptors.
    known
        Sentences about the round for a language model.
    judged_singly
        Whether requests have no facts about the round's programs.
    order
        The order of the incumbents in which candidates race; None if they do not.
    """

    level = Level.UPPER

    def __init__(
        self,
        *,
        number: int,
        contract: Contract,
        method: SearchMethod,
        system: RepairSystem,
        incumbents: Incumbents,
        executor: Executor,
        penalty: Penalty,
        coordinates: Sequence[str],
        uppers: int = 1,
        chosen: bool = False,
        known: Sequence[str] = (),
        judged_singly: bool = False,
        order: Sequence[int] | None = None,
    ) -> None:
        self.round = number
        self.contract = contract
        self.method = method
        self._system = system
        self._incumbents = tuple(incumbents)
        self._executor = executor
        self._penalty = penalty
        self._uppers = uppers
        self._chosen = chosen
        self._coordinates = tuple(coordinates)
        self._known = tuple(known)
        self._judged_singly = judged_singly
        self._order = order
        self._results: dict[str, UpperResult] = {}
        self._tried: list[facts.Tried] = []

    def race(self) -> Race | None:
        """Return the race that a candidate requested now runs."""
        if self._order is None:
            return None
        results = [self._results[member.program.id] for member in self.method.members]
        return Race.against(
            self._by_program([result.utilities for result in results]),
            self._by_program([result.penalties for result in results]),
            beta=0.0,
            budget=self._uppers,
            size=self.method.size,
            order=self._order,
        )

    def submit(self, program: Program, race: Race | None = None) -> "Future[UpperResult]":
        """Start scoring a candidate on every training instance."""
        arguments = program, self._system, self._incumbents, self._penalty, race
        return self._executor.submit("utility", *arguments)

    def measure(self, result: UpperResult) -> CandidateEvaluation:
        """Score a candidate by mean U - λΩ; one that failed on any instance has no score.

        If several programs are kept, the record also has the candidate's marginal gain.
        """
        if result.tried is not None:
            return stopped_evaluation(result.detail, self.contract.tier, result.tried)
        if result.outcome is not Outcome.OK:
            return CandidateEvaluation(result.outcome, result.detail, None, False)
        return CandidateEvaluation(
            result.outcome,
            result.detail,
            result.score,
            True,
            tier=self.contract.tier,
            responses=result.scores,
            vector={
                "utilities": list(result.utilities),
                "penalties": list(result.penalties),
                "regions": [None if mean is None else list(mean) for mean in result.regions],
                **({"work": list(result.work)} if result.work else {}),
            },
            record={} if self._uppers == 1 else {"gain": self._gain(result)},
        )

    def _current_members(self) -> tuple[Program, ...]:
        """Return the members that are currently kept."""
        members = [member.program for member in self.method.members]
        # Before the round begins, the members are those of the previous round.
        return self._survivors([program for program in members if program.id in self._results])

    def _gain(self, result: UpperResult) -> float:
        kept = self._current_members()
        own, price = np.array(result.utilities), float(np.mean(result.penalties))
        envelope = np.zeros(len(own))
        for program in kept:
            envelope = np.maximum(envelope, self._results[program.id].utilities)
        return float(np.maximum(own - envelope, 0.0).mean()) - price

    def recall(self, record: Measured) -> UpperResult:
        """Return the result of an evaluation that the journal recorded.

        Raises
        ------
        RunFailed
            The record is not one of this round's instances.
        """
        if record.tried is not None:
            return UpperResult(record.outcome, record.detail, (), (), (), record.tried)
        utilities, penalties = tuple(record.utilities), tuple(record.penalties)
        regions = tuple(None if mean is None else tuple(mean) for mean in record.regions)
        complete = record.outcome != Outcome.OK or len(utilities) == len(self._incumbents)
        width = len(self._coordinates)
        if (
            not complete
            or not len(utilities) == len(penalties) == len(regions)
            or any(mean is not None and len(mean) != width for mean in regions)
            or len(record.work) not in (0, len(Work._fields))
        ):
            raise RunFailed(NOT_REPRODUCED)
        work = Work(*record.work) if record.work else None
        scores = utilities, penalties, regions
        return UpperResult(record.outcome, record.detail, *scores, work=work)

    def admit(self, program: Program, result: UpperResult) -> None:
        """Store a retained candidate's result."""
        self._results[program.id] = result
        self._tried.append(facts.Tried(program, result.score))

    def rank(self, programs: Sequence[Program]) -> list[Parent]:
        """Order programs, given oldest first, by mean U - λΩ.

        If several are kept, they come first, each the one that adds most to those before it.
        """
        if self._uppers > 1:
            scores, prices = self._utility_table(programs)
            order = survival_order(scores, beta=0.0, budget=self._uppers, prices=prices)
            return [
                Parent(programs[row], result.score, result.scores)
                for row in order
                for result in [self._results[programs[row].id]]
            ]
        results = [self._results[program.id] for program in programs]
        parents = [
            Parent(program, result.score, result.scores)
            for program, result in zip(programs, results, strict=True)
        ]
        return sorted(parents, key=lambda parent: -parent.score)

    def finalists(self, count: int) -> list[tuple[Program, ...]]:
        """Return the sets of members, at least one set, from which selection chooses.

        If one program is kept, each set is one of the first members. Else the sets are the
        survivors of all members, then the first members (one may add little to the others from
        the same incumbents), then the survivors without the first member, the first two …
        If one is chosen for each instance, they are the first member alone, the survivors, then the
        other members alone.
        """
        members = [member.program for member in self.method.members]
        if self._uppers == 1:
            return [(member,) for member in members[:count]]
        sets = [self._survivors(members)]
        if self._chosen and count > 1:
            # On ties the earlier set is taken, so that a choice that changes nothing is left out.
            sets = [(members[0],), *sets, *((member,) for member in members[1:])]
            return list(dict.fromkeys(sets))[:count]
        sets.append(tuple(members[: self._uppers]))
        sets += [self._survivors(members[first:]) for first in range(1, min(count, len(members)))]
        return list(dict.fromkeys(sets))[:count]

    def saved(self) -> dict[str, tuple[float, ...]]:
        """Return U - λΩ of each member by incumbent."""
        names = [member.program.id for member in self.method.members]
        return {name: self._results[name].scores for name in names}

    def _survivors(self, programs: Sequence[Program]) -> tuple[Program, ...]:
        """Return the programs to keep, in the order of their turns."""
        if self._uppers == 1:
            return tuple(programs[:1])
        scores, prices = self._utility_table(programs)
        rows = greedy_selection(scores, beta=0.0, budget=self._uppers, prices=prices)
        return tuple(programs[row] for row in rows) or tuple(programs[:1])

    def _utility_table(self, programs: Sequence[Program]) -> tuple[FloatArray, FloatArray]:
        """Return U by program and instance, and mean λΩ by program."""
        results = [self._results[program.id] for program in programs]
        scores = self._by_program([result.utilities for result in results])
        penalties = self._by_program([result.penalties for result in results])
        return scores, penalties.mean(axis=1)

    def _by_program(self, values: Sequence[Sequence[float]]) -> FloatArray:
        return np.array(values).reshape(len(values), len(self._incumbents))

    def effects(self, child: str, parent: str) -> Effects | None:
        """Return how two programs differ on the training instances.

        An instance is described by the mean over the regions that the child proposed on it.
        """
        if child not in self._results or parent not in self._results:
            return None
        ours, theirs = (np.array(self._results[name].scores) for name in (child, parent))
        unknown = (math.nan,) * len(self._coordinates)
        regions = self._results[child].regions
        empty = sum(mean is None for mean in regions)
        return Effects(
            ours - theirs,
            np.array([mean or unknown for mean in regions]),
            self._coordinates,
            np.arange(len(regions)),
            {Outcome.EMPTY_REGIONS: empty} if empty else {},
        )

    def context(self, shown: Sequence[Program]) -> Context:
        """Return the context of the round and of the shown programs."""
        if self._judged_singly:
            return Context(self._known)
        results = self._results
        seed = results.get(self.contract.seed.id)
        best = max(self.method.members, key=lambda member: member.score, default=None)
        leader = None if best is None else results.get(best.program.id)
        return facts.request_context(
            (
                *self._known,
                *facts.ideas_in_turn(self._current_members() if self._uppers > 1 else ()),
                *facts.tried_facts(
                    self._tried, {member.program.id for member in self.method.members}
                ),
            ),
            None if seed is None else seed.score,
            best,
            {
                one.id: facts.upper_result_facts(results[one.id], leader)
                for one in shown
                if one.id in results
            },
        )

    def best(self) -> float | None:
        """Return the best member's mean U - λΩ."""
        members = self.method.members
        return members[0].score if members else None
