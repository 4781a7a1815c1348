"""The two contracts of the open TSP, whose programs are called as those of the TSP."""

from collections.abc import Sequence

import numpy as np

from specahd.core.contract import Contract
from specahd.core.program import Level
from specahd.problems.tsp import construct
from specahd.problems.tsp.contracts import lower_vocabulary, upper_vocabulary
from specahd.routing.base import FloatArray, IntArray


def select_path_segments(
    route: IntArray,
    coords: FloatArray,
    distance_matrix: FloatArray,
    max_segments: int,
    max_segment_size: int,
) -> Sequence[Sequence[int] | IntArray]:
    """Choose runs of the path, of 4 to ``max_segment_size`` nodes, that are worth rebuilding."""
    count = len(route)
    size = min(count, max(4, int(1.0 * max_segment_size)))
    step = max(size - 1, count // max_segments)
    segments = [np.roll(route, -start)[:size] for start in range(0, count - size + 1, step)]
    return segments[:max_segments]


def select_next_node(
    current_node: int,
    destination_node: int,
    unvisited_nodes: IntArray,
    distance_matrix: FloatArray,
) -> int:
    """Choose the next of ``unvisited_nodes`` on the way to ``destination_node``."""
    here = distance_matrix[current_node, unvisited_nodes]
    score = here
    return int(unvisited_nodes[np.argmin(score)])


_PROBLEM = "Open travelling salesman problem: the shortest path through all nodes. "

PATH_SEGMENTS = Contract.of(
    select_path_segments,
    id="path_segments",
    level=Level.UPPER,
    idea="Take runs at even intervals, each 1 of the allowed size.",
    task=_PROBLEM + "Write the function that decides WHERE to repair: which runs to rebuild.",
    runner=construct.propose,
    vocabulary=upper_vocabulary(),
)
APPEND = Contract.of(
    select_next_node,
    id="append",
    level=Level.LOWER,
    idea="Visit the city with the least distance from here.",
    task=_PROBLEM + "Write the function that decides HOW to rebuild a run: the next node.",
    runner=construct.rebuild,
    vocabulary=lower_vocabulary(),
)
