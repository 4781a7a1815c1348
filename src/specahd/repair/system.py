"""The frozen repair system and the pipeline that everything is measured with.

Training scores upper programs with it, evaluation and solving deploy it: the
same code, from y0 to ŷ.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

from numba.core.event import TimingListener, install_listener

from specahd.core.program import Outcome, Program
from specahd.core.settings import Accept, Penalty
from specahd.repair.cases import Case
from specahd.repair.merge import EPSILON, checked_merge
from specahd.repair.router import Router
from specahd.routing.base import AnyProblem, IntArray, PassOperator, Region, RepairOperator
from specahd.sandbox.calls import Result

Propose = Callable[[tuple[IntArray, ...]], Result]
Rebuild = Callable[[int, tuple[IntArray, ...]], Result]


@dataclass(frozen=True)
class RepairSystem:
    """(H, A) frozen: a repertoire and its router.

    Parameters
    ----------
    key
        Identity within a run; systems with equal keys are equal.
    portfolio
        Every member repairs the whole instance by itself, and the cheapest result stays; the
        router chooses nothing.
    """

    key: str
    repertoire: tuple[Program, ...]
    router: Router
    accept: Accept
    portfolio: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One region of a pass: its raw descriptor, which program rebuilt it, what came of it."""

    region: Region
    descriptor: tuple[float, ...]
    program: str
    outcome: Outcome
    cost_before: float
    cost_merged: float | None
    accepted: bool
    fallbacks: int


@dataclass(frozen=True, slots=True)
class Repair:
    """The passes over one case, from y0 to ŷ: one, unless the repair operator makes several.

    Parameters
    ----------
    outcome
        Of the upper program: ok, empty_regions, or how it failed.
    cost, solution
        C_x(ŷ) and ŷ; the baseline's own when nothing was accepted.
    proposed, rejections
        Raw proposals, and the validator's reasons against some of them.
    seconds
        Wall time by stage: propose, validate, describe, route, rebuild, merge; what numba compiled
        in the first pass of a process is left out. That of all members of a portfolio.
    """

    outcome: Outcome
    detail: str
    baseline_cost: float
    cost: float
    solution: Any
    proposed: int
    rejections: tuple[str, ...]
    steps: tuple[Step, ...]
    seconds: Mapping[str, float]

    @property
    def improvement(self) -> float:
        """U_x: the relative improvement over the baseline."""
        return (self.baseline_cost - self.cost) / max(EPSILON, self.baseline_cost)

    @property
    def failed(self) -> bool:
        """Whether the upper program failed, so that there is nothing to measure (``T``)."""
        return self.outcome not in (Outcome.OK, Outcome.EMPTY_REGIONS)

    def penalty(self, weights: Penalty) -> float:
        """Return λΩ(g, x)."""
        kept = len(self.steps)
        rolled_back = sum(step.outcome is not Outcome.OK for step in self.steps)
        return weights.weight * (
            weights.empty * (kept == 0)
            + weights.rejected * (self.proposed - kept) / max(1, self.proposed)
            + weights.rolled_back * rolled_back / max(1, kept)
        )


class _Stopwatch:
    """Splits wall time by stage, without what numba compiled; nothing is decided by it."""

    def __init__(self, compilation: TimingListener) -> None:
        self.seconds: dict[str, float] = {}
        self._compilation = compilation
        self._last = self._now()

    def _now(self) -> float:
        """Return the time that went by without compiling, or loading what was compiled before."""
        compiled = self._compilation.duration if self._compilation.done else 0.0
        return time.perf_counter() - compiled

    def lap(self, stage: str) -> None:
        now = self._now()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._last
        self._last = now


