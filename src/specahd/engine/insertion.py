"""Rebuild by insertion: customers of a group leave their routes and are inserted again.

What changes is local, so strong solutions can be improved too, and a solution is repaired in
many passes: the upper program sees the solution as the pass before left it. Both programs are
compiled and have no interpreted twin.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from zlib import crc32

import numpy as np

from specahd.core.contract import Contract
from specahd.core.program import Program
from specahd.engine.price import price
from specahd.engine.reinsertion import SHARES
from specahd.routing.base import IntArray, Region, Validation
from specahd.routing.groups import concatenated, is_vector, validate_groups
from specahd.routing.vehicles.routes import Solution

PASSES = 10
"""How often the upper program proposes groups in one repair of a solution."""
REPEATS = 8
"""How often a group is taken out and inserted again, each time with other noise."""


@dataclass(frozen=True)
class OrderedGroups:
    """Regions that are groups of customers in the order in which they are inserted.

    Parameters
    ----------
    contract
        Of programs that see the incumbent as links between customers.
    max_regions, max_size
        Most groups kept from one proposal, most customers in each.
    progress
        Which share of the repair is done.
    exposures
        How often customers were in a group so far; who is missing was in none.
    """

    contract: Contract
    max_regions: int
    max_size: int
    progress: float = 0.0
    exposures: Mapping[int, int] | None = None

    def inputs(self, instance: Any, solution: Any) -> tuple[IntArray, ...]:
        """Return lengths of the routes, their customers, how often each was in a group, and
        ``[max_regions, max_size, seed, progress]``.
        """
        lengths, customers = concatenated(solution)
        exposures = np.zeros(instance.size + 1, np.int64)
        for node, count in (self.exposures or {}).items():
            exposures[node] = count
        share = round(self.progress * SHARES)
        seed = _seed(customers, exposures, np.array([share]))
        numbers = np.array([self.max_regions, self.max_size, seed, share], np.int64)
        return lengths, customers, exposures, numbers

    def validate(self, instance: Any, solution: Any, output: Sequence[IntArray]) -> Validation:
        return validate_groups(output, instance.size, self.max_regions, self.max_size)


@dataclass(frozen=True)
class Insertion:
    """Customers of a region leave their routes, and each is inserted again, in the region's order.

    Parameters
    ----------
    passes
        How often groups are proposed in one repair of a solution.
    repeats
        How often a group is taken out and inserted again; what is cheapest stays.
    """

    selector: OrderedGroups
    contract: Contract
    passes: int = PASSES
    repeats: int = REPEATS

    def at(self, progress: float, exposures: Mapping[int, int] | None = None) -> "Insertion":
        """Return the operator as it acts when some share of the repair is done."""
        selector = replace(self.selector, progress=progress, exposures=exposures)
        return replace(self, selector=selector)

    def repairs(self, region: Region) -> int:
        return self.repeats * len(region.nodes)

    def of(self, program: Program) -> "Insertion":
        """Return the operator as it acts with a lower program: what takes longer repeats less."""
        return replace(self, repeats=max(1, round(self.repeats / price(program.source))))

    def identity(self, region: Region) -> tuple[int, ...]:
        """Return the customers in their order, in which they are inserted."""
        return region.nodes

    def inputs(self, instance: Any, solution: Any, region: Region) -> tuple[IntArray, ...]:
        """Return lengths of routes, their customers, the group, ``[seed, repeats, progress]``."""
        lengths, customers = concatenated(solution)
        group = np.array(region.nodes, np.int64)
        share = round(self.selector.progress * SHARES)
        numbers = np.array([_seed(customers, group), self.repeats, share], np.int64)
        return lengths, customers, group, numbers

    def merge(
        self, instance: Any, solution: Any, region: Region, output: Sequence[IntArray]
    ) -> Solution | None:
        """Put the routes that changed in place of those that visited their customers.

        Parameters
        ----------
        output
            ``[changed]`` from untrusted code: customers, with a 0 between routes; nothing where
            nothing changed.
        """
        if len(output) != 1 or not is_vector(output[0]):
            return None
        [changed] = output
        if changed.size > 2 * instance.size + 1:
            return None
        if changed.size and not (changed.min() >= 0 and changed.max() <= instance.size):
            return None
        members = set(changed.tolist())
        kept = [route for route in solution if members.isdisjoint(route)]
        return (*kept, *_routes(changed))


def _routes(changed: IntArray) -> list[tuple[int, ...]]:
    parts = np.split(changed, np.flatnonzero(changed == 0))
    routes = (tuple(int(node) for node in part if node) for part in parts)
    return [route for route in routes if route]


def _seed(*arrays: IntArray) -> int:
    """Return a seed that follows from what a program is shown."""
    seed = 0
    for array in arrays:
        seed = crc32(np.asarray(array, np.int64).tobytes(), seed)
    return seed
