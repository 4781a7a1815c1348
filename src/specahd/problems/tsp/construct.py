"""Runners of TSP programs in the sandbox child: one run of an upper or a lower program.

Only NumPy and the standard library are imported, so that a fresh child starts
fast. The results are not trusted: the validator V, the merge M and the checker
F check them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from specahd.core.answer import Answer
from specahd.routing.answers import flattened
from specahd.routing.append import Rebuild, local_distances
from specahd.routing.base import FloatArray, IntArray
from specahd.routing.distances import of_block


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
        the end anchor. A closed tour has one node as both anchors. Then ``[1]`` if an answer may
        be a plan, else ``[0]``.

    Returns
    -------
    Answer
        The nodes between the anchors in the order of the path, as indices into
        the input. An unavailable answer is replaced by the nearest node.

    Raises
    ------
    InvalidAnswer
        An answer is neither an integer nor a plan of integers.
    """
    nodes, planned = inputs
    return _Path(local_distances(of_block(arrays), nodes), bool(planned[0])).run(program)


class _Path(Rebuild):
    """A path from the first node of a run to the last."""

    def __init__(self, distances: FloatArray, planned: bool) -> None:
        self._end = len(distances) - 1
        super().__init__(distances, self._end - 1, planned=planned)

    def ask(self, program: Callable[..., Any], available: IntArray) -> Any:
        return program(self.current, self._end, available, self.distances)
