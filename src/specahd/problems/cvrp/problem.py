"""The CVRP as the search sees it; every method delegates to a room of this folder."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specahd.core.contract import Contract
from specahd.core.errors import ConfigError
from specahd.core.program import Level
from specahd.problems.cvrp import baseline, checker, generator, regions
from specahd.problems.cvrp.instance import CVRPInstance, Solution, dumps, read
from specahd.routing.base import FloatArray, IntArray, Region, Validation, Violation
from specahd.routing.formats import sol
from specahd.routing.groups import concatenated, validate_groups
from specahd.routing.kernels.distances import fill_distance_matrix

_BASELINES = {"nearest": baseline.nearest, "savings": baseline.savings}


class CVRP:
    """The capacitated vehicle routing problem with any number of equal vehicles.

    Parameters
    ----------
    baseline
        The baseline solver in force, ``nearest`` or ``savings``.
    max_regions
        Most regions kept from one proposal, at least 1.
    max_size
        Most customers in a region, at least 2.

    Raises
    ------
    ConfigError
        A parameter is out of its range.
    """

    name: str = "cvrp"
    suffix: str = ".vrp"
    baselines: Sequence[str] = tuple(_BASELINES)
    descriptor_names: tuple[str, ...] = regions.DESCRIPTOR_NAMES

    def __init__(self, baseline: str = "nearest", max_regions: int = 8, max_size: int = 50) -> None:
        if baseline not in _BASELINES:
            raise ConfigError(f"Expected a baseline in {', '.join(_BASELINES)}, got {baseline!r}.")
        if max_regions < 1:
            raise ConfigError(f"Expected max_regions of at least 1, got {max_regions}.")
        if max_size < 2:
            raise ConfigError(f"Expected max_size of at least 2, got {max_size}.")
        self.baseline_name = baseline
        self.max_regions = max_regions
        self.max_size = max_size

    def contract(self, level: Level) -> Contract:
        # Only a search needs the contracts; reading and checking do not.
        from specahd.problems.cvrp.contracts import CONTRACTS

        return CONTRACTS[level]

    def read(self, path: Path) -> CVRPInstance:
        return read(path)

    def dumps(self, instance: CVRPInstance) -> str:
        return dumps(instance)

    def read_solution(self, path: Path) -> tuple[Solution, float | None]:
        return sol.read(path)

    def dumps_solution(self, solution: Solution, cost: float) -> str:
        return sol.dumps(solution, cost)

    def generate(self, pool: str, seed: int) -> Iterator[CVRPInstance]:
        return generator.generate(pool, seed)

    def baseline(self, instance: CVRPInstance, name: str | None = None) -> Solution:
        name = self.baseline_name if name is None else name
        if name not in _BASELINES:
            raise ConfigError(f"Expected a baseline in {', '.join(_BASELINES)}, got {name!r}.")
        return _BASELINES[name](instance)

    def cost(self, instance: CVRPInstance, solution: Solution) -> float:
        return checker.cost(instance, solution)

    def check(self, instance: CVRPInstance, solution: Solution) -> tuple[Violation, ...]:
        return checker.check(instance, solution)

    def validate(
        self, instance: CVRPInstance, solution: Solution, output: Sequence[IntArray]
    ) -> Validation:
        return validate_groups(output, instance.size, self.max_regions, self.max_size)

    def describe(self, instance: CVRPInstance, solution: Solution, region: Region) -> FloatArray:
        return regions.describe(instance, solution, region)

    def merge(
        self, instance: CVRPInstance, solution: Solution, region: Region, output: Sequence[IntArray]
    ) -> Solution | None:
        return regions.merge(solution, region, output)

    def layout(
        self, instance: CVRPInstance
    ) -> Mapping[str, tuple[type[np.generic], tuple[int, ...]]]:
        nodes = instance.size + 1
        return {
            "coords": (np.float64, (nodes, 2)),
            "demands": (np.int64, (nodes,)),
            "capacity": (np.int64, (1,)),
            "distance_matrix": (np.float64, (nodes, nodes)),
        }

    def fill(self, instance: CVRPInstance, arrays: Mapping[str, NDArray[Any]]) -> None:
        arrays["coords"][:] = instance.coords
        arrays["demands"][:] = instance.demands
        arrays["capacity"][:] = instance.capacity
        if instance.matrix is None:
            fill_distance_matrix(instance.coords, instance.convention, arrays["distance_matrix"])
        else:
            arrays["distance_matrix"][:] = instance.matrix

    def propose_inputs(self, instance: CVRPInstance, solution: Solution) -> tuple[IntArray, ...]:
        budget = np.array([self.max_regions, self.max_size], np.int64)
        return (*concatenated(solution), budget)

    def rebuild_inputs(
        self, instance: CVRPInstance, solution: Solution, region: Region
    ) -> tuple[IntArray, ...]:
        return (np.array(regions.local_customers(region), np.int64),)
