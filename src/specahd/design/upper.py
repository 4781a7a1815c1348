"""The upper level: learn where to repair, under a frozen repair system."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from specahd.core.contract import Contract, Parent
from specahd.core.program import Level, Outcome, Program, Tier
from specahd.repair.evaluator import UpperResult
from specahd.repair.system import Penalty, RepairSystem
from specahd.sandbox.executor import Executor
from specahd.search.base import Evaluation, Policy


class UpperSearch:
    """One round of the upper level: every candidate runs the complete frozen pipeline.

    Parameters
    ----------
    cases
        The training instances D_train, by index.
    """

    level = Level.UPPER

    def __init__(
        self,
        *,
        number: int,
        contract: Contract,
        policy: Policy,
        system: RepairSystem,
        cases: Sequence[int],
        executor: Executor,
        penalty: Penalty,
    ) -> None:
        self.round = number
        self.contract = contract
        self.policy = policy
        self._system = system
        self._cases = tuple(cases)
        self._executor = executor
        self._penalty = penalty
        self._scores: dict[str, float] = {}

    def submit(self, program: Program) -> "Future[UpperResult]":
        """Start scoring a candidate on every training instance."""
        return self._executor.submit("utility", program, self._system, self._cases, self._penalty)

    def measure(self, result: UpperResult) -> Evaluation:
        """Score a candidate by mean U - λΩ; one that failed on any instance has no score."""
        if result.outcome is not Outcome.OK:
            return Evaluation(result.outcome, result.detail, None, False)
        return Evaluation(
            result.outcome,
            result.detail,
            result.score,
            True,
            tier=Tier.INTERPRETED,
            vector={"utilities": list(result.utilities), "penalties": list(result.penalties)},
        )

    def recall(self, record: Mapping[str, Any]) -> UpperResult:
        """Return the result of an evaluation that the journal recorded."""
        utilities, penalties = (tuple(record.get(name, ())) for name in ("utilities", "penalties"))
        return UpperResult(Outcome(record["outcome"]), record["detail"], utilities, penalties)

    def admit(self, program: Program, result: UpperResult) -> None:
        """Remember a retained candidate's score."""
        self._scores[program.id] = result.score

    def rank(self, programs: Sequence[Program]) -> list[Parent]:
        """Order programs, given oldest first, by mean U - λΩ."""
        parents = [Parent(program, self._scores[program.id]) for program in programs]
        return sorted(parents, key=lambda parent: -parent.score)

    def best(self) -> float | None:
        """Return the best member's mean U - λΩ."""
        members = self.policy.members
        return members[0].score if members else None
