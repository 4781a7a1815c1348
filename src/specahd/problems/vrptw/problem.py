"""The VRPTW as one class, which combines the modules of this folder."""

from collections.abc import Sequence
from pathlib import Path

from specahd.core.ranges import check_choice, check_range
from specahd.engine.insertion import Insertion, insertion_of
from specahd.problems.vrptw import baseline, checker, descriptor, generator, instance
from specahd.problems.vrptw.family import FAMILY
from specahd.problems.vrptw.instance import VRPTWInstance
from specahd.routing.base import PublicSet
from specahd.routing.geometry import Convention
from specahd.routing.problem import Baselines, Operators
from specahd.routing.vehicles.append import Append, CustomerGroups, all_customers
from specahd.routing.vehicles.problem import VehicleProblem
from specahd.routing.vehicles.routes import Solution

_MOST_INSERTED = 1000
"""Maximum number of customers with which solving starts from ``insertion``. It takes a second for
this number, and its time grows with the square. For more, ``cheapest`` is as good
(benchmarks/notes/2026-11-25-starts-with-time-windows.md)."""
_CONVENTIONS = {"dimacs": Convention.DIMACS, "float": Convention.EXACT_2D}


def _append(problem: "VRPTW") -> Append:
    # Only a search needs the contracts; reading and checking do not.
    from specahd.problems.vrptw.contracts import APPEND, CUSTOMER_GROUPS

    return Append(CustomerGroups(CUSTOMER_GROUPS, problem.max_regions, problem.max_size), APPEND)


def _construct(problem: "VRPTW") -> Append:
    from specahd.problems.vrptw.contracts import CONSTRUCT
    from specahd.routing.whole_instance import WholeInstance

    return Append(WholeInstance(all_customers), CONSTRUCT)


def _insertion(problem: "VRPTW") -> Insertion:
    from specahd.problems.vrptw.contracts import INSERTION, ORDERED_GROUPS

    return insertion_of(problem, ORDERED_GROUPS, INSERTION)


class VRPTW(VehicleProblem[VRPTWInstance, Solution]):
    """The vehicle routing problem with time windows.

    Parameters
    ----------
    baseline, repair, max_regions, max_size, repairs_per_customer, final_repairs_per_customer
        As for all vehicle problems.
    solver_iterations
        As for all vehicle problems.
    convention
        Distances of files in Solomon's format, and of files of LKH's collection whose
        EDGE_WEIGHT_TYPE is EUC_2D: ``dimacs`` (rounded down to tenths) or
        ``float`` (unrounded).
    customers
        Number of customers to take from Solomon's format, at least 1; None for all.

    Raises
    ------
    ConfigError
        A parameter is out of its range.
    """

    name = "vrptw"
    public_sets: Sequence[PublicSet] = (
        PublicSet("solomon", convention="dimacs"),
        PublicSet("homberger", convention="dimacs"),
    )
    conventions = tuple(_CONVENTIONS)
    pool_unit = "tenths of Homberger's unit"
    baselines: Baselines = {
        "nearest": baseline.nearest,
        "insertion": baseline.insertion,
        "cheapest": baseline.cheapest,
        "pyvrp": baseline.pyvrp,
    }
    iterated = "pyvrp"
    references: Sequence[str] = ("nearest", "insertion")
    construction = "insertion"
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
        convention: str = "dimacs",
        customers: int | None = None,
    ) -> None:
        searches = repairs_per_customer, final_repairs_per_customer
        super().__init__(baseline, repair, max_regions, max_size, *searches, solver_iterations)
        check_choice("convention", convention, _CONVENTIONS)
        if customers is not None:
            check_range("customers", customers, 1)
        self.convention = convention
        self.customers = customers

    def construction_of(self, instance: VRPTWInstance) -> str:
        return self.construction if instance.size <= _MOST_INSERTED else "cheapest"

    def read(self, path: Path) -> VRPTWInstance:
        return instance.read(path, _CONVENTIONS[self.convention], self.customers)
