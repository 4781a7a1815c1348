"""The CVRP as one class, which combines the modules of this folder."""

from collections.abc import Sequence
from pathlib import Path

from specahd.core.ranges import check_choice
from specahd.engine.insertion import Insertion, insertion_of
from specahd.problems.cvrp import baseline, checker, generator, instance
from specahd.problems.cvrp.family import FAMILY
from specahd.problems.cvrp.instance import CVRPInstance
from specahd.routing.base import PublicSet
from specahd.routing.geometry import Convention
from specahd.routing.problem import Baselines, Operators
from specahd.routing.vehicles import descriptor
from specahd.routing.vehicles.append import Append, CustomerGroups, all_customers
from specahd.routing.vehicles.problem import VehicleProblem
from specahd.routing.vehicles.routes import Solution

_CONVENTIONS = {"rounded": Convention.EUC_2D, "float": Convention.EXACT_2D}


def _append(problem: "CVRP") -> Append:
    # Only a search needs the contracts; reading and checking do not.
    from specahd.problems.cvrp.contracts import APPEND, CUSTOMER_GROUPS

    return Append(CustomerGroups(CUSTOMER_GROUPS, problem.max_regions, problem.max_size), APPEND)


def _construct(problem: "CVRP") -> Append:
    from specahd.problems.cvrp.contracts import CONSTRUCT
    from specahd.routing.whole_instance import WholeInstance

    return Append(WholeInstance(all_customers), CONSTRUCT)


def _insertion(problem: "CVRP") -> Insertion:
    from specahd.problems.cvrp.contracts import INSERTION, ORDERED_GROUPS

    return insertion_of(problem, ORDERED_GROUPS, INSERTION)


class CVRP(VehicleProblem[CVRPInstance, Solution]):
    """The capacitated vehicle routing problem.

    Parameters
    ----------
    baseline, repair, max_regions, max_size, repairs_per_customer, final_repairs_per_customer
        As for all vehicle problems.
    solver_iterations
        As for all vehicle problems.
    convention
        How files whose EDGE_WEIGHT_TYPE is EUC_2D measure distances: ``rounded`` to
        the nearest integer, as TSPLIB defines, or ``float`` (unrounded).

    Raises
    ------
    ConfigError
        A parameter is out of its range.
    """

    name = "cvrp"
    public_sets: Sequence[PublicSet] = (
        PublicSet("cvrp_small"),
        PublicSet("cvrp_belgium"),
        PublicSet("cvrp_x"),
        PublicSet("cvrp_xl"),
    )
    conventions = tuple(_CONVENTIONS)
    baselines: Baselines = {
        "nearest": baseline.nearest,
        "savings": baseline.savings,
        "pyvrp": baseline.pyvrp,
    }
    iterated = "pyvrp"
    references: Sequence[str] = ("nearest", "savings")
    construction = "savings"
    engine = FAMILY
    operators: Operators = {"append": _append, "insertion": _insertion, "construct": _construct}
    descriptor_names = descriptor.NAMES

    from_table = staticmethod(instance.from_vrplib)
    dumps = staticmethod(instance.dumps)
    generate = staticmethod(generator.generate)
    cost = staticmethod(checker.cost)
    check = staticmethod(checker.check)
    describe = staticmethod(descriptor.describe)

    def __init__(
        self,
        baseline: str | None = None,
        repair: str = "append",
        max_regions: int = 8,
        max_size: int = 50,
        repairs_per_customer: int = 50,
        final_repairs_per_customer: int | None = None,
        solver_iterations: int = 200,
        convention: str = "rounded",
    ) -> None:
        searches = repairs_per_customer, final_repairs_per_customer
        super().__init__(baseline, repair, max_regions, max_size, *searches, solver_iterations)
        check_choice("convention", convention, _CONVENTIONS)
        self.convention = convention

    def read(self, path: Path) -> CVRPInstance:
        return instance.read(path, _CONVENTIONS[self.convention])
