"""The common base of CVRP, VRPTW and SDVRP."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from specahd.core.errors import ConfigError
from specahd.core.ranges import check_range
from specahd.routing import distances
from specahd.routing.base import I, S
from specahd.routing.formats import sol
from specahd.routing.kernels.distances import fill_block
from specahd.routing.problem import RoutingProblem
from specahd.routing.vehicles.joined_routes import join_routes


class VehicleProblem(RoutingProblem[I, S]):
    """A problem of one depot and any number of equal vehicles.

    Parameters
    ----------
    baseline
        The baseline solver in use, one of ``baselines``; None for the first of them.
    repair
        The repair operator in use, one of ``operators``.
    max_regions
        Most regions kept from one proposal, at least 1.
    max_size
        Most customers in a region, at least 2.
    repairs_per_customer
        Insertions per customer in a search with the operator ``insertion``, at least 1.
    final_repairs_per_customer
        The same for searches with a checkpoint or a candidate for one; None: as many.
    solver_iterations
        Iterations of PyVRP in the baseline that runs it, at least 1.

    Raises
    ------
    ConfigError
        A parameter is out of its range.
    """

    suffix: str = ".vrp"
    iterated: ClassVar[str]
    """The baseline that runs PyVRP: the one that takes ``solver_iterations``."""

    def __init__(
        self,
        baseline: str | None = None,
        repair: str = "append",
        max_regions: int = 8,
        max_size: int = 50,
        repairs_per_customer: int = 50,
        final_repairs_per_customer: int | None = None,
        solver_iterations: int = 200,
    ) -> None:
        baseline = baseline or next(iter(self.baselines))
        searches = repairs_per_customer, final_repairs_per_customer
        super().__init__(baseline, repair, max_regions, max_size, *searches)
        check_range("solver_iterations", solver_iterations, 1)
        self.solver_iterations = solver_iterations

    def baseline(self, instance: I, name: str | None = None) -> S:
        name = self.baseline_name if name is None else name
        self.expect_baseline(name)
        options = {"iterations": self.solver_iterations} if name == self.iterated else {}
        solution: S = self.baselines[name](instance, **options)
        return solution

    def trivial_solution(self, instance: Any) -> Any:
        # One vehicle per customer.
        return tuple((customer,) for customer in range(1, instance.size + 1))

    def routes(self, solution: Any) -> Sequence[Sequence[int]]:
        routes: Sequence[Sequence[int]] = solution
        return routes

    def fewer_vehicles(self, instance: Any, solution: Any, most: float) -> Any:
        problem: Any = self  # a subclass adds cost and check

        def admit(trial: Any) -> bool:
            return problem.cost(instance, trial) <= most and not problem.check(instance, trial)

        timed = getattr(instance, "windows", None) is not None
        return join_routes(instance, solution, admit, turn=not timed)

    def read_solution(self, path: Path, instance: Any | None = None) -> tuple[Any, float | None]:
        return sol.read(path, None if instance is None else instance.demands)

    def solution_of(self, routes: Sequence[Sequence[Any]]) -> Any:
        if any(isinstance(stop, tuple) for route in routes for stop in route):
            raise ConfigError(
                "Expected stops without quantities: only problem=sdvrp splits deliveries."
            )
        return tuple(map(tuple, routes))

    def solution_files(self, name: str, solution: Any, cost: float) -> Mapping[str, str]:
        return {".sol": sol.dumps(solution, cost)}

    def layout(self, instance: Any) -> Mapping[str, tuple[type[np.generic], tuple[int, ...]]]:
        nodes = instance.size + 1
        return {
            "coords": (np.float64, (nodes, 2)),
            "demands": (np.int64, (nodes,)),
            "capacity": (np.int64, (1,)),
            **distances.layout(nodes, instance.matrix),
            **{name: (np.float64, column.shape) for name, column in instance.columns.items()},
        }

    def fill(self, instance: Any, arrays: Mapping[str, NDArray[Any]]) -> None:
        arrays["coords"][:] = instance.coords
        arrays["demands"][:] = instance.demands
        arrays["capacity"][:] = instance.capacity
        fill_block(arrays, instance.coords, instance.measure, instance.matrix)
        for name, column in instance.columns.items():
            arrays[name][:] = column
