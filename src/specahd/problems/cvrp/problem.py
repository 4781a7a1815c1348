"""The CVRP as one class: options, baselines, operators, and the checker F with the cost C."""

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

from specahd.core.options import Option, checked
from specahd.engine.family import Family
from specahd.engine.insertion import insertion
from specahd.engine.schedule import many_on_short_routes
from specahd.problems.cvrp import baseline, instance
from specahd.problems.cvrp.instance import CVRPInstance
from specahd.routing.base import PublicSet, Violation
from specahd.routing.geometry import Convention
from specahd.routing.problem import Baselines, Operators
from specahd.routing.vehicles.feasibility import check_routes, routes_length
from specahd.routing.vehicles.problem import CONVENTION, VehicleProblem
from specahd.routing.vehicles.routes import Solution, append, construct

_CONVENTIONS = {"rounded": Convention.EUC_2D, "float": Convention.EXACT_2D}


class CVRP(VehicleProblem[CVRPInstance, Solution]):
    """The capacitated vehicle routing problem.

    Parameters
    ----------
    convention
        Of files whose EDGE_WEIGHT_TYPE is EUC_2D: ``rounded`` to the nearest integer, as TSPLIB
        defines, or ``float`` (unrounded).
    options
        Those of every vehicle problem.

    Raises
    ------
    ConfigError
        A parameter is out of its range.
    """

    name = "cvrp"
    types = ("CVRP",)
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
    engine = Family(name="cvrp", routes_disjoint=True, moving_window=many_on_short_routes)
    operators: Operators = {"append": append, "insertion": insertion, "construct": construct}
    suited = {
        "solve": {
            "problem.baseline": "savings",
            "problem.repairs_per_customer": 500,
            "budget.upper_train": 32,
            "budget.selection": 60,
        }
    }

    from_table = staticmethod(instance.from_vrplib)
    dumps = staticmethod(instance.dumps)
    generate = staticmethod(instance.generate)

    @checked("")
    def __init__(
        self,
        convention: Annotated[str, Option(CONVENTION, choices=_CONVENTIONS)] = "rounded",
        **options: Annotated[Any, VehicleProblem],
    ) -> None:
        super().__init__(**options)
        self.convention = convention

    def read(self, path: Path) -> CVRPInstance:
        return instance.read(path, _CONVENTIONS[self.convention])

    @property
    def contracts(self) -> ModuleType:
        from specahd.problems.cvrp import contracts

        return contracts

    @staticmethod
    def check(instance: CVRPInstance, solution: Solution) -> tuple[Violation, ...]:
        """Return every violation of coverage and capacity; empty means feasible."""
        return check_routes(solution, instance.demands, instance.capacity, instance.labels)

    @staticmethod
    def cost(instance: CVRPInstance, solution: Solution) -> float:
        """Return the total length of the routes in the instance's convention."""
        return routes_length(solution, instance.coords, instance.convention, instance.matrix)
