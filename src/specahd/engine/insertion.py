"""Repair by insertion: customers of a group leave their routes and are inserted again.

Changes are local, so that strong solutions can be improved, too. A search makes many passes over a
solution (:mod:`specahd.engine.passes`). All programs are compiled and have no interpreted version.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, ClassVar, Protocol
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from specahd.core.contract import Contract
from specahd.core.program import Program
from specahd.engine import blocks
from specahd.engine.orders import Order
from specahd.programs.parsed import price
from specahd.routing.base import AnyProblem, ArrayLayout, IntArray, Region, T, Validation
from specahd.routing.groups import validate_groups


class FlatSolutions(Protocol):
    """Conversions of a problem's solutions to arrays (:class:`specahd.routing.base.Problem`)."""

    def flat(self, instance: Any, solution: Any) -> tuple[IntArray, ...]: ...

    def unflat(self, instance: Any, arrays: Sequence[IntArray]) -> Any | None: ...


class Searched(FlatSolutions, Protocol):
    """A problem with the options of searches (:class:`specahd.routing.problem.RoutingProblem`)."""

    max_regions: int
    max_size: int
    repairs_per_customer: int
    final_repairs_per_customer: int | None

    @property
    def contracts(self) -> Any: ...


@dataclass(frozen=True)
class OrderedGroups:
    """Regions that are groups of customers in the order in which they are inserted.

    Parameters
    ----------
    problem
        The problem, which converts solutions to arrays for the engine.
    contract
        The contract of programs that see the incumbent as links between customers.
    max_regions, max_size
        The maximum number of groups kept from one proposal, and of customers in each.
    progress
        The share of the search that is done.
    """

    problem: FlatSolutions
    contract: Contract
    max_regions: int
    max_size: int
    progress: float = 0.0

    def inputs(self, instance: Any, solution: Any) -> tuple[IntArray, ...]:
        routes = self.problem.flat(instance, solution)
        order = Order.asking(seed_of(*routes), self.max_regions, self.max_size, self.progress)
        return order.encode(), *routes

    def validate(self, instance: Any, solution: Any, output: Sequence[IntArray]) -> Validation:
        # Node 0 is in no group: it is the depot, or the start of a tour.
        highest = len(instance.coords) - 1
        return validate_groups(output, highest, self.max_regions, self.max_size)


@dataclass(frozen=True)
class Insertion:
    """Operator that removes a region's customers and inserts them again in the region's order.

    Parameters
    ----------
    repairs_per_customer
        The number of insertions for each customer: of an instance in a search, and of a region
        when a lower program is tried on it. In a trial, a cheaper solution replaces the current
        one, and the next insertions start from it.
    final_repairs_per_customer
        The number for a search with final programs, which are no longer varied.
    """

    selector: OrderedGroups
    contract: Contract
    repairs_per_customer: int
    final_repairs_per_customer: int
    whole = False
    one_pass = "where the engine makes the passes"
    stages: ClassVar[Mapping[int, float]] = {0: 0.0, 1: 0.1, 10: 0.4, 100: 0.8}

    def admit(self, instance: Any, solution: Any) -> None:
        self.selector.problem.flat(instance, solution)

    def repair(self, passes: Callable[[], T], search: Callable[[], T]) -> T:
        return search()

    def layout(self, problem: AnyProblem, instance: Any) -> ArrayLayout:
        return blocks.layout(problem, instance)

    def fill(self, problem: AnyProblem, instance: Any, arrays: Mapping[str, NDArray[Any]]) -> None:
        blocks.fill(problem, instance, arrays)

    def at(self, progress: float) -> "Insertion":
        return replace(self, selector=replace(self.selector, progress=progress))

    def of(self, program: Program) -> "Insertion":
        """Return the operator for a lower program; a slower program gets fewer repairs."""
        repairs = max(1, round(self.repairs_per_customer / price(program.source)))
        return replace(self, repairs_per_customer=repairs)

    def repairs(self, region: Region) -> int:
        return self.repairs_per_customer * len(region.nodes)

    def search_repairs(self, instance: Any, programs: Sequence[Program], each: int) -> int:
        taken = fmean(price(program.source) for program in programs)
        return max(1, round(each * int(instance.size) / taken))

    def identity(self, region: Region) -> tuple[int, ...]:
        """Return the customers in the order in which they are inserted."""
        return region.nodes

    def inputs(self, instance: Any, solution: Any, region: Region) -> tuple[IntArray, ...]:
        routes = self.selector.problem.flat(instance, solution)
        group = np.array(region.nodes, np.int64)
        progress = self.selector.progress
        order = Order(
            seed=seed_of(*routes, group),
            repairs=self.repairs(region),
            seconds=0.0,
            max_groups=1,
            max_size=len(group),
            progress=progress,
            end_progress=progress,
            temperature=0.0,
            end_temperature=0.0,
        )
        return order.encode(), *routes, group

    def merge(
        self, instance: Any, solution: Any, region: Region, output: Sequence[IntArray]
    ) -> Any | None:
        """Return the best solution of an answer, or the incumbent if none is cheaper."""
        if not output:
            return None
        _, *routes = output
        return self.selector.problem.unflat(instance, routes) if routes else solution


def seed_of(*arrays: IntArray) -> int:
    """Return a seed computed from the inputs of a program."""
    seed = 0
    for array in arrays:
        seed = crc32(np.asarray(array, np.int64).tobytes(), seed)
    return seed


def insertion(problem: Searched) -> Insertion:
    """Return the operator of a problem, with its options, for the programs of its contracts."""
    upper, lower = problem.contracts.ORDERED_GROUPS, problem.contracts.INSERTION
    groups = OrderedGroups(problem, upper, problem.max_regions, problem.max_size)
    each = problem.repairs_per_customer
    return Insertion(groups, lower, each, problem.final_repairs_per_customer or each)
