"""Common parts of the interpreted construction loops: local distances, and unserved nodes.

Imports NumPy and the standard library only, because it runs in the sandbox child.
It must be fast, because every step of every program runs it.
"""

from bisect import bisect_left

import numpy as np

from specahd.routing.base import FloatArray, IntArray
from specahd.routing.distances import ComputedDistances


def local_distances(matrix: FloatArray | ComputedDistances, nodes: IntArray) -> FloatArray:
    """Return the distances among some nodes as a read-only array of its own."""
    size = len(matrix)
    local: FloatArray
    if isinstance(matrix, ComputedDistances):
        local = matrix[nodes[:, None], nodes]
    elif 4 * len(nodes) > size:
        local = matrix.take(nodes, 0).take(nodes, 1)
    else:
        # Copying whole rows of a large matrix for a few of their entries would be slower.
        local = matrix.ravel().take(nodes[:, None] * size + nodes)
    local.flags.writeable = False
    return local


class UnservedNodes:
    """The nodes among 1 to ``count`` that are not served yet, in ascending order."""

    __slots__ = ("_array", "_buffer", "_nodes")

    def __init__(self, count: int) -> None:
        self._nodes = list(range(1, count + 1))
        self._buffer = np.arange(1, count + 1)
        # Slices of a read-only view are read-only.
        self._array = self._buffer.view()
        self._array.flags.writeable = False

    def __len__(self) -> int:
        return len(self._nodes)

    def array(self) -> IntArray:
        """Return the nodes as a read-only array, which the next :meth:`remove` changes."""
        return self._array[: len(self._nodes)]

    def place(self, node: int) -> int:
        """Return the position of a node, or -1 if it is not among the unserved nodes."""
        nodes = self._nodes
        place = bisect_left(nodes, node)
        return place if place < len(nodes) and nodes[place] == node else -1

    def remove(self, place: int) -> None:
        """Remove the node at a position."""
        del self._nodes[place]
        left = len(self._nodes)
        self._buffer[place:left] = self._buffer[place + 1 : left + 1]
