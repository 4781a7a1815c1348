"""The frozen repair system and the one-pass pipeline that everything is measured with.

Training scores upper programs with it, evaluation and solving deploy it: the
same code, from y0 to ŷ.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

from numba.core.event import TimingListener, install_listener

from specahd.core.program import Outcome, Program
from specahd.core.settings import Accept, Penalty
from specahd.repair.cases import Case
from specahd.repair.merge import EPSILON, checked_merge
from specahd.repair.router import Router
from specahd.routing.base import AnyProblem, IntArray, Region, Validation
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
    """One pass over one case, from y0 to ŷ.

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
    """Run one pass: propose regions on y0, then route, rebuild, merge and check each in turn.

    Of a portfolio each member goes over the regions by itself, beginning with y0; the steps told
    are those of the cheapest result, the earlier member's on ties.

    Parameters
    ----------
    propose
        Calls the upper program with the inputs of the case.
    rebuild
        Calls a member of the repertoire, by index, with the inputs of a region.
    """
    listener = TimingListener()  # type: ignore[no-untyped-call]  # numba has no types
    with install_listener("numba:compiler_lock", listener) as compilation:
        return _repair(problem, case, system, propose, rebuild, _Stopwatch(compilation))


def _repair(
    problem: AnyProblem,
    case: Case,
    system: RepairSystem,
    propose: Propose,
    rebuild: Rebuild,
    watch: _Stopwatch,
) -> Repair:
    instance, baseline = case.instance, case.baseline
    selector = problem.operator.selector
    proposal = propose(selector.inputs(instance, baseline))
    watch.lap("propose")
    validation = Validation(0, (), ())
    outcome = proposal.outcome
    if outcome is Outcome.OK:
        validation = selector.validate(instance, baseline, proposal.output)
        outcome = Outcome.OK if validation.regions else Outcome.EMPTY_REGIONS
        watch.lap("validate")
    regions = validation.regions if system.repertoire else ()
    alone = range(len(system.repertoire)) if system.portfolio and regions else [None]
    cost, solution, steps = min(
        (_rebuilt(problem, case, system, regions, rebuild, watch, only) for only in alone),
        key=lambda result: result[0],
    )
    return Repair(
        outcome,
        proposal.detail,
        case.cost,
        cost,
        solution,
        validation.proposed,
        tuple(rejection.reason for rejection in validation.rejections),
        tuple(steps),
        watch.seconds,
    )


def _rebuilt(
    problem: AnyProblem,
    case: Case,
    system: RepairSystem,
    regions: Sequence[Region],
    rebuild: Rebuild,
    watch: _Stopwatch,
    only: int | None,
) -> tuple[float, Any, list[Step]]:
    """Rebuild regions in turn, each by one member, or by the one that the router chooses."""
    instance, solution, cost = case.instance, case.baseline, case.cost
    operator = problem.operator
    steps: list[Step] = []
    for region in regions:
        descriptor = problem.describe(instance, solution, region)
        watch.lap("describe")
        member = system.router.choose(descriptor) if only is None else only
        watch.lap("route")
        result = rebuild(member, operator.inputs(instance, solution, region))
        watch.lap("rebuild")
        before = cost
        if result.outcome is Outcome.OK:
            merge = checked_merge(
                problem, instance, solution, cost, region, result.output, system.accept
            )
            solution, cost = merge.solution, merge.cost
            step_outcome, merged_cost, accepted = merge.outcome, merge.merged_cost, merge.accepted
        else:
            step_outcome, merged_cost, accepted = result.outcome, None, False
        watch.lap("merge")
        steps.append(
            Step(
                region,
                tuple(descriptor.tolist()),
                system.repertoire[member].id,
                step_outcome,
                before,
                merged_cost,
                accepted,
                result.fallbacks,
            )
        )
    return cost, solution, steps


def mean_improvement(repairs: Sequence[Repair]) -> float:
    """Return the mean of U over the repairs that did not fail, nan if there is none."""
    done = [repair.improvement for repair in repairs if not repair.failed]
    return sum(done) / len(done) if done else nan
