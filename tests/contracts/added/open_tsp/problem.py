"""The shortest path through all nodes: what it shares with the TSP comes from there."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from specahd.problems.tsp import instance
from specahd.problems.tsp.instance import Solution, TSPInstance
from specahd.problems.tsp.problem import AppendNodes, TourSegments, describe_run
from specahd.routing.base import POOLS, PublicSet, Violation
from specahd.routing.formats import sol
from specahd.routing.generation import Slot, instances
from specahd.routing.geometry import distances, path_length
from specahd.routing.kernels.descriptors import SEGMENT_NAMES
from specahd.routing.kernels.distances import fill_distance_matrix
from specahd.routing.problem import Baselines, Operators, RoutingProblem


def _append(problem: "OpenTSP") -> AppendNodes:
    from open_tsp.contracts import APPEND, PATH_SEGMENTS

    segments = TourSegments(PATH_SEGMENTS, problem.max_regions, problem.max_size)
    return AppendNodes(segments, APPEND)


def nearest(instance: TSPInstance) -> Solution:
    """Go from node 0 to the nearest unvisited node until none is left."""
    path, left = [0], list(range(1, instance.size))
    while left:
        away = distances(instance.coords[path[-1]], instance.coords[left], instance.convention)
        path.append(left.pop(int(np.argmin(away))))
    return tuple(path)


def numbered(instance: TSPInstance) -> Solution:
    """Visit the nodes in the order of their numbers."""
    return tuple(range(instance.size))


def scattered(rng: np.random.Generator, slot: Slot) -> TSPInstance:
    """Draw 12 nodes or a few more anywhere in a square."""
    points = rng.integers(0, 1001, size=(12 + slot.number, 2))
    return TSPInstance(slot.name("uniform", len(points)), points.astype(np.float64))


class OpenTSP(RoutingProblem[TSPInstance, Solution]):
    """A path that visits every node once and does not return."""

    name = "open_tsp"
    suffix = ".tsp"
    public_sets: Sequence[PublicSet] = ()
    baselines: ClassVar[Baselines] = {"nearest": nearest, "numbered": numbered}
    references: Sequence[str] = ("nearest",)
    operators: ClassVar[Operators] = {"append": _append}
    smallest_region = 4
    descriptor_names = SEGMENT_NAMES

    read = staticmethod(instance.read)
    dumps = staticmethod(instance.dumps)
    describe = staticmethod(describe_run)

    def __init__(
        self,
        baseline: str = "nearest",
        repair: str = "append",
        max_regions: int = 3,
        max_size: int = 12,
    ) -> None:
        super().__init__(baseline, repair, max_regions, max_size)

    def read_solution(
        self, path: Path, instance: TSPInstance | None = None
    ) -> tuple[Solution, float | None]:
        [route], cost = sol.read(path)
        return tuple(node - 1 for node in route), cost

    def solution_files(self, name: str, solution: Solution, cost: float) -> Mapping[str, str]:
        return {".sol": sol.dumps([tuple(node + 1 for node in solution)], cost)}

    def generate(self, pool: str, seed: int) -> Iterator[TSPInstance]:
        serials = {name: range(10 * index, 10 * index + 6) for index, name in enumerate(POOLS)}
        return instances(self.name, pool, seed, serials, scattered)

    def baseline(self, instance: TSPInstance, name: str | None = None) -> Solution:
        self.expect_baseline(name or self.baseline_name)
        path: Solution = self.baselines[name or self.baseline_name](instance)
        return path

    def cost(self, instance: TSPInstance, solution: Solution) -> float:
        return path_length(instance.coords, np.array(solution, np.int64), instance.convention)

    def check(self, instance: TSPInstance, solution: Solution) -> tuple[Violation, ...]:
        if sorted(solution) == list(range(instance.size)):
            return ()
        return (Violation("coverage", "The path does not visit every node once."),)

    def layout(
        self, instance: TSPInstance
    ) -> Mapping[str, tuple[type[np.generic], tuple[int, ...]]]:
        shape = (instance.size, instance.size)
        return {"coords": (np.float64, (instance.size, 2)), "distance_matrix": (np.float64, shape)}

    def fill(self, instance: TSPInstance, arrays: Mapping[str, Any]) -> None:
        arrays["coords"][:] = instance.coords
        fill_distance_matrix(instance.coords, instance.convention, arrays["distance_matrix"])