def repair_case(
    problem: AnyProblem, case: Case, system: RepairSystem, propose: Propose, rebuild: Rebuild
) -> Repair:
    """Propose regions on y0, then route, rebuild, merge and check each in turn.

    An operator of several passes does so again on what the pass before left.

    Of a portfolio each member repairs y0 by itself; the steps told are those of the cheapest
    result, the earlier member's on ties.

    Parameters
    ----------
    propose
        Calls the upper program with the inputs of the case.
    rebuild
        Calls a member of the repertoire, by index, with the inputs of a region.
    """
    listener = TimingListener()  # type: ignore[no-untyped-call]  # numba has no types
    alone = range(len(system.repertoire)) if system.portfolio and system.repertoire else [None]
    with install_listener("numba:compiler_lock", listener) as compilation:
        watch = _Stopwatch(compilation)
        repairs = [_repair(problem, case, system, propose, rebuild, watch, only) for only in alone]
    return min(repairs, key=lambda repair: repair.cost)


def _repair(
    problem: AnyProblem,
    case: Case,
    system: RepairSystem,
    propose: Propose,
    rebuild: Rebuild,
    watch: _Stopwatch,
    only: int | None,
) -> Repair:
    """Repair by one member, or by those that the router chooses."""
    instance, solution, cost = case.instance, case.baseline, case.cost
    steps: list[Step] = []
    proposed = 0
    rejections: list[str] = []
    # Of a pass that fails; else whether any pass kept a region.
    outcome, detail = Outcome.EMPTY_REGIONS, ""
    for operator in _passes(problem.operator, case.progress, steps):
        proposal = propose(operator.selector.inputs(instance, solution))
        watch.lap("propose")
        if proposal.outcome is not Outcome.OK:
            outcome, detail = proposal.outcome, proposal.detail
            break
        validation = operator.selector.validate(instance, solution, proposal.output)
        proposed += validation.proposed
        rejections += [rejection.reason for rejection in validation.rejections]
        watch.lap("validate")
        if validation.regions:
            outcome = Outcome.OK
        for region in validation.regions if system.repertoire else ():
            descriptor = problem.describe(instance, solution, region)
            watch.lap("describe")
            member = system.router.choose(descriptor) if only is None else only
            watch.lap("route")
            program = system.repertoire[member]
            result = rebuild(member, acting(operator, program).inputs(instance, solution, region))
            watch.lap("rebuild")
            before = cost
            if result.outcome is Outcome.OK:
                merge = checked_merge(
                    problem, instance, solution, cost, region, result.output, system.accept
                )
                solution, cost = merge.solution, merge.cost
                step_outcome, accepted = merge.outcome, merge.accepted
                merged_cost = merge.merged_cost
            else:
                step_outcome, merged_cost, accepted = result.outcome, None, False
            watch.lap("merge")
            steps.append(
                Step(
                    region,
                    tuple(descriptor.tolist()),
                    program.id,
                    step_outcome,
                    before,
                    merged_cost,
                    accepted,
                    result.fallbacks,
                )
            )
    return Repair(
        outcome,
        detail,
        case.cost,
        cost,
        solution,
        proposed,
        tuple(rejections),
        tuple(steps),
        watch.seconds,
    )


def _passes(
    operator: RepairOperator, done: float, steps: Sequence[Step]
) -> Iterator[RepairOperator]:
    """Yield the operator as it acts in each pass.

    Parameters
    ----------
    done
        Which share of the descent lies behind the solution that the first pass begins with.
    steps
        What the passes before did, as far as they are made.
    """
    if not isinstance(operator, PassOperator):
        yield operator
        return
    for number in range(operator.passes):
        exposures = Counter(node for step in steps for node in step.region.nodes)
        yield operator.at(done + (1.0 - done) * number / operator.passes, exposures)


def acting(operator: RepairOperator, program: Program) -> RepairOperator:
    """Return an operator as it acts with a lower program."""
    return operator.of(program) if isinstance(operator, PassOperator) else operator


def mean_improvement(repairs: Sequence[Repair]) -> float:
    """Return the mean of U over the repairs that did not fail, nan if there is none."""
    done = [repair.improvement for repair in repairs if not repair.failed]
    return sum(done) / len(done) if done else nan
