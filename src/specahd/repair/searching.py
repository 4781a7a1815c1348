"""The frozen pipeline for problems whose solution is improved by a search of many repairs.

The engine makes the passes. Before each tenth of them the router chooses the members of the
repertoire that repair. Every better solution is checked as when an instance is solved.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from specahd.core.program import Outcome
from specahd.core.settings import SearchLimit
from specahd.engine.neighbourhood_search import (
    SLICE_REPAIRS,
    Improver,
    SearchProgress,
    SearchResult,
    SliceResult,
    run_search,
)
from specahd.engine.orders import Work
from specahd.repair.cases import Case
from specahd.repair.system import Repair, RepairSystem, Step
from specahd.routing.base import AnyProblem, FloatArray, IntArray, Region, RepairOperator
from specahd.sandbox.calls import Result

SLICES = 10
"""Number of times that a search queries the router."""


class ChoosingImprover(Improver, Protocol):
    """An improver whose lower programs can be chosen between two slices."""

    lowers: Sequence[int]
    """Indices of the programs that repair, drawn uniformly for each group; repeats are allowed."""
    work: Work | None
    """What the search has done so far; None before its first slice."""

    def ask(self, inputs: tuple[IntArray, ...]) -> Result:
        """Call the upper program with the inputs of a solution."""
        ...


@dataclass(frozen=True, slots=True)
class Choice:
    """A routing decision: the upper program's groups on the best solution, their mean
    descriptor, and the member for each of them.
    """

    region: Region
    descriptor: tuple[float, ...]
    members: tuple[int, ...]


class RoutedImprover:
    """A search in slices of a tenth, each with the members that the router chooses.

    Parameters
    ----------
    operator
        The problem's operator.
    case
        The start of the search, and the share of a descent that led to it.
    choose
        Returns the member that repairs a region with a given descriptor.
    members
        The programs that repair if no region is named.
    """

    def __init__(
        self,
        problem: AnyProblem,
        operator: RepairOperator,
        case: Case,
        choose: Callable[[FloatArray], int],
        members: Sequence[int],
        improver: ChoosingImprover,
    ) -> None:
        self._problem = problem
        self._operator = operator
        self._case = case
        self._choose = choose
        self._members = tuple(members)
        self._improver = improver
        self._solution = case.baseline
        self._asked = -1
        self.choice = Choice(Region(()), (), ())
        self.part = SliceResult(Outcome.OK)

    @property
    def work(self) -> Work | None:
        """What the search has done so far; None before its first slice."""
        return self._improver.work

    def improve(
        self, seconds: float | None, repairs: int | None, share: float, end_share: float
    ) -> SliceResult:
        done, part = self._case.progress, int(SLICES * share + 1e-9)
        share, end_share = (done + (1.0 - done) * each for each in (share, end_share))
        failure = None
        if part > self._asked:
            self._asked = part
            failure = self._route(share)
        if failure is None:
            self._improver.lowers = self.choice.members
            self.part = self._improver.improve(seconds, repairs, share, end_share)
            if self.part.solution is not None:
                # If the check fails, the search ends.
                self._solution = self.part.solution
        else:
            self.part = failure
        return self.part

    def _route(self, share: float) -> SliceResult | None:
        """Query the router for the upper program's groups; return why there is no answer."""
        instance, selector = self._case.instance, self._operator.at(share).selector
        proposal = self._improver.ask(selector.inputs(instance, self._solution))
        if proposal.outcome is not Outcome.OK:
            return SliceResult(proposal.outcome, proposal.detail)
        regions = selector.validate(instance, self._solution, proposal.output).regions
        described = [self._problem.describe(instance, self._solution, each) for each in regions]
        self.choice = Choice(
            Region(tuple(node for region in regions for node in region.nodes)),
            tuple(np.mean(described, axis=0).tolist()) if described else (),
            tuple(sorted(map(self._choose, described))) or self._members,
        )
        return None


def search_case(
    problem: AnyProblem,
    operator: RepairOperator,
    case: Case,
    system: RepairSystem,
    start: Callable[[], ChoosingImprover],
) -> Repair:
    """Improve y0 by a search with the number of repairs that the system or the operator sets.

    In a portfolio each member does so separately, and the cheapest result is returned.

    Parameters
    ----------
    start
        Begins a search with the upper program and the repertoire at y0.
    """
    each = system.repairs or operator.final_repairs_per_customer
    everyone = range(len(system.repertoire))
    choices: list[tuple[Callable[[FloatArray], int], Sequence[int]]]
    choices = [(system.router.choose, everyone)]
    if system.portfolio and everyone:
        choices = [(partial(_always, member), [member]) for member in everyone]
    repairs = []
    for choose, members in choices:
        routed = RoutedImprover(problem, operator, case, choose, members, start())
        inserted = operator.search_repairs(case.instance, system.repertoire, each)
        repairs.append(_describe_search(problem, case, system, routed, inserted))
    return min(repairs, key=lambda repair: repair.cost)


def _always(member: int, descriptor: FloatArray) -> int:
    return member


def _describe_search(
    problem: AnyProblem,
    case: Case,
    system: RepairSystem,
    routed: RoutedImprover,
    inserted: int,
) -> Repair:
    steps: list[Step] = []
    before = case.cost

    def tell(moment: SearchProgress, found: SearchResult) -> None:
        nonlocal before
        if routed.part.repairs:
            steps.append(_slice_step(system, routed, before, found))
            before = found.cost

    limit = SearchLimit(repairs=inserted)
    each = min(SLICE_REPAIRS, -(-inserted // SLICES))
    found = run_search(
        problem, case.instance, case.baseline, case.cost, routed, limit, tell, slice_repairs=each
    )
    outcome, detail = routed.part.outcome, routed.part.detail
    if outcome is Outcome.OK and not steps:
        outcome = Outcome.EMPTY_REGIONS
    return Repair(
        outcome,
        detail,
        case.cost,
        found.cost,
        found.solution,
        len(steps),
        (),
        tuple(steps),
        {"rebuild": found.seconds},
        work=routed.work,
    )


def _slice_step(
    system: RepairSystem, routed: RoutedImprover, before: float, found: SearchResult
) -> Step:
    """Return a slice's step as if it had one region: the groups named at its start."""
    choice = routed.choice
    outcome = Outcome.INFEASIBLE_MERGE if found.failure else Outcome.OK
    names = sorted({system.repertoire[member].id for member in choice.members})
    return Step(
        choice.region,
        choice.descriptor,
        "+".join(names),
        outcome,
        before,
        None if found.failure else found.cost,
        found.cost < before,
        routed.part.fallbacks,
    )
