"""The repair pipeline: passes over a solution, from y0 to ŷ.

Training, evaluation and solving use this same code. The paper's pipeline is one pass of one upper
program, with one member for each region.
"""

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle, islice
from math import inf
from typing import Any

from numba.core.event import install_listener

from specahd.core.compilation import CompilationClock
from specahd.core.errors import ConfigError
from specahd.core.program import Outcome
from specahd.core.settings import Settings
from specahd.core.sums import sequential_sum
from specahd.repair.cases import Case
from specahd.repair.merge import Merge, checked_merge
from specahd.repair.system import Repair, RepairSystem, Step
from specahd.routing.base import AnyProblem, IntArray, Region
from specahd.sandbox.calls import Result

Propose = Callable[[tuple[IntArray, ...]], Result]
Rebuild = Callable[[Sequence[int], tuple[IntArray, ...], int], Sequence[Result]]


class _Stopwatch:
    """A stopwatch that measures wall time by stage, without compilation; for reports only."""

    def __init__(self, compilation: CompilationClock) -> None:
        self.seconds: dict[str, float] = {}
        self._compilation = compilation
        self._last = self._now()

    def _now(self) -> float:
        """Return the elapsed time without compilation and loading of compiled code."""
        return time.perf_counter() - self._compilation.seconds

    def lap(self, stage: str) -> None:
        now = self._now()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._last
        self._last = now


def single_pass(problem: AnyProblem, *, portfolio: bool) -> str | None:
    """Return the reason why only one pass of one upper program is possible, with one try a region.

    Return None if several passes are possible, that is, if programs rebuild regions of a solution.
    """
    if portfolio:
        return "where every program of a portfolio repairs each instance by itself"
    return problem.operator.one_pass or None


def check_extensions(
    problem: AnyProblem, settings: Settings, *, portfolio: bool, judged_singly: bool
) -> None:
    """Check that no extension of the paper is set that has no effect here.

    Parameters
    ----------
    judged_singly
        Whether a method searches one level by its own rules.

    Raises
    ------
    ConfigError
        An option has no effect; the message names it and the reason.
    """
    where, paper = single_pass(problem, portfolio=portfolio), Settings()
    singly = "where a method searches one level" if judged_singly else None
    searches = problem.operator.repairs_per_customer
    coupled = where or singly
    reasons = {
        "uppers": singly if searches else coupled,
        "passes": where,
        "tries": where,
        "incumbents": coupled,
        "racing": singly,
        "halving": None if searches else "where no search repairs an instance",
    }
    for name, reason in reasons.items():
        value, expected = getattr(settings, name), getattr(paper, name)
        if reason is not None and value != expected:
            raise ConfigError(f"Expected search.{name}={expected} {reason}, got {value}.")
    if singly and settings.initial_levels not in (None, "lower"):
        raise ConfigError(
            f"Expected search.initial_levels=lower {singly}, got {settings.initial_levels}."
        )
    if not searches and settings.passes < settings.uppers:
        raise ConfigError(
            f"Expected search.passes of at least search.uppers={settings.uppers}, since each upper "
            f"program makes a pass of its own, got {settings.passes}."
        )


def repair_case(
    problem: AnyProblem,
    case: Case,
    system: RepairSystem,
    proposers: Mapping[str, Propose],
    rebuild: Rebuild,
    seconds: float = inf,
) -> Repair:
    """Make passes until no upper program improves the incumbent in its turn.

    In a pass one upper program proposes regions of the incumbent. Each region is described, rebuilt
    from the same incumbent by the members that the router ranks first, and merged. The cheapest
    checked merge is used; on ties, that of the earlier member. No member tries a region again
    while the routes that it touches have the same customers.

    In a portfolio each member repairs the regions separately, beginning with y0; the returned
    steps are those of the cheapest result, the earlier member's on ties.

    Parameters
    ----------
    proposers
        By upper program, in the order of their turns: a call with the inputs of an incumbent.
    rebuild
        Calls members of the repertoire, by index, with a region's inputs and number of nodes.
    seconds
        CPU seconds of programs after which no further program is called; in a portfolio, of its
        members together, in their order.

    Returns
    -------
    Repair
        The repair; y0 unchanged and no steps if an upper program failed in any pass.
    """
    with install_listener("numba:compiler_lock", CompilationClock()) as compilation:
        watch = _Stopwatch(compilation)
        return _Passes(problem, case, system, rebuild, watch, seconds).make(proposers)


