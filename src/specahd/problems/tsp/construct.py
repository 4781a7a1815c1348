"""Runners of TSP programs in the sandbox child: one run of an upper or a lower program.

Only NumPy and the standard library are imported, so that a fresh child starts
fast. The results are not trusted: the validator V, the merge M and the checker
F check them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from specahd.core.answer import Answer
from specahd.routing.answers import flattened, integer
from specahd.routing.base import IntArray
from specahd.routing.distances import of_block
from specahd.routing.local import UnservedNodes, local_distances


def propose(
    program: Callable[..., Any], arrays: Mapping[str, Any], inputs: Sequence[IntArray]
) -> Answer:
    """Run an upper program once.

    Parameters
    ----------
    program
        Follows the upper contract.
    arrays
        The instance: ``coords`` (n, 2) and the distances, read-only.
    inputs
        The incumbent as the nodes of its tour in order, then ``[max_segments,
        max_segment_size]``.

    Returns
    -------
    Answer
        Lengths of the proposed runs and their entries concatenated; ``[-1]``
        and an empty array if the answer is not a list of sequences.

    Raises
    ------
    InvalidAnswer
        The answer has far more entries than any instance could use.
    """
    tour, (max_segments, max_segment_size) = inputs
    route = tour.copy()
    route.flags.writeable = False
    with np.errstate(all="ignore"):
        segments = program(
            route,
            arrays["coords"],
            of_block(arrays),
            int(max_segments),
            int(max_segment_size),
        )
    return Answer(flattened(segments, max_entries=10 * len(route) + 1000))


def rebuild(
    program: Callable[..., Any], arrays: Mapping[str, Any], inputs: Sequence[IntArray]
) -> Answer:
    """Rebuild one run with a lower program: a path from its start anchor to its end anchor.

    Parameters
    ----------
    program
        Follows the lower contract.
    arrays
        The instance, as for :func:`propose`.
    inputs
        The start anchor, the nodes between the anchors in ascending order, and
        the end anchor. A closed tour has one node as both anchors.

    Returns
    -------
    Answer
        The nodes between the anchors in the order of the path, as indices into
        the input. An unavailable answer is replaced by the nearest node.

    Raises
    ------
    InvalidAnswer
        An answer is not an integer.
    """
    [nodes] = inputs
    distances = local_distances(of_block(arrays), nodes)
    end = len(nodes) - 1
    waiting = UnservedNodes(end - 1)
    path: list[int] = []
    current, fallbacks = 0, 0
    # Every score in a run needs this loop, so it makes few NumPy calls per step.
    with np.errstate(all="ignore"):
        while waiting:
            remaining = waiting.array()
            answer = program(current, end, remaining, distances)
            if type(answer) is not int:
                answer = integer(answer)
            place = waiting.place(answer)
            if place < 0:
                answer = int(remaining[np.argmin(distances[current, remaining])])
                place = waiting.place(answer)
                fallbacks += 1
            path.append(answer)
            waiting.remove(place)
            current = answer
    return Answer([np.array(path, dtype=np.int64)], fallbacks)
