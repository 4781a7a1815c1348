"""Rebuild by appending: the repair operator that builds fresh routes from the depot.

The customers of a region are removed from their routes, and the gaps close. The lower
program builds new routes for them, one customer after the other. CVRP and VRPTW share
the operator; in SDVRP, stops have quantities as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from specahd.core.contract import Contract
from specahd.routing.base import IntArray, Region, RegionSelector, Validation
from specahd.routing.groups import concatenated, validate_groups
from specahd.routing.vehicles import routes
from specahd.routing.vehicles.routes import Solution


@dataclass(frozen=True)
class CustomerGroups:
    """Regions that are groups of customers.

    Parameters
    ----------
    contract
        The contract of programs that receive the incumbent as one array of customers per route.
    max_regions, max_size
        Most groups kept from one proposal, most customers in each.
    """

    contract: Contract
    max_regions: int
    max_size: int

    def inputs(self, instance: Any, solution: Any) -> tuple[IntArray, ...]:
        """Return lengths of the routes, their customers, and ``[max_regions, max_size]``."""
        return (*concatenated(solution), self.budget())

    def budget(self) -> IntArray:
        return np.array([self.max_regions, self.max_size], np.int64)

    def validate(self, instance: Any, solution: Any, output: Sequence[IntArray]) -> Validation:
        return validate_groups(output, instance.size, self.max_regions, self.max_size)


def all_customers(instance: Any, solution: Any) -> Region:
    """Return every customer as one region: the whole instance."""
    return Region(tuple(range(1, instance.size + 1)))


@dataclass(frozen=True)
class Append:
    """Fresh routes from the depot for the customers of a region."""

    selector: RegionSelector
    contract: Contract

    def identity(self, region: Region) -> tuple[int, ...]:
        """Return the customers of the region in ascending order, as programs receive them."""
        return tuple(routes.local_customers(region))

    def inputs(self, instance: Any, solution: Any, region: Region) -> tuple[IntArray, ...]:
        """Return the customers of the region in ascending order."""
        return (np.array(routes.local_customers(region), np.int64),)

    def merge(
        self, instance: Any, solution: Any, region: Region, output: Sequence[IntArray]
    ) -> Solution | None:
        return routes.merge(solution, region, output)
