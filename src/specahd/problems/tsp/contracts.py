"""The contracts of TSP: real functions whose bodies the search rewrites.

The argument lists, the docstrings and the bodies are prompt text; the bodies
are also the first candidates.
"""

from collections.abc import Sequence

import numpy as np

from specahd.core.contract import Contract
from specahd.core.program import Level
from specahd.engine import (
    families,
    interfaces,
    seeds,
    select_groups,
    select_position,
    tour_vocabulary,
)
from specahd.problems.tsp import (
    construct,
    lower_vocabulary,
    upper_vocabulary,
    varied_nodes,
    varied_segments,
)
from specahd.routing.base import FloatArray, IntArray


def select_tsp_segments(
    route: IntArray,
    coords: FloatArray,
    distance_matrix: FloatArray,
    max_segments: int,
    max_segment_size: int,
) -> Sequence[Sequence[int] | IntArray]:
    """Choose runs of the tour that are worth rebuilding.

    The first and the last node of a run are fixed; the nodes between them are
    put in a new order, one run after the other. A rebuilt run stays only if
    the tour gets shorter.

    Parameters
    ----------
    route
        The incumbent: every node once, in the order of the tour, shape (n,).
        From the last node the tour returns to the first.
    coords
        Positions, shape (n, 2).
    distance_matrix
        Distances, shape (n, n), symmetric.
    max_segments
        Only the first ``max_segments`` valid runs are used.
    max_segment_size
        A run of more nodes is rejected, the fixed ends included.

    Returns
    -------
    sequence of sequences of int
        Runs of nodes that follow each other in ``route``, in the order in
        which to repair them; a run may go on from the end of ``route`` to its
        beginning. A run of fewer than 4 nodes is rejected, and so is one that
        is not contiguous or overlaps an earlier run in more than a shared end.

    Notes
    -----
    All arrays are read-only. The answer must depend on the arguments alone.
    """
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
    """Choose the next node of a path that is rebuilt between two fixed ends.

    The path starts at node 0, visits every other node of the run once and ends
    at ``destination_node``. When the whole tour is rebuilt, both ends are the
    same place.

    Parameters
    ----------
    current_node
        Where the path has got to; 0 at first.
    destination_node
        Where the path will end: the last index of ``distance_matrix``.
    unvisited_nodes
        Exactly the nodes that can be visited next, those between the ends that
        wait: one or more, ascending.
    distance_matrix
        Distances within the run, both ends included, symmetric.

    Returns
    -------
    int
        One of ``unvisited_nodes``; any other answer is replaced by the nearest
        of them.

    Notes
    -----
    All arrays are read-only, and indices are local to the run. The answer must
    depend on the arguments alone.
    """
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
    select_tsp_segments,
    id="tour_segments",
    level=Level.UPPER,
    idea="Take runs at even intervals, each 1 of the allowed size.",
    task=_PROBLEM
    + "Write the function that looks at the instance and its tour and decides WHERE to repair: "
    "which runs to rebuild. Good runs are those that save most together; the rest of the "
    "tour stays as it is.",
    runner=construct.propose,
    vocabulary=upper_vocabulary.vocabulary(),
    cheaper=("stays only if the tour gets shorter", "stays even if the tour gets longer"),
    varied=varied_segments.VARIED,
)
APPEND = Contract.of(
    select_next_node,
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
    id="construct",
    task=_GOAL
    + "Write the function that builds a tour from nothing: it is asked again and again for the "
    "next node. An instance has one region, the closed tour.",
    passages={
        "of a path that is rebuilt between two fixed ends": "of a tour that is built from nothing",
        "The path starts at node 0, visits every other node of the run once and ends at "
        "``destination_node``. When the whole tour is rebuilt, both ends are the same place.": (
            "The tour starts at node 0, visits every other node once and ends at\n    "
            "``destination_node``, which is node 0 again."
        ),
        "Where the path has got to": "Where the tour has got to",
        "Where the path will end: the last index of ``distance_matrix``.": (
            "Where the tour will end: the last index of ``distance_matrix``, whose\n        "
            "row and column are those of node 0."
        ),
        "those between the ends that wait": "those that wait",
        "Distances within the run, both ends included, symmetric.": (
            "Distances, shape (n + 1, n + 1), symmetric."
        ),
        "All arrays are read-only, and indices are local to the run.": (
            "All arrays are read-only, and indices are those of the instance."
        ),
    },
)

ORDERED_GROUPS = select_groups.contract(
    interfaces.TOUR_GROUPS,
    seeds.nearest_nodes,
    goal=_GOAL,
    compiled=families.TSP.groups,
    vocabulary=tour_vocabulary.groups(),
    words=tour_vocabulary.WORDS,
    others=[tour_vocabulary.NEIGHBOURING_STRINGS],
)
INSERTION = select_position.contract(
    interfaces.TOUR_POSITIONS,
    goal=_GOAL,
    compiled=families.TSP.positions,
    vocabulary=tour_vocabulary.positions(),
    words=tour_vocabulary.WORDS,
    others=[tour_vocabulary.GREEDY],
)
