"""The SDVRP as one class, which combines the modules of this folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from specahd.engine.insertion import Insertion, insertion_of
from specahd.problems.sdvrp import baseline, checker, deliveries, descriptor, generator, instance
from specahd.problems.sdvrp.append import AppendDeliveries, DeliveryGroups
from specahd.problems.sdvrp.deliveries import Delivery, Solution
from specahd.problems.sdvrp.family import FAMILY
from specahd.problems.sdvrp.instance import SDVRPInstance
from specahd.routing.base import IntArray, PublicSet
from specahd.routing.formats import sol
from specahd.routing.problem import Baselines, Operators
from specahd.routing.vehicles.append import all_customers
from specahd.routing.vehicles.problem import VehicleProblem


def _append(problem: "SDVRP") -> AppendDeliveries:
    # Only a search needs the contracts; reading and checking do not.
    from specahd.problems.sdvrp.contracts import APPEND, DELIVERY_GROUPS

    groups = DeliveryGroups(DELIVERY_GROUPS, problem.max_regions, problem.max_size)
    return AppendDeliveries(groups, APPEND)


def _construct(problem: "SDVRP") -> AppendDeliveries:
    from specahd.problems.sdvrp.contracts import CONSTRUCT
    from specahd.routing.whole_instance import WholeInstance

    return AppendDeliveries(WholeInstance(all_customers), CONSTRUCT)


def _insertion(problem: "SDVRP") -> Insertion:
    from specahd.problems.sdvrp.contracts import INSERTION, ORDERED_GROUPS

    return insertion_of(problem, ORDERED_GROUPS, INSERTION)


class SDVRP(VehicleProblem[SDVRPInstance, Solution]):
    """The split-delivery vehicle routing problem; its options are those of all vehicle problems."""

    name = "sdvrp"
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
    engine = FAMILY
    operators: Operators = {"append": _append, "insertion": _insertion, "construct": _construct}
    descriptor_names = descriptor.NAMES

    read = staticmethod(instance.read)
    from_table = staticmethod(instance.from_vrplib)
    dumps = staticmethod(instance.dumps)
    generate = staticmethod(generator.generate)
    cost = staticmethod(checker.cost)
    check = staticmethod(checker.check)
    describe = staticmethod(descriptor.describe)
    lower_bound = staticmethod(checker.lower_bound)

    def routes(self, solution: Solution) -> Sequence[Sequence[int]]:
        return deliveries.stops(solution)

    def trivial_solution(self, instance: SDVRPInstance) -> Solution:
        # A vehicle for each full load of a customer, and one for the rest of its demand.
        owners, pieces = baseline.cut(instance.demands, instance.capacity, (100,))
        pairs = zip(owners.tolist()[1:], pieces.tolist()[1:], strict=True)
        return tuple((Delivery(*pair),) for pair in pairs)

    def flat(self, instance: SDVRPInstance, solution: Solution) -> tuple[IntArray, ...]:
        return deliveries.flat(solution, instance.demands)

    def unflat(self, instance: SDVRPInstance, arrays: Sequence[IntArray]) -> Solution | None:
        return deliveries.unflat(arrays)

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
        return {".sol": sol.dumps_deliveries(deliveries.stops(solution), given, cost)}
