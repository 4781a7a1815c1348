"""The TSP as one class, which combines the modules of this folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specahd.core.display import visible
from specahd.core.errors import ConfigError
from specahd.engine.insertion import Insertion, insertion_of
from specahd.problems.tsp import baseline, checker, descriptor, generator, instance, regions, tours
from specahd.problems.tsp.append import AppendNodes, TourSegments, tour_from_zero
from specahd.problems.tsp.family import FAMILY
from specahd.problems.tsp.instance import Solution, TSPInstance
from specahd.routing import distances
from specahd.routing.base import FloatArray, IntArray, PublicSet, Region
from specahd.routing.formats import tsplib
from specahd.routing.groups import is_vector
from specahd.routing.kernels.distances import fill_block
from specahd.routing.problem import Baselines, Operators, RoutingProblem


def _append(problem: "TSP") -> AppendNodes:
    # Only a search needs the contracts; reading and checking do not.
    from specahd.problems.tsp.contracts import APPEND, TOUR_SEGMENTS

    segments = TourSegments(TOUR_SEGMENTS, problem.max_regions, problem.max_size)
    return AppendNodes(segments, APPEND)


def _construct(problem: "TSP") -> AppendNodes:
    from specahd.problems.tsp.contracts import CONSTRUCT
    from specahd.routing.whole_instance import WholeInstance

    return AppendNodes(WholeInstance(tour_from_zero), CONSTRUCT)


def _insertion(problem: "TSP") -> Insertion:
    from specahd.problems.tsp.contracts import INSERTION, ORDERED_GROUPS

    return insertion_of(problem, ORDERED_GROUPS, INSERTION)


_RUNS = descriptor.NAMES, descriptor.describe
_GROUPS = descriptor.GROUP_NAMES, descriptor.describe_group
_DESCRIPTORS = {"append": _RUNS, "insertion": _GROUPS, "construct": _RUNS}
"""Names and function of the descriptor Φ, by the repair operator whose regions it describes."""


class TSP(RoutingProblem[TSPInstance, Solution]):
    """The symmetric travelling salesman problem.

    Parameters
    ----------
    baseline
        The baseline solver in force, ``nearest``, ``greedy``, ``space_filling`` or ``two_opt``.
    repair
        The repair operator in force, ``append``, ``insertion`` or ``construct``.
    max_regions
        Maximum number of runs, or groups, kept from one proposal, at least 1.
    max_size
        Maximum number of nodes in each, including a run's two anchors, at least 4.
    repairs_per_customer
        Number of insertions for each node in a search of ``insertion``, at least 1.
    final_repairs_per_customer
        The same number for searches with a checkpoint or a candidate for one; None: the same.

    Raises
    ------
    ConfigError
        A parameter is out of its range.
    """

    name = "tsp"
    suffix = ".tsp"
    public_sets: Sequence[PublicSet] = (PublicSet("tsplib"),)
    baselines: Baselines = {
        "nearest": baseline.nearest,
        "greedy": baseline.greedy,
        "space_filling": baseline.space_filling,
        "two_opt": baseline.two_opt,
    }
    references: Sequence[str] = ("nearest", "greedy", "space_filling")
    construction = "two_opt"
    engine = FAMILY
    endings: Sequence[str] = (".tour", ".sol")
    operators: Operators = {"append": _append, "insertion": _insertion, "construct": _construct}
    smallest_region = regions.SMALLEST

    read = staticmethod(instance.read)
    from_table = staticmethod(instance.from_vrplib)
    dumps = staticmethod(instance.dumps)
    generate = staticmethod(generator.generate)
    cost = staticmethod(checker.cost)
    check = staticmethod(checker.check)

    def __init__(
        self,
        baseline: str = "nearest",
        repair: str = "append",
        max_regions: int = 3,
        max_size: int = 50,
        repairs_per_customer: int = 50,
        final_repairs_per_customer: int | None = None,
    ) -> None:
        searches = repairs_per_customer, final_repairs_per_customer
        super().__init__(baseline, repair, max_regions, max_size, *searches)
        self.descriptor_names, self._describe = _DESCRIPTORS[repair]

    def read_solution(
        self, path: Path, instance: TSPInstance | None = None
    ) -> tuple[Solution, float | None]:
        return tours.read(path)

    def solution_of(self, routes: Sequence[Sequence[Any]]) -> Solution:
        if len(routes) != 1 or any(isinstance(stop, tuple) for stop in routes[0]):
            raise ConfigError(f"Expected one route of nodes for a tour, got {len(routes)} routes.")
        [tour] = routes
        return tuple(tour) if 0 in tour else (0, *tour)

    def solution_files(self, name: str, solution: Solution, cost: float) -> Mapping[str, str]:
        return {
            ".sol": tours.dumps(solution, cost),
            ".tour": tsplib.dumps_tour(solution, visible(name), f"length {cost:.10g}"),
        }

    def flat(self, instance: TSPInstance, solution: Solution) -> tuple[IntArray, ...]:
        if instance.fixed_edges:
            raise ConfigError(
                f"{instance.name} has fixed edges, which solving does not keep (docs/limits.md)."
            )
        return (np.array(tours.from_zero(solution), np.int64),)

    def unflat(self, instance: TSPInstance, arrays: Sequence[IntArray]) -> Solution | None:
        if len(arrays) != 1 or not is_vector(arrays[0]) or len(arrays[0]) >= instance.size:
            return None
        return (0, *arrays[0].tolist())

    def baseline(self, instance: TSPInstance, name: str | None = None) -> Solution:
        name = self.baseline_name if name is None else name
        self.expect_baseline(name)
        return baseline.with_fixed_edges(instance, self.baselines[name](instance))

    def trivial_solution(self, instance: TSPInstance) -> Solution:
        return tuple(range(instance.size))

    def describe(self, instance: TSPInstance, solution: Solution, region: Region) -> FloatArray:
        return self._describe(instance, solution, region)

    def layout(
        self, instance: TSPInstance
    ) -> Mapping[str, tuple[type[np.generic], tuple[int, ...]]]:
        return {
            "coords": (np.float64, (instance.size, 2)),
            **distances.layout(instance.size, instance.matrix),
        }

    def fill(self, instance: TSPInstance, arrays: Mapping[str, NDArray[Any]]) -> None:
        arrays["coords"][:] = instance.coords
        fill_block(arrays, instance.coords, instance.convention, instance.matrix)
