"""The contracts of TSP."""

from collections.abc import Sequence

import numpy as np

from specahd.core.contract import Contract
from specahd.core.program import Level
from specahd.engine import seeds, select_groups, select_position, tour_vocabulary
from specahd.engine.interfaces import TOUR_GROUPS, TOUR_POSITIONS
from specahd.problems.tsp import (
    construct,
    interfaces,
    lower_vocabulary,
    upper_vocabulary,
    varied_nodes,
    varied_segments,
)
from specahd.problems.tsp.family import FAMILY
from specahd.routing.base import FloatArray, IntArray


def even_segments(
    route: IntArray, max_segments: int, max_segment_size: int
) -> Sequence[Sequence[int] | IntArray]:
    """Take runs at even intervals."""
    count = len(route)
    size = min(count, max(4, int(1.0 * max_segment_size)))
    step = max(size - 1, count // max_segments)
    segments = [np.roll(route, -start)[:size] for start in range(0, count - size + 1, step)]
    return segments[:max_segments]


def nearest(current_node: int, unvisited_nodes: IntArray, distance_matrix: FloatArray) -> int:
    """Visit the node with the least distance from here."""
    here = distance_matrix[current_node, unvisited_nodes]
    score = here
    return int(unvisited_nodes[np.argmin(score)])


_GOAL = (
    "Symmetric travelling salesman problem: one closed tour visits every node exactly once, at the "
    "least total distance. "
)
_PROBLEM = _GOAL + (
    "A tour exists already; runs of consecutive nodes are taken out and rebuilt one at a time "
    "between their two fixed end nodes. "
)

TOUR_SEGMENTS = Contract.of(
    even_segments,
    interface=interfaces.TOUR_SEGMENTS,
    id="tour_segments",
    level=Level.UPPER,
    idea="Take runs at even intervals, each 1 of the allowed size.",
    task=_PROBLEM
    + "Write the function that looks at the instance and its tour and decides WHERE to repair: "
    "which runs to rebuild. Good runs are those that save most together; the rest of the "
    "tour stays as it is.",
    runner=construct.propose,
    vocabulary=upper_vocabulary.vocabulary(),
    varied=varied_segments.VARIED,
)
APPEND = Contract.of(
    nearest,
    interface=interfaces.NEXT_NODE,
    id="append",
    level=Level.LOWER,
    idea="Visit the city with the least distance from here.",
    task=_PROBLEM
    + "Write the function that decides HOW to rebuild a run: it is asked again and again for "
    "the next node of the path.",
    runner=construct.rebuild,
    compiled="specahd.problems.tsp.compiled:REBUILD",
    vocabulary=lower_vocabulary.vocabulary(),
    varied=varied_nodes.VARIED,
)
CONSTRUCT = APPEND.variant(
    nearest,
    interfaces.FROM_NOTHING,
    id="construct",
    task=_GOAL
    + "Write the function that builds a tour from nothing: it is asked again and again for the "
    "next node. An instance has one region, the closed tour.",
)

ORDERED_GROUPS = select_groups.contract(
    TOUR_GROUPS,
    seeds.nearest_nodes,
    goal=_GOAL,
    compiled=FAMILY.groups,
    vocabulary=tour_vocabulary.groups(),
    words=tour_vocabulary.WORDS,
    others=[tour_vocabulary.NEIGHBOURING_STRINGS],
)
INSERTION = select_position.contract(
    TOUR_POSITIONS,
    goal=_GOAL,
    compiled=FAMILY.positions,
    vocabulary=tour_vocabulary.positions(),
    words=tour_vocabulary.WORDS,
    others=[tour_vocabulary.GREEDY],
)
