"""The CVRP as the search sees it, put together from the modules of this folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from specahd.problems.cvrp import baseline, checker, generator, instance
from specahd.problems.cvrp.instance import CVRPInstance
from specahd.routing.base import FloatArray, PublicSet, Region
from specahd.routing.formats import sol
from specahd.routing.problem import Baselines, Operators
from specahd.routing.vehicles import descriptor
from specahd.routing.vehicles.append import Append, CustomerGroups
from specahd.routing.vehicles.problem import VehicleProblem
from specahd.routing.vehicles.routes import Solution


def _append(problem: "CVRP") -> Append:
    # Only a search needs the contracts; reading and checking do not.
    from specahd.problems.cvrp.contracts import APPEND, CUSTOMER_GROUPS

    return Append(CustomerGroups(CUSTOMER_GROUPS, problem.max_regions, problem.max_size), APPEND)


class CVRP(VehicleProblem[CVRPInstance, Solution]):
    """The capacitated vehicle routing problem; its options are those of all vehicle problems."""

    name = "cvrp"
    public_sets: Sequence[PublicSet] = (
        PublicSet("cvrp_small", "cvrp_small/*.vrp", ("{stem}.sol",)),
        PublicSet("cvrp_belgium", "cvrp_belgium/*.vrp", ("{stem}.sol",)),
        PublicSet("cvrp_x", "cvrp_x/*.vrp", ("{stem}.sol",)),
        PublicSet("cvrp_xl", "cvrp_xl/*.vrp"),
    )
    baselines: Baselines = {
        "nearest": baseline.nearest,
        "savings": baseline.savings,
        "pyvrp": baseline.pyvrp,
    }
    iterated = "pyvrp"
    references: Sequence[str] = ("nearest", "savings")
    operators: Operators = {"append": _append}
    descriptor_names = descriptor.NAMES

    read = staticmethod(instance.read)
    dumps = staticmethod(instance.dumps)
    generate = staticmethod(generator.generate)
    cost = staticmethod(checker.cost)
    check = staticmethod(checker.check)

    def read_solution(self, path: Path) -> tuple[Solution, float | None]:
        return sol.read(path)

    def solution_files(self, name: str, solution: Solution, cost: float) -> Mapping[str, str]:
        return {".sol": sol.dumps(solution, cost)}

    def describe(self, instance: CVRPInstance, solution: Solution, region: Region) -> FloatArray:
        return descriptor.describe(
            instance.coords,
            instance.demands,
            instance.capacity,
            instance.spread,
            solution,
            region,
        )
