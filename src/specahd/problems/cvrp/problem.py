"""The CVRP as the search sees it; every method delegates to a room of this folder."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specahd.core.contract import Contract
from specahd.core.errors import ConfigError
from specahd.core.program import Level
from specahd.problems.cvrp import baseline, checker, generator
from specahd.problems.cvrp.instance import CVRPInstance, dumps, read
from specahd.routing.base import FloatArray, IntArray, PublicSet, Region, Validation, Violation
from specahd.routing.formats import sol
from specahd.routing.geometry import Convention
from specahd.routing.groups import concatenated, validate_groups
from specahd.routing.vehicles import block, descriptor, routes
from specahd.routing.vehicles.routes import Solution

_BASELINES = ("nearest", "savings", "pyvrp")
_CONVENTIONS = {"rounded": Convention.EUC_2D, "float": Convention.EXACT_2D}


class CVRP:
    """The capacitated vehicle routing problem with any number of equal vehicles.

    Parameters
    ----------
    baseline
        The baseline solver in force, ``nearest``, ``savings`` or ``pyvrp``.
    max_regions
        Most regions kept from one proposal, at least 1.
    max_size
        Most customers in a region, at least 2.
    solver_iterations
        Iterations of the baseline ``pyvrp``, at least 1.
    convention
        How files whose EDGE_WEIGHT_TYPE is EUC_2D measure distances: ``rounded`` to
        the nearest integer, as TSPLIB says, or ``float`` (unrounded).

    Raises
    ------
    ConfigError
        A parameter is out of its range.
    """

    name: str = "cvrp"
    suffix: str = ".vrp"
    public_sets: Sequence[PublicSet] = (
        PublicSet("cvrp_small"),
        PublicSet("cvrp_belgium"),
        PublicSet("cvrp_x"),
        PublicSet("cvrp_xl"),
    )
    conventions: Sequence[str] = tuple(_CONVENTIONS)
    baselines: Sequence[str] = _BASELINES
    references: Sequence[str] = ("nearest", "savings")
    descriptor_names: tuple[str, ...] = descriptor.NAMES

    def __init__(
        self,
        baseline: str = "nearest",
        max_regions: int = 8,
        max_size: int = 50,
        solver_iterations: int = 200,
        convention: str = "rounded",
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
        self.baseline_name = baseline
        self.max_regions = max_regions
        self.max_size = max_size
        self.solver_iterations = solver_iterations
        self.convention = convention

    def contract(self, level: Level) -> Contract:
        # Only a search needs the contracts; reading and checking do not.
        from specahd.problems.cvrp.contracts import CONTRACTS

        return CONTRACTS[level]

    def read(self, path: Path) -> CVRPInstance:
        return read(path, _CONVENTIONS[self.convention])

    def dumps(self, instance: CVRPInstance) -> str:
        return dumps(instance)

    def read_solution(self, path: Path) -> tuple[Solution, float | None]:
        return sol.read(path)

    def solution_files(self, name: str, solution: Solution, cost: float) -> Mapping[str, str]:
        return {".sol": sol.dumps(solution, cost)}

    def generate(self, pool: str, seed: int) -> Iterator[CVRPInstance]:
        return generator.generate(pool, seed)

    def baseline(self, instance: CVRPInstance, name: str | None = None) -> Solution:
        name = self.baseline_name if name is None else name
        solvers: dict[str, Callable[[CVRPInstance], Solution]] = {
            "nearest": baseline.nearest,
            "savings": baseline.savings,
            "pyvrp": partial(baseline.pyvrp, iterations=self.solver_iterations),
        }
        if name not in solvers:
            raise ConfigError(f"Expected a baseline in {', '.join(solvers)}, got {name!r}.")
        return solvers[name](instance)

    def cost(self, instance: CVRPInstance, solution: Solution) -> float:
        return checker.cost(instance, solution)

    def check(self, instance: CVRPInstance, solution: Solution) -> tuple[Violation, ...]:
        return checker.check(instance, solution)

    def validate(
        self, instance: CVRPInstance, solution: Solution, output: Sequence[IntArray]
    ) -> Validation:
        return validate_groups(output, instance.size, self.max_regions, self.max_size)

    def describe(self, instance: CVRPInstance, solution: Solution, region: Region) -> FloatArray:
        return descriptor.describe(
            instance.coords,
            instance.demands,
            instance.capacity,
            instance.spread,
            solution,
            region,
        )

    def merge(
        self, instance: CVRPInstance, solution: Solution, region: Region, output: Sequence[IntArray]
    ) -> Solution | None:
        return routes.merge(solution, region, output)

    def layout(
        self, instance: CVRPInstance
    ) -> Mapping[str, tuple[type[np.generic], tuple[int, ...]]]:
        return block.layout(instance.size + 1)

    def fill(self, instance: CVRPInstance, arrays: Mapping[str, NDArray[Any]]) -> None:
        block.fill(
            arrays,
            instance.coords,
            instance.demands,
            instance.capacity,
            instance.convention,
            instance.matrix,
        )

    def propose_inputs(self, instance: CVRPInstance, solution: Solution) -> tuple[IntArray, ...]:
        budget = np.array([self.max_regions, self.max_size], np.int64)
        return (*concatenated(solution), budget)

    def rebuild_inputs(
        self, instance: CVRPInstance, solution: Solution, region: Region
    ) -> tuple[IntArray, ...]:
        return (np.array(routes.local_customers(region), np.int64),)
