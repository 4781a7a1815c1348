"""The VRPTW as the search sees it; every method delegates to a room of this folder."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specahd.core.contract import Contract
from specahd.core.errors import ConfigError
from specahd.core.program import Level
from specahd.problems.vrptw import baseline, checker, descriptor, generator
from specahd.problems.vrptw.instance import VRPTWInstance, dumps, read
from specahd.routing.base import FloatArray, IntArray, PublicSet, Region, Validation, Violation
from specahd.routing.formats import sol
from specahd.routing.geometry import Convention
from specahd.routing.groups import concatenated, validate_groups
from specahd.routing.vehicles import block, routes
from specahd.routing.vehicles.routes import Solution

_BASELINES = ("nearest", "insertion", "pyvrp")
_CONVENTIONS = {"dimacs": Convention.DIMACS, "float": Convention.EXACT_2D}


class VRPTW:
    """The vehicle routing problem with time windows and any number of equal vehicles.

    Parameters
    ----------
    baseline
        The baseline solver in force, ``nearest``, ``insertion`` or ``pyvrp``.
    max_regions
        Most regions kept from one proposal, at least 1.
    max_size
        Most customers in a region, at least 2.
    solver_iterations
        Iterations of the baseline ``pyvrp``, at least 1.
    convention
        How files in Solomon's format measure distances, and those of LKH's collection
        whose EDGE_WEIGHT_TYPE is EUC_2D: ``dimacs`` (rounded down to tenths) or
        ``float`` (unrounded).
    customers
        How many customers of Solomon's format make the instance, at least 1; None for all.

    Raises
    ------
    ConfigError
        A parameter is out of its range.
    """

    name: str = "vrptw"
    suffix: str = ".vrp"
    public_sets: Sequence[PublicSet] = (
        PublicSet("solomon", convention="dimacs"),
        PublicSet("homberger", convention="dimacs"),
    )
    conventions: Sequence[str] = tuple(_CONVENTIONS)
    baselines: Sequence[str] = _BASELINES
    references: Sequence[str] = ("nearest", "insertion")
    descriptor_names: tuple[str, ...] = descriptor.NAMES

    def __init__(
        self,
        baseline: str = "nearest",
        max_regions: int = 8,
        max_size: int = 50,
        solver_iterations: int = 200,
        convention: str = "dimacs",
        customers: int | None = None,
    ) -> None:
        if baseline not in _BASELINES:
            raise ConfigError(f"Expected a baseline in {', '.join(_BASELINES)}, got {baseline!r}.")
        if max_regions < 1:
            raise ConfigError(f"Expected max_regions of at least 1, got {max_regions}.")
        if max_size < 2:
            raise ConfigError(f"Expected max_size of at least 2, got {max_size}.")
        if solver_iterations < 1:
            raise ConfigError(f"Expected solver_iterations of at least 1, got {solver_iterations}.")
        if convention not in _CONVENTIONS:
            raise ConfigError(
                f"Expected a convention in {', '.join(_CONVENTIONS)}, got {convention!r}."
            )
        if customers is not None and customers < 1:
            raise ConfigError(f"Expected customers of at least 1, got {customers}.")
        self.baseline_name = baseline
        self.max_regions = max_regions
        self.max_size = max_size
        self.solver_iterations = solver_iterations
        self.convention = convention
        self.customers = customers

    def contract(self, level: Level) -> Contract:
        # Only a search needs the contracts; reading and checking do not.
        from specahd.problems.vrptw.contracts import CONTRACTS

        return CONTRACTS[level]

    def read(self, path: Path) -> VRPTWInstance:
        return read(path, _CONVENTIONS[self.convention], self.customers)

    def dumps(self, instance: VRPTWInstance) -> str:
        return dumps(instance)

    def read_solution(self, path: Path) -> tuple[Solution, float | None]:
        return sol.read(path)

    def solution_files(self, name: str, solution: Solution, cost: float) -> Mapping[str, str]:
        return {".sol": sol.dumps(solution, cost)}

    def generate(self, pool: str, seed: int) -> Iterator[VRPTWInstance]:
        return generator.generate(pool, seed)

    def baseline(self, instance: VRPTWInstance, name: str | None = None) -> Solution:
        name = self.baseline_name if name is None else name
        solvers: dict[str, Callable[[VRPTWInstance], Solution]] = {
            "nearest": baseline.nearest,
            "insertion": baseline.insertion,
            "pyvrp": partial(baseline.pyvrp, iterations=self.solver_iterations),
        }
        if name not in solvers:
            raise ConfigError(f"Expected a baseline in {', '.join(solvers)}, got {name!r}.")
        return solvers[name](instance)

    def cost(self, instance: VRPTWInstance, solution: Solution) -> float:
        return checker.cost(instance, solution)

    def check(self, instance: VRPTWInstance, solution: Solution) -> tuple[Violation, ...]:
        return checker.check(instance, solution)

    def validate(
        self, instance: VRPTWInstance, solution: Solution, output: Sequence[IntArray]
    ) -> Validation:
        return validate_groups(output, instance.size, self.max_regions, self.max_size)

    def describe(self, instance: VRPTWInstance, solution: Solution, region: Region) -> FloatArray:
        return descriptor.describe(instance, solution, region)

    def merge(
        self,
        instance: VRPTWInstance,
        solution: Solution,
        region: Region,
        output: Sequence[IntArray],
    ) -> Solution | None:
        return routes.merge(solution, region, output)

    def layout(
        self, instance: VRPTWInstance
    ) -> Mapping[str, tuple[type[np.generic], tuple[int, ...]]]:
        nodes = instance.size + 1
        times = dict.fromkeys(("ready_times", "due_times", "service_times"), (np.float64, (nodes,)))
        return {**block.layout(nodes), **times}

    def fill(self, instance: VRPTWInstance, arrays: Mapping[str, NDArray[Any]]) -> None:
        block.fill(
            arrays,
            instance.coords,
            instance.demands,
            instance.capacity,
            instance.measure,
            instance.matrix,
        )
        arrays["ready_times"][:] = instance.windows.ready
        arrays["due_times"][:] = instance.windows.due
        arrays["service_times"][:] = instance.windows.service

    def propose_inputs(self, instance: VRPTWInstance, solution: Solution) -> tuple[IntArray, ...]:
        budget = np.array([self.max_regions, self.max_size], np.int64)
        return (*concatenated(solution), budget)

    def rebuild_inputs(
        self, instance: VRPTWInstance, solution: Solution, region: Region
    ) -> tuple[IntArray, ...]:
        return (np.array(routes.local_customers(region), np.int64),)
