"""The TSP as the search sees it; every method delegates to a room of this folder."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specahd.core.contract import Contract
from specahd.core.errors import ConfigError
from specahd.core.program import Level
from specahd.problems.tsp import baseline, checker, descriptor, generator, regions, tours
from specahd.problems.tsp.instance import Solution, TSPInstance, dumps, read
from specahd.routing.base import FloatArray, IntArray, PublicSet, Region, Validation, Violation
from specahd.routing.formats import tsplib
from specahd.routing.kernels.distances import fill_distance_matrix

_BASELINES = {
    "nearest": baseline.nearest,
    "greedy": baseline.greedy,
    "space_filling": baseline.space_filling,
}


class TSP:
    """The symmetric travelling salesman problem.

    Parameters
    ----------
    baseline
        The baseline solver in force, ``nearest``, ``greedy`` or ``space_filling``.
    max_regions
        Most runs kept from one proposal, at least 1.
    max_size
        Most nodes in a run, its two anchors included, at least 4.

    Raises
    ------
    ConfigError
        A parameter is out of its range.
    """

    name: str = "tsp"
    suffix: str = ".tsp"
    public_sets: Sequence[PublicSet] = (PublicSet("tsplib"),)
    conventions: Sequence[str] = ()
    baselines: Sequence[str] = tuple(_BASELINES)
    references: Sequence[str] = tuple(_BASELINES)
    descriptor_names: tuple[str, ...] = descriptor.NAMES

    def __init__(self, baseline: str = "nearest", max_regions: int = 3, max_size: int = 50) -> None:
        if baseline not in _BASELINES:
            raise ConfigError(f"Expected a baseline in {', '.join(_BASELINES)}, got {baseline!r}.")
        if max_regions < 1:
            raise ConfigError(f"Expected max_regions of at least 1, got {max_regions}.")
        if max_size < regions.SMALLEST:
            raise ConfigError(
                f"Expected max_size of at least {regions.SMALLEST}, anchors included, "
                f"got {max_size}."
            )
        self.baseline_name = baseline
        self.max_regions = max_regions
        self.max_size = max_size

    def contract(self, level: Level) -> Contract:
        # Only a search needs the contracts; reading and checking do not.
        from specahd.problems.tsp.contracts import CONTRACTS

        return CONTRACTS[level]

    def read(self, path: Path) -> TSPInstance:
        return read(path)

    def dumps(self, instance: TSPInstance) -> str:
        return dumps(instance)

    def read_solution(self, path: Path) -> tuple[Solution, float | None]:
        return tours.read(path)

    def solution_files(self, name: str, solution: Solution, cost: float) -> Mapping[str, str]:
        return {
            ".sol": tours.dumps(solution, cost),
            ".tour": tsplib.dumps_tour(solution, name, f"length {cost:.10g}"),
        }

    def generate(self, pool: str, seed: int) -> Iterator[TSPInstance]:
        return generator.generate(pool, seed)

    def baseline(self, instance: TSPInstance, name: str | None = None) -> Solution:
        name = self.baseline_name if name is None else name
        if name not in _BASELINES:
            raise ConfigError(f"Expected a baseline in {', '.join(_BASELINES)}, got {name!r}.")
        return baseline.with_fixed_edges(instance, _BASELINES[name](instance))

    def cost(self, instance: TSPInstance, solution: Solution) -> float:
        return checker.cost(instance, solution)

    def check(self, instance: TSPInstance, solution: Solution) -> tuple[Violation, ...]:
        return checker.check(instance, solution)

    def validate(
        self, instance: TSPInstance, solution: Solution, output: Sequence[IntArray]
    ) -> Validation:
        return regions.validate(solution, output, self.max_regions, self.max_size)

    def describe(self, instance: TSPInstance, solution: Solution, region: Region) -> FloatArray:
        return descriptor.describe(instance, solution, region)

    def merge(
        self, instance: TSPInstance, solution: Solution, region: Region, output: Sequence[IntArray]
    ) -> Solution | None:
        return regions.merge(solution, region, output)

    def layout(
        self, instance: TSPInstance
    ) -> Mapping[str, tuple[type[np.generic], tuple[int, ...]]]:
        return {
            "coords": (np.float64, (instance.size, 2)),
            "distance_matrix": (np.float64, (instance.size, instance.size)),
        }

    def fill(self, instance: TSPInstance, arrays: Mapping[str, NDArray[Any]]) -> None:
        arrays["coords"][:] = instance.coords
        if instance.matrix is None:
            fill_distance_matrix(instance.coords, instance.convention, arrays["distance_matrix"])
        else:
            arrays["distance_matrix"][:] = instance.matrix

    def propose_inputs(self, instance: TSPInstance, solution: Solution) -> tuple[IntArray, ...]:
        budget = np.array([self.max_regions, self.max_size], np.int64)
        return np.array(solution, np.int64), budget

    def rebuild_inputs(
        self, instance: TSPInstance, solution: Solution, region: Region
    ) -> tuple[IntArray, ...]:
        return (np.array(regions.local_nodes(region), np.int64),)
