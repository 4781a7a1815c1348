"""The loop of ``append`` and ``construct`` in the sandbox child: rebuild a region node by node (R).

Imports NumPy and the standard library only, so that a fresh child starts fast. Every step of every
program runs this loop, so it makes few calls of NumPy. Its results are not trusted: the merge M
and the checker F check them.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from specahd.core.answer import Answer
from specahd.core.errors import InvalidAnswer
from specahd.routing.answers import actions, integer
from specahd.routing.base import FloatArray, IntArray
from specahd.routing.distances import ComputedDistances


class Rebuild:
    """A region while it is rebuilt. A problem says what its programs see, and what may follow.

    Parameters
    ----------
    distances
        Distances within the region, shape (m, m); node 0 is where a route begins.
    count
        The nodes 1 to ``count`` are to be visited.
    planned
        Whether a program may answer with several actions.
    """

    def __init__(
        self, distances: FloatArray | ComputedDistances, count: int, *, planned: bool
    ) -> None:
        self.distances = distances
        self.planned = planned
        self.unserved = UnservedNodes(count)
        self.current = 0
        self.order: list[int] = []
        self.fallbacks = 0

    def run(self, program: Callable[..., Any]) -> Answer:
        """Ask the program for the next actions until every node is visited.

        An answer is one action: a node, or the depot, which closes the route. Where plans are
        allowed, it may be several in order. They are taken as long as each is available; then the
        program is asked again. A first action that is unavailable is replaced by the nearest node
        that is available, and the rest of its plan is dropped.

        Raises
        ------
        InvalidAnswer
            An answer has another type or is an empty plan, or no node can follow.
        """
        with np.errstate(all="ignore"):
            while self.unserved:
                available = self.available()
                answer = self.ask(program, available) if len(available) else 0
                if type(answer) is not int:
                    plan = self.plan(answer)
                    if plan is not None and self.follow(plan):
                        continue
                    answer = self.node(answer if plan is None else plan[0])
                if answer == 0 and self.current != 0 and self.closes():
                    continue
                if not len(available):
                    raise InvalidAnswer("A customer cannot be served by a vehicle of its own.")
                self.visit(answer, available)
        return Answer(self.arrays(), self.fallbacks)

    def available(self) -> IntArray:
        """Return the nodes that can be visited next, ascending; if none, the route is closed."""
        return self.unserved.array()

    def ask(self, program: Callable[..., Any], available: IntArray) -> Any:
        """Call the program; return its answer."""
        raise NotImplementedError

    def plan(self, answer: Any) -> Sequence[Any] | IntArray | None:
        """Return the actions of an answer that is a plan, at least one; None for one action."""
        if self.planned and (type(answer) is list or type(answer) is np.ndarray):
            return actions(answer, 1)
        return None

    def node(self, action: Any) -> int:
        """Return the node of an action.

        Raises
        ------
        InvalidAnswer
            The action has another type.
        """
        return integer(action)

    def follow(self, plan: Sequence[Any] | IntArray) -> bool:
        """Take the actions of a plan as long as each is available; return whether the first was.

        A route on which no node is available is closed first, as before a program is asked. Each
        action that is taken visits a node or closes a route, so that the work is bounded.
        """
        for place, action in enumerate(plan):
            node = self.node(action)
            available = self.available()
            if node == 0 or not len(available):
                if self.current == 0 or not self.closes():
                    return place > 0
                if node == 0:
                    continue
                self.available()
            if self.unserved.place(node) < 0 or not self.admits(node):
                return place > 0
            self.visit(node, available)
            if not self.unserved:
                break
        return True

    def closes(self) -> bool:
        """Close the route, which is not empty, if routes can be closed; return whether it was."""
        return False

    def visit(self, node: int, available: IntArray) -> None:
        """Go to a node, or if it is unavailable to the nearest that is available."""
        place = self.unserved.place(node)
        if place < 0 or not self.admits(node):
            node = self.nearest(available)
            place = self.unserved.place(node)
            self.fallbacks += 1
        self.order.append(node)
        self.unserved.remove(place)
        self.current = node

    def admits(self, node: int) -> bool:
        """Return whether an unserved node is available."""
        return True

    def nearest(self, available: IntArray) -> int:
        return int(available[np.argmin(self.distances[self.current, available])])

    def arrays(self) -> list[IntArray]:
        """Return what the merge receives."""
        return [np.array(self.order, dtype=np.int64)]


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
