"""Depot routes, and the repair operator ``append``, which builds fresh ones (R, M).

The customers of a region are removed from their routes, and the gaps close. The lower
program builds new routes for them, one customer after the other. CVRP and VRPTW share
the operator; in SDVRP, stops have quantities as well.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from specahd.core.contract import Contract
from specahd.routing.base import IntArray, Region, RegionSelector, Validation
from specahd.routing.groups import concatenated, is_vector, separated, validate_groups
from specahd.routing.operators import RegionOperator, WholeInstance

Solution = tuple[tuple[int, ...], ...]
"""Routes of customers, without the depot."""


class Delivery(NamedTuple):
    """One stop of a route where deliveries are split.

    Parameters
    ----------
    customer
        The customer at which the vehicle stops.
    quantity
        The quantity delivered, at least 1; None stands for the customer's whole
        demand, as in solution files that contain routes only.
    """

    customer: int
    quantity: int | None


SplitRoute = tuple[Delivery, ...]
SplitSolution = tuple[SplitRoute, ...]
"""Routes without the depot. A route stops at a customer once; several routes may stop there."""


def customers_of(solution: Sequence[Sequence[Any]]) -> Solution:
    """Return the customers of each route of deliveries, in the order in which it visits them."""
    return tuple(tuple(customer for customer, _ in route) for route in solution)


def columns_of(solution: SplitSolution, demands: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the lengths of the routes, and their customers and quantities one after another."""
    whole = demands.tolist()
    quantities = [
        whole[customer] if quantity is None else quantity
        for route in solution
        for customer, quantity in route
    ]
    return (*concatenated(customers_of(solution)), np.array(quantities, np.int64))


def split_routes(arrays: Sequence[IntArray]) -> SplitSolution | None:
    """Return the solution of two arrays; None if they are malformed.

    Feasibility is not checked here.

    Parameters
    ----------
    arrays
        Customers with 0 between two routes, and quantities, of the same shape.
    """
    if len(arrays) != 2 or not all(is_vector(array) for array in arrays):
        return None
    customers, given = arrays
    if customers.size != given.size:
        return None
    routes: list[list[Delivery]] = [[]]
    for customer, quantity in zip(customers.tolist(), given.tolist(), strict=True):
        if customer:
            routes[-1].append(Delivery(customer, quantity))
        elif routes[-1]:
            routes.append([])
    return tuple(tuple(route) for route in routes if route)


def joined(pairs: Iterable[tuple[int, Any]]) -> SplitRoute:
    """Return the deliveries of one route; those to the same customer are joined at the first."""
    quantities: dict[int, int] = {}
    for customer, quantity in pairs:
        quantities[customer] = quantities.get(customer, 0) + quantity
    return tuple(Delivery(customer, quantity) for customer, quantity in quantities.items())


def local_customers(region: Region) -> list[int]:
    """Return the customers of a region as its local problem numbers them, from 1 on."""
    return sorted(region.nodes)


def merge(solution: Solution, region: Region, output: Sequence[IntArray]) -> Solution | None:
    """Replace the region's customers by rebuilt routes; None when ``output`` is malformed.

    The customers leave their routes, gaps close, empty routes are removed, and
    the rebuilt routes come last. Coverage and capacity are not checked here.

    Parameters
    ----------
    output
        ``[route]`` from untrusted code: local indices with a 0 between routes.
    """
    if len(output) != 1 or not is_vector(output[0]):
        return None
    [local] = output
    size = len(region.nodes)
    # A route for each customer has 2 * size - 1 entries.
    if not 1 <= local.size <= 2 * size + 1 or local.min() < 0 or local.max() > size:
        return None
    members = set(region.nodes)
    kept = []
    for route in solution:
        if members.isdisjoint(route):
            kept.append(route)
        elif rest := tuple(node for node in route if node not in members):
            kept.append(rest)
    return (*kept, *separated(np.array([0, *local_customers(region)])[local]))


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
class Append(RegionOperator):
    """Fresh routes from the depot for the customers of a region.

    Parameters
    ----------
    planned
        Whether a program may answer with several actions in order.
    """

    selector: RegionSelector
    contract: Contract
    planned: bool = False

    def identity(self, region: Region) -> tuple[int, ...]:
        """Return the customers of the region in ascending order, as programs receive them."""
        return tuple(local_customers(region))

    def inputs(self, instance: Any, solution: Any, region: Region) -> tuple[IntArray, ...]:
        """Return the customers of the region in ascending order, and ``[planned]``."""
        return np.array(local_customers(region), np.int64), np.array([self.planned], np.int64)

    def merge(
        self, instance: Any, solution: Any, region: Region, output: Sequence[IntArray]
    ) -> Solution | None:
        return merge(solution, region, output)


def append(problem: Any) -> Append:
    """Return the operator of a problem, with its options."""
    contracts = problem.contracts
    groups = CustomerGroups(contracts.CUSTOMER_GROUPS, problem.max_regions, problem.max_size)
    return Append(groups, problem.form(contracts.APPEND), problem.planned)


def construct(problem: Any) -> Append:
    """Return the operator that builds the whole solution."""
    contract = problem.form(problem.contracts.CONSTRUCT)
    return Append(WholeInstance(all_customers), contract, problem.planned)