@dataclass
class _Passes:
    """State of the passes over one case, with the regions that were rebuilt."""

    problem: AnyProblem
    case: Case
    system: RepairSystem
    rebuild: Rebuild
    watch: _Stopwatch
    seconds: float = inf
    """CPU seconds that programs may still use."""
    tried: set[Hashable] = field(default_factory=set)

    def make(self, proposers: Mapping[str, Propose]) -> Repair:
        """Make the passes."""
        case, system, selector = self.case, self.system, self.problem.operator.selector
        solution, costs = case.baseline, [case.cost]
        proposed = kept = 0
        rejections: list[str] = []
        taken: list[Step] = []
        detail = ""
        for upper, propose in islice(cycle(proposers.items()), system.passes):
            proposal = propose(selector.inputs(case.instance, solution))
            self.watch.lap("propose")
            detail = proposal.detail
            self.seconds -= proposal.cpu_seconds
            if proposal.outcome is not Outcome.OK:
                unchanged = case.cost, case.cost, case.baseline
                return Repair(proposal.outcome, detail, *unchanged, 0, (), (), self.watch.seconds)
            validation = selector.validate(case.instance, solution, proposal.output)
            self.watch.lap("validate")
            regions = validation.regions if system.repertoire else ()
            alone = range(len(system.repertoire)) if system.portfolio and regions else [None]
            cost, solution, steps = min(
                (self._rebuild_regions(solution, costs[-1], regions, only) for only in alone),
                key=lambda result: result[0],
            )
            proposed += validation.proposed
            kept += len(validation.regions)
            rejections += [rejection.reason for rejection in validation.rejections]
            taken += [
                replace(
                    step,
                    number=len(costs) if system.passes > 1 else None,
                    upper=upper if len(proposers) > 1 else None,
                )
                for step in steps
            ]
            costs.append(cost)
            without_gain = len(costs) > len(proposers) and not cost < costs[-1 - len(proposers)]
            if without_gain or self.seconds <= 0.0:
                break
        return Repair(
            Outcome.OK if kept else Outcome.EMPTY_REGIONS,
            detail,
            case.cost,
            costs[-1],
            solution,
            proposed,
            tuple(rejections),
            tuple(taken),
            self.watch.seconds,
            passes=len(costs) - 1,
            skipped=kept - len(taken) if system.repertoire else 0,
        )

    def _rebuild_regions(
        self, solution: Any, cost: float, regions: Sequence[Region], only: int | None
    ) -> tuple[float, Any, list[Step]]:
        """Rebuild the regions in turn, each by one member or by the members ranked first."""
        problem, system, instance = self.problem, self.system, self.case.instance
        steps: list[Step] = []
        for region in regions:
            if self.seconds <= 0.0:
                break
            if not self._is_new(solution, region):
                continue
            descriptor = problem.describe(instance, solution, region)
            self.watch.lap("describe")
            ranked = [only] if only is not None else system.router.rank(descriptor, system.tries)
            self.watch.lap("route")
            inputs = problem.operator.inputs(instance, solution, region)
            results = self.rebuild(ranked, inputs, len(region.nodes))
            self.seconds -= sequential_sum([result.cpu_seconds for result in results])
            self.watch.lap("rebuild")
            merges = [self._merge(solution, cost, region, result) for result in results]
            self.watch.lap("merge")
            before = cost
            member, result, merge = min(
                zip(ranked, results, merges, strict=True),
                key=lambda tried: inf if tried[-1].merged_cost is None else tried[-1].merged_cost,
            )
            solution, cost = merge.solution, merge.cost
            steps.append(
                Step(
                    region,
                    tuple(descriptor.tolist()),
                    system.repertoire[member].id,
                    merge.outcome,
                    before,
                    merge.merged_cost,
                    merge.accepted,
                    result.fallbacks,
                )
            )
        return cost, solution, steps

    def _merge(self, solution: Any, cost: float, region: Region, result: Result) -> Merge:
        """Return the checked merge of a rebuilt region."""
        if result.outcome is not Outcome.OK:
            return Merge(result.outcome, None, False, solution, cost)
        problem, instance, accept = self.problem, self.case.instance, self.system.accept
        return checked_merge(problem, instance, solution, cost, region, result.output, accept)

    def _is_new(self, solution: Any, region: Region) -> bool:
        """Return whether a region was not yet rebuilt on the current routes, and record it.

        A rebuild reads the nodes of its region. The feasibility and the gain of a merge also depend
        on the routes that visit these nodes: on the customers of the routes. This holds for split
        deliveries too, because a rebuild makes all deliveries of a customer anew. For a tour they
        depend only on the order of the region.
        """
        if self.system.passes == 1:
            # Within one pass the regions are disjoint.
            return True
        nodes = set(region.nodes)
        routes = self.problem.routes(solution) or [region.nodes]
        touched = sorted(tuple(route) for route in routes if not nodes.isdisjoint(route))
        state = self.problem.operator.identity(region), tuple(touched)
        if state in self.tried:
            return False
        self.tried.add(state)
        return True
