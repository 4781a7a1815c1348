"""The SDVRP as one class: baselines, the operator ``append`` with quantities (R, M), F, C and Φ."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from specahd.core.sums import sequential_sum
from specahd.engine.family import Family
from specahd.engine.insertion import insertion
from specahd.problems.sdvrp import baseline, instance
from specahd.problems.sdvrp.instance import (
    Delivery,
    Route,
    SDVRPInstance,
    Solution,
    joined,
    quantities,
    stops,
    unflat,
)
from specahd.routing.base import FloatArray, IntArray, PublicSet, Region, Violation
from specahd.routing.formats import sol
from specahd.routing.groups import concatenated, is_vector, nested
from specahd.routing.kernels.descriptors import GROUP_NAMES
from specahd.routing.operators import WholeInstance
from specahd.routing.problem import Baselines, Operators
from specahd.routing.vehicles.feasibility import routes_length
from specahd.routing.vehicles.problem import VehicleProblem, describe_nodes
from specahd.routing.vehicles.routes import Append, CustomerGroups, all_customers, local_customers
from specahd.routing.vehicles.runners import most_stops


class DeliveryGroups(CustomerGroups):
    """Regions that are groups of customers; programs also receive the delivery of each stop."""

    def inputs(self, instance: Any, solution: Solution) -> tuple[IntArray, ...]:
        """Return lengths of the routes, customers, quantities, and the two limits."""
        lengths, customers = concatenated(stops(solution))
        _, given = concatenated(quantities(solution, instance.demands))
        return lengths, customers, given, self.budget()


class AppendDeliveries(Append):
    """Operator that rebuilds all deliveries to the customers of a region in new routes."""

    def merge(
        self, instance: Any, solution: Any, region: Region, output: Sequence[IntArray]
    ) -> Any:
        demand = int(instance.demands[list(region.nodes)].sum())
        most = most_stops(len(region.nodes), demand, instance.capacity)
        return merge(solution, region, output, most)


def merge(
    solution: Solution, region: Region, output: Sequence[IntArray], most: int
) -> Solution | None:
    """Replace all deliveries to the region's customers; None when ``output`` is malformed.

    The deliveries are removed from their routes, empty routes are deleted, and
    the rebuilt routes come last. If a rebuilt route stops at a customer again,
    the deliveries are joined at the first stop, so that no route visits a
    customer twice. Quantities and capacity are not checked here.

    Parameters
    ----------
    output
        ``[route, quantities]`` from untrusted code: local indices with a 0
        between routes, and a quantity for each index.
    most
        Maximum number of stops; output of more than twice as many entries is malformed.
    """
    if len(output) != 2 or not all(map(is_vector, output)):
        return None
    local, amounts = output
    # There is at most one separator after each stop.
    if not 1 <= local.size <= 2 * most or local.min() < 0 or local.max() > len(region.nodes):
        return None
    rebuilt = unflat((np.array([0, *local_customers(region)])[local], amounts))
    if rebuilt is None:
        return None
    members = set(region.nodes)
    kept = []
    for route in solution:
        rest = tuple(delivery for delivery in route if delivery[0] not in members)
        if rest:
            kept.append(rest)
    return (*kept, *map(joined, rebuilt))


def _append(problem: "SDVRP") -> AppendDeliveries:
    contracts = problem.contracts
    groups = DeliveryGroups(contracts.DELIVERY_GROUPS, problem.max_regions, problem.max_size)
    return AppendDeliveries(groups, contracts.APPEND)


def _construct(problem: "SDVRP") -> AppendDeliveries:
    return AppendDeliveries(WholeInstance(all_customers), problem.contracts.CONSTRUCT)


class SDVRP(VehicleProblem[SDVRPInstance, Solution]):
    """The split-delivery vehicle routing problem; its options are those of all vehicle problems."""

    name = "sdvrp"
    types = ("SDVRP",)
    splits = True
    public_sets: Sequence[PublicSet] = (
        # No routes are published; solutions of the same instances as CVRP are feasible here.
        PublicSet(
            "sdvrp",
            borrowed={
                "p01_00": "cvrp_small/E-n51-k5.sol",
                "p02_00": "cvrp_small/E-n76-k10.sol",
                "p03_00": "cvrp_small/E-n101-k8.sol",
            },
        ),
    )
    baselines: Baselines = {
        "unsplit": baseline.unsplit,
        "nearest": baseline.nearest,
        "splitting": baseline.splitting,
    }
    iterated = "splitting"
    references: Sequence[str] = ("nearest", "unsplit")
    construction = "nearest"
    engine = Family(name="sdvrp")
    operators: Operators = {"append": _append, "insertion": insertion, "construct": _construct}
    suited = {
        # Up to whole training instances.
        "specahd_passes": {"problem.max_size": 500},
        "comparison": {"budget.lower_train": 16},
        "paper": {"problem.baseline": "splitting"},
    }
    descriptor_names = (*GROUP_NAMES, "customer_demand", "log_splits")
    """``customer_demand`` is the mean demand of the region's customers over the capacity,
    ``log_splits`` the logarithm of the mean number of deliveries to one of them."""

    read = staticmethod(instance.read)
    from_table = staticmethod(instance.from_vrplib)
    dumps = staticmethod(instance.dumps)
    generate = staticmethod(instance.generate)

    def routes(self, solution: Solution) -> Sequence[Sequence[int]]:
        return stops(solution)

    def trivial_solution(self, instance: SDVRPInstance) -> Solution:
        # A vehicle for each full load of a customer, and one for the rest of its demand.
        owners, pieces = baseline.cut(instance.demands, instance.capacity, (100,))
        pairs = zip(owners.tolist()[1:], pieces.tolist()[1:], strict=True)
        return tuple((Delivery(*pair),) for pair in pairs)

    def flat(self, instance: SDVRPInstance, solution: Solution) -> tuple[IntArray, ...]:
        lengths, customers = concatenated(stops(solution))
        _, given = concatenated(quantities(solution, instance.demands))
        ends = np.cumsum(lengths)
        return np.insert(customers, ends, 0), np.insert(given, ends, 0)

    def unflat(self, instance: SDVRPInstance, arrays: Sequence[IntArray]) -> Solution | None:
        return unflat(arrays)

    def read_solution(
        self, path: Path, instance: SDVRPInstance | None = None
    ) -> tuple[Solution, float | None]:
        routes, quantities, cost = sol.read_deliveries(path)
        pairs = zip(routes, quantities, strict=True)
        return tuple(tuple(map(Delivery, *pair)) for pair in pairs), cost

    def solution_of(self, routes: Sequence[Sequence[Any]]) -> Solution:
        pairs = [
            [stop if isinstance(stop, tuple) else (stop, None) for stop in route]
            for route in routes
        ]
        return tuple(tuple(Delivery(*pair) for pair in route) for route in pairs)

    def solution_files(self, name: str, solution: Solution, cost: float) -> Mapping[str, str]:
        given = [[quantity for _, quantity in route] for route in solution]
        return {".sol": sol.dumps_deliveries(stops(solution), given, cost)}

    @property
    def contracts(self) -> ModuleType:
        from specahd.problems.sdvrp import contracts

        return contracts

    @staticmethod
    def check(instance: SDVRPInstance, solution: Solution) -> tuple[Violation, ...]:
        """Return every violation of coverage, capacity and demand; empty means feasible.

        Kinds: ``empty_route``, ``depot_inside``, ``unknown_customer``, ``quantity``
        (not an integer of at least 1), ``repeated_visit`` (by one route; by the triangle
        inequality one stop is enough), ``capacity``, ``missing_customer`` and ``demand``
        (more or less than the demand is delivered). Deliveries of the kinds ``depot_inside``
        to ``quantity`` count towards neither load nor demand. Routes are numbered from 1.
        """
        demands: list[int] = instance.demands.tolist()
        received = [0] * len(demands)
        visited = [False] * len(demands)
        violations: list[Violation] = []
        quoted_name = instance.labels.quoted_name
        for number, route in enumerate(solution, start=1):
            load = _follow(number, route, demands, received, visited, violations, quoted_name)
            if load > instance.capacity:
                violations.append(
                    Violation(
                        "capacity", f"Route {number} carries {load}, more than {instance.capacity}."
                    )
                )
        for customer in range(1, len(demands)):
            if received[customer] == demands[customer]:
                continue
            if not visited[customer]:
                violations.append(
                    Violation(
                        "missing_customer", f"Customer {quoted_name(customer)} is not visited."
                    )
                )
            else:
                violations.append(
                    Violation(
                        "demand",
                        f"Customer {quoted_name(customer)} receives {received[customer]} "
                        f"of {demands[customer]}.",
                    )
                )
        return tuple(violations)

    @staticmethod
    def cost(instance: SDVRPInstance, solution: Solution) -> float:
        """Return the total length of the routes in the instance's convention."""
        routes = tuple(tuple(customer for customer, _ in route) for route in solution)
        return routes_length(routes, instance.coords, instance.convention, instance.matrix)

    @staticmethod
    def lower_bound(instance: SDVRPInstance) -> float:
        """Return 2 Σ q d / Q over the customers' demands q and distances d from the depot.

        A vehicle that brings q of its capacity Q to a customer drives at least there and back; the
        share q / Q of its route is the customer's. A rounded distance may be slightly longer than a
        detour. Then the bound holds up to the rounding.
        """
        demands: list[int] = instance.demands.tolist()
        trips = [
            SDVRP.cost(instance, ((Delivery(customer, 1),),)) for customer in range(1, len(demands))
        ]
        driven = (q * trip for q, trip in zip(demands[1:], trips, strict=True))
        return sequential_sum(driven) / instance.capacity

    @staticmethod
    def describe(instance: SDVRPInstance, solution: Solution, region: Region) -> FloatArray:
        """Return the raw coordinates, one float per name of :attr:`descriptor_names`.

        In the shared coordinates every delivery counts as a separate node. It has the
        customer's position, and its demand is the quantity delivered.
        """
        members = set(region.nodes)
        touched = tuple(
            route for route in solution if any(customer in members for customer, _ in route)
        )
        lengths, customers = concatenated(stops(touched))
        _, given = concatenated(quantities(touched, instance.demands))
        inside = np.flatnonzero(np.isin(customers, region.nodes)) + 1
        shared = describe_nodes(
            np.concatenate((instance.coords[:1], instance.coords[customers])),
            np.concatenate((instance.demands[:1], given)),
            instance.capacity,
            instance.spread,
            nested(lengths, np.arange(1, len(customers) + 1)),
            Region(tuple(inside.tolist())),
        )
        demand = instance.demands[list(region.nodes)].mean() / instance.capacity
        return np.append(shared, (demand, math.log(len(inside) / len(region.nodes))))


def _follow(
    number: int,
    route: Route,
    demands: list[int],
    received: list[int],
    visited: list[bool],
    violations: list[Violation],
    quoted_name: Callable[[int], str],
) -> int:
    """Follow one route, add its deliveries to those of the customers, and return its load."""
    if not route:
        violations.append(Violation("empty_route", f"Route {number} is empty."))
    load = 0
    seen = set()
    for customer, stated in route:
        if customer == 0:
            violations.append(Violation("depot_inside", "The depot stands inside a route."))
            continue
        if not 1 <= customer < len(demands):
            violations.append(Violation("unknown_customer", f"Customer {customer} does not exist."))
            continue
        visited[customer] = True
        if customer in seen:
            violations.append(
                Violation(
                    "repeated_visit",
                    f"Route {number} visits customer {quoted_name(customer)} more than once.",
                )
            )
        seen.add(customer)
        quantity = demands[customer] if stated is None else stated
        if type(quantity) is not int or quantity < 1:
            violations.append(
                Violation(
                    "quantity",
                    f"Route {number} delivers {quantity} to customer {quoted_name(customer)}.",
                )
            )
            continue
        load += quantity
        received[customer] += quantity
    return load
