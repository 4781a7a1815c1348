"""The TSP as one class, with its regions (V), the operator ``append`` (R, M), F, C and Φ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from specahd.core.contract import Contract
from specahd.core.display import visible
from specahd.core.errors import ConfigError
from specahd.core.options import checked
from specahd.engine.family import Family
from specahd.engine.insertion import insertion
from specahd.engine.neighbours import PLACES, directed_neighbours
from specahd.engine.schedule import temperature_by_spread
from specahd.problems.tsp import baseline, instance
from specahd.problems.tsp.instance import Solution, TSPInstance, dumps_tour, from_zero, read_tour
from specahd.routing import distances
from specahd.routing.base import (
    ArrayLayout,
    FloatArray,
    IntArray,
    PublicSet,
    Region,
    RegionSelector,
    Rejection,
    Validation,
    Violation,
)
from specahd.routing.distances import DIRECTED
from specahd.routing.formats import tsplib
from specahd.routing.geometry import Convention, path_length
from specahd.routing.groups import is_consistent, is_vector, nested
from specahd.routing.kernels.descriptors import (
    SCATTERED_NAMES,
    SEGMENT_NAMES,
    describe_scattered,
    describe_segment,
)
from specahd.routing.kernels.distances import fill_block
from specahd.routing.operators import RegionOperator, WholeInstance
from specahd.routing.problem import Baselines, Operators, RoutingProblem

SMALLEST = 4
"""Minimum number of nodes of a run: two anchors and two cities whose order can change."""


def whole_tour(solution: Solution) -> Region:
    """Return the closed tour as one region: a run that ends where it begins.

    Its only anchor is the first node of ``solution``. No upper program can
    propose it; the repair operator ``construct`` rebuilds it.
    """
    return Region((*solution, solution[0]))


def validate(
    solution: Solution, output: Sequence[IntArray], max_regions: int, max_size: int
) -> Validation:
    """Apply the validator's rules (the paper, appendix B) to the answer of an upper program.

    Nodes that do not exist and repetitions are dropped from a proposal. It
    must then be a run of consecutive nodes of the tour, which may pass the end
    of ``solution``. A run against the direction of the tour is the same path
    between the same anchors: it is kept and reversed.

    Parameters
    ----------
    output
        ``[lengths, values]`` of the proposed runs; ``lengths == [-1]`` means
        that the program returned no list of sequences. Both come from
        untrusted code.
    max_regions, max_size
        Maximum number of regions kept, and of nodes in each, anchors included.

    Returns
    -------
    The kept runs in tour order, and a rejection for each other proposal: ``malformed``,
    ``empty`` (fewer than 2 nodes between the anchors), ``oversized``,
    ``not_contiguous``, ``overlapping`` (a mutable node is mutable or an anchor
    in an earlier run, or an anchor is mutable there) or ``over_budget``.
    """
    if not is_consistent(output):
        return Validation(1, (), (Rejection(0, "malformed"),))
    proposals = nested(*output)
    size = len(solution)
    position = {node: place for place, node in enumerate(solution)}
    regions: list[Region] = []
    rejections: list[Rejection] = []
    mutable: set[int] = set()
    anchors: set[int] = set()
    for index, proposal in enumerate(proposals):
        if len(regions) == max_regions:
            rejections.append(Rejection(index, "over_budget"))
            continue
        # A dict drops repetitions and keeps the order.
        nodes = [node for node in dict.fromkeys(proposal) if node in position]
        if len(nodes) < SMALLEST:
            rejections.append(Rejection(index, "empty"))
            continue
        if len(nodes) > max_size:
            rejections.append(Rejection(index, "oversized"))
            continue
        places = np.array([position[node] for node in nodes])
        steps = set((np.diff(places) % size).tolist())
        if steps == {size - 1}:
            nodes.reverse()
        elif steps != {1}:
            rejections.append(Rejection(index, "not_contiguous"))
            continue
        ends, interior = (nodes[0], nodes[-1]), nodes[1:-1]
        if not (
            mutable.isdisjoint(interior)
            and anchors.isdisjoint(interior)
            and mutable.isdisjoint(ends)
        ):
            rejections.append(Rejection(index, "overlapping"))
            continue
        regions.append(Region(tuple(nodes)))
        mutable.update(interior)
        anchors.update(ends)
    return Validation(len(proposals), tuple(regions), tuple(rejections))


def local_nodes(region: Region) -> list[int]:
    """Return the nodes of a run as its local problem numbers them.

    The anchors come first and last, and the nodes between them are sorted, so
    that the numbers do not reveal the incumbent's order.
    """
    start, *interior, end = region.nodes
    return [start, *sorted(interior), end]


def merge(solution: Solution, region: Region, output: Sequence[IntArray]) -> Solution | None:
    """Put a rebuilt path between the anchors of a run; None when ``output`` is malformed.

    This function does not check that every node is visited once.

    Parameters
    ----------
    output
        ``[path]`` from untrusted code: the local indices of the nodes between the
        anchors in their new order.
    """
    if len(output) != 1 or not is_vector(output[0]):
        return None
    [path] = output
    interior = len(region.nodes) - 2
    if path.size != interior:
        return None
    if path.min() < 1 or path.max() > interior:
        return None
    local = local_nodes(region)
    first = solution.index(region.nodes[0]) + 1
    merged = list(solution)
    for offset, index in enumerate(path.tolist()):
        merged[(first + offset) % len(merged)] = local[index]
    return tuple(merged)


SMALLEST_INSTANCE = 4
"""Minimum number of nodes for which there is more than one tour."""


@dataclass(frozen=True)
class TourSegments:
    """Regions that are runs of consecutive nodes of the tour.

    Parameters
    ----------
    max_regions, max_size
        Maximum number of runs kept from one proposal, and of nodes in each, anchors included.
    """

    contract: Contract
    max_regions: int
    max_size: int

    def inputs(self, instance: TSPInstance, solution: Solution) -> tuple[IntArray, ...]:
        """Return the nodes of the tour in order, and ``[max_regions, max_size]``."""
        budget = np.array([self.max_regions, self.max_size], np.int64)
        return np.array(solution, np.int64), budget

    def validate(
        self, instance: TSPInstance, solution: Solution, output: Sequence[IntArray]
    ) -> Validation:
        return validate(solution, output, self.max_regions, self.max_size)


def tour_from_zero(instance: TSPInstance, solution: Solution) -> Region | None:
    """Return the closed tour that starts and ends at node 0; None where all tours are equal."""
    if instance.size < SMALLEST_INSTANCE:
        return None
    start = solution.index(0)
    return whole_tour((*solution[start:], *solution[:start]))


@dataclass(frozen=True)
class AppendNodes(RegionOperator):
    """Operator that rebuilds the path between a run's anchors, one node after the other.

    Parameters
    ----------
    planned
        Whether a program may answer with several nodes in order.
    """

    selector: RegionSelector
    contract: Contract
    planned: bool = False

    def identity(self, region: Region) -> tuple[int, ...]:
        """Return the start anchor, the nodes between in ascending order, and the end anchor."""
        # The region may be invalid, because it may come from a file.
        nodes = region.nodes
        return (*nodes[:1], *sorted(nodes[1:-1]), *nodes[-1:])

    def inputs(
        self, instance: TSPInstance, solution: Solution, region: Region
    ) -> tuple[IntArray, ...]:
        """Return the start anchor, the nodes between ascending, the end anchor; ``[planned]``."""
        return np.array(local_nodes(region), np.int64), np.array([self.planned], np.int64)

    def merge(
        self, instance: TSPInstance, solution: Solution, region: Region, output: Sequence[IntArray]
    ) -> Solution | None:
        return merge(solution, region, output)


def _append(problem: "TSP") -> AppendNodes:
    contracts = problem.contracts
    segments = TourSegments(contracts.TOUR_SEGMENTS, problem.max_regions, problem.max_size)
    return AppendNodes(segments, problem.form(contracts.APPEND), problem.planned)


def _construct(problem: "TSP") -> AppendNodes:
    contract = problem.form(problem.contracts.CONSTRUCT)
    return AppendNodes(WholeInstance(tour_from_zero), contract, problem.planned)


def describe_run(instance: TSPInstance, solution: Solution, region: Region) -> FloatArray:
    """Return the raw coordinates of a run, one float per name of ``SEGMENT_NAMES``."""
    _, tour_edge = _tour(instance, solution)
    nodes = np.array(region.nodes, np.int64)
    descriptor: FloatArray = describe_segment(
        instance.coords, instance.centre, instance.spread, tour_edge, nodes
    )
    return descriptor


def _describe_group(instance: TSPInstance, solution: Solution, region: Region) -> FloatArray:
    """Return the raw coordinates of a group, one float per name of ``SCATTERED_NAMES``."""
    tour, tour_edge = _tour(instance, solution)
    nodes = np.array(region.nodes, np.int64)
    descriptor: FloatArray = describe_scattered(
        instance.coords, instance.centre, instance.spread, tour_edge, tour, nodes
    )
    return descriptor


def _tour(instance: TSPInstance, solution: Solution) -> tuple[IntArray, float]:
    """Return the nodes of a tour in its order, and its mean edge length."""
    walk = np.array([*solution, solution[0]], np.int64)
    length = path_length(instance.coords, walk, Convention.EXACT_2D)
    return walk[:-1], length / len(solution)


_RUNS = SEGMENT_NAMES, describe_run
_GROUPS = SCATTERED_NAMES, _describe_group
_DESCRIPTORS = {"append": _RUNS, "insertion": _GROUPS, "construct": _RUNS}
"""Names and function of the descriptor Φ, by the repair operator whose regions it describes."""


class TSP(RoutingProblem[TSPInstance, Solution]):
    """The travelling salesman problem; ways may differ from the ways back.

    The size of a region, which is a run of nodes, includes its two anchors.

    Parameters
    ----------
    options
        Those of every problem.

    Raises
    ------
    ConfigError
        A parameter is out of its range.
    """

    name = "tsp"
    types = ("TSP",)
    suffix = ".tsp"
    public_sets: Sequence[PublicSet] = (PublicSet("tsplib"),)
    baselines: Baselines = {
        "nearest": baseline.nearest,
        "greedy": baseline.greedy,
        "space_filling": baseline.space_filling,
        "two_opt": baseline.two_opt,
        "patching": baseline.patching,
    }
    references: Sequence[str] = ("nearest", "greedy", "space_filling")
    construction = "two_opt"
    engine = Family(
        name="tsp",
        # Measured on pr2392 and rl11849.
        start_temperature=lambda instance, near: 1.0,
        construction_temperature=lambda instance, near: (
            1.0 if instance.directed else temperature_by_spread(near)
        ),
        neighbours=lambda instance: 24,
        quadrant_neighbours=2,
        # In passes over a tour, computing a straight distance is faster than a lookup.
        looks_up=False,
        # benchmarks/notes/2026-11-29-asymmetric-tours.md, 2026-11-30-turned-runs-of-tours.md
        exchanges=lambda instance: 32 if instance.directed else 10,
    )
    endings: Sequence[str] = (".tour", ".sol")
    operators: Operators = {"append": _append, "insertion": insertion, "construct": _construct}
    smallest_region = SMALLEST
    suited_sizes = {"append": (16, 200), "insertion": (3, 50), "construct": (3, 50)}
    suited = {
        "solve": {
            "problem.baseline": "two_opt",
            "problem.repairs_per_customer": 500,
            "budget.upper_train": 32,
            "budget.selection": 60,
        },
    }

    read = staticmethod(instance.read)
    from_table = staticmethod(instance.from_vrplib)
    dumps = staticmethod(instance.dumps)
    generate = staticmethod(instance.generate)

    @checked("")
    def __init__(
        self,
        **options: Annotated[Any, RoutingProblem],
    ) -> None:
        super().__init__(**options)
        self.descriptor_names, self._describe = _DESCRIPTORS[self.repair]

    def read_solution(
        self, path: Path, instance: TSPInstance | None = None
    ) -> tuple[Solution, float | None]:
        return read_tour(path)

    def solution_of(self, routes: Sequence[Sequence[Any]]) -> Solution:
        if len(routes) != 1 or any(isinstance(stop, tuple) for stop in routes[0]):
            raise ConfigError(f"Expected one route of nodes for a tour, got {len(routes)} routes.")
        [tour] = routes
        return tuple(tour) if 0 in tour else (0, *tour)

    def solution_files(self, name: str, solution: Solution, cost: float) -> Mapping[str, str]:
        return {
            ".sol": dumps_tour(solution, cost),
            ".tour": tsplib.dumps_tour(solution, visible(name), f"length {cost:.10g}"),
        }

    def flat(self, instance: TSPInstance, solution: Solution) -> tuple[IntArray, ...]:
        if instance.fixed_edges:
            raise ConfigError(
                f"{instance.name} has fixed edges, which solving does not keep (docs/limits.md)."
            )
        return (np.array(from_zero(solution), np.int64),)

    def unflat(self, instance: TSPInstance, arrays: Sequence[IntArray]) -> Solution | None:
        if len(arrays) != 1 or not is_vector(arrays[0]) or len(arrays[0]) >= instance.size:
            return None
        return (0, *arrays[0].tolist())

    def baseline(self, instance: TSPInstance, name: str | None = None) -> Solution:
        name = self.baseline_name if name is None else name
        self.expect_baseline(name)
        return baseline.with_fixed_edges(instance, self.baselines[name](instance))

    def construction_of(self, instance: TSPInstance) -> str:
        return "patching" if instance.directed else self.construction

    def trivial_solution(self, instance: TSPInstance) -> Solution:
        return tuple(range(instance.size))

    def describe(self, instance: TSPInstance, solution: Solution, region: Region) -> FloatArray:
        return self._describe(instance, solution, region)

    def layout(self, instance: TSPInstance) -> ArrayLayout:
        found: ArrayLayout = {
            "coords": (np.float64, (instance.size, 2)),
            **distances.layout(instance.size, instance.matrix),
        }
        if instance.directed:
            places = min(PLACES, instance.size - 1)
            return {**found, DIRECTED: (np.int64, (2, instance.size, places))}
        return found

    def fill(self, instance: TSPInstance, arrays: Mapping[str, NDArray[Any]]) -> None:
        arrays["coords"][:] = instance.coords
        fill_block(arrays, instance.coords, instance.convention, instance.matrix)
        if instance.matrix is not None and instance.directed:
            arrays[DIRECTED][:] = directed_neighbours(instance.matrix, PLACES)

    @property
    def contracts(self) -> ModuleType:
        from specahd.problems.tsp import contracts

        return contracts

    @staticmethod
    def check(instance: TSPInstance, solution: Solution) -> tuple[Violation, ...]:
        """Return every violation of coverage and of fixed edges; empty means feasible.

        Kinds: ``unknown_node``, ``missing_node``, ``duplicated_node`` and ``fixed_edge``. The edge
        from the last node to the first is part of every tour. Details number
        the nodes from 1, as instance files do, unless they have names.
        """
        visits = np.fromiter(solution, np.int64, len(solution))
        known = (visits >= 0) & (visits < instance.size)
        counts = np.bincount(visits[known], minlength=instance.size)
        if known.all() and (counts == 1).all():
            return _broken_edges(instance, solution)
        quoted_name = instance.labels.quoted_name
        violations = [
            Violation("unknown_node", f"Node {node + 1} does not exist.")
            for node in visits[~known].tolist()
        ]
        violations += [
            Violation("missing_node", f"Node {quoted_name(node)} is not visited.")
            for node in np.flatnonzero(counts == 0).tolist()
        ]
        violations += [
            Violation(
                "duplicated_node", f"Node {quoted_name(node)} is visited {counts[node]} times."
            )
            for node in np.flatnonzero(counts > 1).tolist()
        ]
        return tuple(violations)

    @staticmethod
    def cost(instance: TSPInstance, solution: Solution) -> float:
        """Return the length of the closed tour in the instance's convention."""
        walk = np.array([*solution, *solution[:1]], np.int64)
        return path_length(instance.coords, walk, instance.convention, instance.matrix)


def _broken_edges(instance: TSPInstance, tour: Solution) -> tuple[Violation, ...]:
    following = dict(zip(tour, (*tour[1:], tour[0]), strict=True))
    return tuple(
        Violation("fixed_edge", f"The tour does not follow the fixed edge {start + 1} {end + 1}.")
        for start, end in instance.fixed_edges
        if following[start] != end and following[end] != start
    )
