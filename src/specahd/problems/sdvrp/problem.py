"""The SDVRP as one class: instances split deliveries; baselines, ``append`` with quantities, Φ."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from specahd.core.sums import sequential_sum
from specahd.engine.family import Family
from specahd.engine.insertion import insertion
from specahd.problems.sdvrp import baseline, pools
from specahd.routing.base import FloatArray, IntArray, PublicSet, Region
from specahd.routing.formats import sdvrp, sol
from specahd.routing.groups import is_vector, nested
from specahd.routing.kernels.descriptors import GROUP_NAMES
from specahd.routing.operators import WholeInstance
from specahd.routing.problem import Baselines, Operators
from specahd.routing.vehicles.instance import VehicleInstance
from specahd.routing.vehicles.problem import (
    SUITED_TO_LARGE_INSTANCES,
    VehicleProblem,
    describe_nodes,
)
from specahd.routing.vehicles.routes import (
    Append,
    CustomerGroups,
    Delivery,
    SplitSolution,
    all_customers,
    columns_of,
    customers_of,
    joined,
    local_customers,
    split_routes,
)
from specahd.routing.vehicles.runners import most_stops


class DeliveryGroups(CustomerGroups):
    """Regions that are groups of customers; programs also receive the delivery of each stop."""

    def inputs(self, instance: Any, solution: SplitSolution) -> tuple[IntArray, ...]:
        """Return lengths of the routes, customers, quantities, and the two limits."""
        return (*columns_of(solution, instance.demands), self.budget())


class AppendDeliveries(Append):
    """Operator that rebuilds all deliveries to the customers of a region in new routes."""

    def merge(
        self, instance: Any, solution: Any, region: Region, output: Sequence[IntArray]
    ) -> Any:
        demand = int(instance.demands[list(region.nodes)].sum())
        most = most_stops(len(region.nodes), demand, instance.capacity)
        return merge(solution, region, output, most)


def merge(
    solution: SplitSolution, region: Region, output: Sequence[IntArray], most: int
) -> SplitSolution | None:
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
    rebuilt = split_routes((np.array([0, *local_customers(region)])[local], amounts))
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
    return AppendDeliveries(groups, problem.form(contracts.APPEND), problem.planned)


def _construct(problem: "SDVRP") -> AppendDeliveries:
    contract = problem.form(problem.contracts.CONSTRUCT)
    return AppendDeliveries(WholeInstance(all_customers), contract, problem.planned)


class SDVRP(VehicleProblem[SplitSolution]):
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
    # Up to whole training instances.
    suited_sizes = {"append": (16, 500)}
    suited = {
        **SUITED_TO_LARGE_INSTANCES,
        "paper": {"problem.baseline": "splitting"},
    }
    descriptor_names = (*GROUP_NAMES, "customer_demand", "log_splits")
    """``customer_demand`` is the mean demand of the region's customers over the capacity,
    ``log_splits`` the logarithm of the mean number of deliveries to one of them."""

    read_data = staticmethod(sdvrp.read)
    generate = staticmethod(pools.generate)

    def routes(self, solution: SplitSolution) -> Sequence[Sequence[int]]:
        return customers_of(solution)

    def trivial_solution(self, instance: VehicleInstance) -> SplitSolution:
        # A vehicle for each full load of a customer, and one for the rest of its demand.
        owners, pieces = baseline.cut(instance.demands, instance.capacity, (100,))
        pairs = zip(owners.tolist()[1:], pieces.tolist()[1:], strict=True)
        return tuple((Delivery(*pair),) for pair in pairs)

    def flat(self, instance: VehicleInstance, solution: SplitSolution) -> tuple[IntArray, ...]:
        lengths, customers, given = columns_of(solution, instance.demands)
        ends = np.cumsum(lengths)
        return np.insert(customers, ends, 0), np.insert(given, ends, 0)

    def unflat(self, instance: VehicleInstance, arrays: Sequence[IntArray]) -> SplitSolution | None:
        return split_routes(arrays)

    def read_solution(
        self, path: Path, instance: VehicleInstance | None = None
    ) -> tuple[SplitSolution, float | None]:
        routes, quantities, cost = sol.read_deliveries(path)
        pairs = zip(routes, quantities, strict=True)
        return tuple(tuple(map(Delivery, *pair)) for pair in pairs), cost

    def solution_of(self, routes: Sequence[Sequence[Any]]) -> SplitSolution:
        pairs = [
            [stop if isinstance(stop, tuple) else (stop, None) for stop in route]
            for route in routes
        ]
        return tuple(tuple(Delivery(*pair) for pair in route) for route in pairs)

    def solution_files(self, name: str, solution: SplitSolution, cost: float) -> Mapping[str, str]:
        given = [[quantity for _, quantity in route] for route in solution]
        return {".sol": sol.dumps_deliveries(customers_of(solution), given, cost)}

    @property
    def contracts(self) -> ModuleType:
        from specahd.problems.sdvrp import contracts

        return contracts

    @staticmethod
    def lower_bound(instance: VehicleInstance) -> float:
        """Return 2 Σ q d / Q over the customers' demands q and distances d from the depot.

        A vehicle that brings q of its capacity Q to a customer drives at least there and back; the
        share q / Q of its route is the customer's. A rounded distance may be slightly longer than a
        detour. Then the bound holds up to the rounding.
        """
        customers = np.arange(1, instance.size + 1)
        trips = instance.between(0, customers) + instance.between(customers, 0)
        driven = (instance.demands[1:] * (trips / instance.parts)).tolist()
        return sequential_sum(driven) / instance.capacity

    @staticmethod
    def describe(instance: VehicleInstance, solution: SplitSolution, region: Region) -> FloatArray:
        """Return the raw coordinates, one float per name of :attr:`descriptor_names`.

        In the shared coordinates every delivery counts as a separate node. It has the
        customer's position, and its demand is the quantity delivered.
        """
        members = set(region.nodes)
        touched = tuple(
            route for route in solution if any(customer in members for customer, _ in route)
        )
        lengths, customers, given = columns_of(touched, instance.demands)
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
