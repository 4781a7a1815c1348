"""What the interpreted construction loops share: local distances, and the nodes that wait.

NumPy and the standard library only: this runs in the sandbox child, and it is
the price of every step of every program.
"""

from bisect import bisect_left

import numpy as np

from specahd.routing.base import FloatArray, IntArray
from specahd.routing.distances import ComputedDistances


def local_distances(matrix: FloatArray | ComputedDistances, nodes: IntArray) -> FloatArray:
    """Return the distances among some nodes, read-only, in a block of their own."""
    size = len(matrix)
    local: FloatArray
    if isinstance(matrix, ComputedDistances):
        local = matrix[nodes[:, None], nodes]
    elif 4 * len(nodes) > size:
        local = matrix.take(nodes, 0).take(nodes, 1)
    else:
        # Whole rows of a large matrix would be copied for a few of their entries.
        local = matrix.ravel().take(nodes[:, None] * size + nodes)
    local.flags.writeable = False
    return local


class UnservedNodes:
    """The nodes 1 to ``count`` as far as they wait, ascending."""

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
        """Return the nodes, read-only; the next :meth:`remove` changes it."""
        return self._array[: len(self._nodes)]

    def place(self, node: int) -> int:
        """Return where a node stands, -1 if it does not wait."""
        nodes = self._nodes
        place = bisect_left(nodes, node)
        return place if place < len(nodes) and nodes[place] == node else -1

    def remove(self, place: int) -> None:
        """Take out the node that stands there."""
        del self._nodes[place]
        left = len(self._nodes)
        self._buffer[place:left] = self._buffer[place + 1 : left + 1]
