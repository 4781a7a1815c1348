"""Runners of vehicle problems' programs in the sandbox child: one run of a program.

Imports NumPy and the standard library only, so that a fresh child starts fast. The results are not
trusted: the validator V, the merge M and the checker F check them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from specahd.core.answer import Answer
from specahd.core.errors import InvalidAnswer
from specahd.routing.answers import actions, flattened, integer, views
from specahd.routing.append import Rebuild, local_distances
from specahd.routing.base import FloatArray, IntArray
from specahd.routing.distances import of_block

Program = Callable[..., Any]
Arrays = Mapping[str, Any]

_TIMES = ("ready_times", "due_times", "service_times")


def propose(program: Program, arrays: Arrays, inputs: Sequence[IntArray]) -> Answer:
    """Run an upper program once.

    Parameters
    ----------
    program
        Follows an upper contract: it takes the incumbent's columns, coordinates, demands,
        capacity, times if there are any, distances, and the two limits.
    arrays
        The instance: ``coords`` (n + 1, 2), ``demands`` (n + 1,), ``capacity``
        (1,), which programs receive as a number, the distances, and perhaps ``ready_times``,
        ``due_times`` and ``service_times`` (n + 1,); all are read-only.
    inputs
        The incumbent as lengths of its routes and one or more columns of their
        stops concatenated, then ``[max_regions, max_size]``.

    Returns
    -------
    Answer
        Lengths of the proposed groups and their entries concatenated;
        ``[-1]`` and an empty array if the answer is not a list of sequences.

    Raises
    ------
    InvalidAnswer
        The answer has far more groups or entries than any instance could use.
    """
    lengths, *columns, (max_regions, max_size) = inputs
    instance = (
        arrays["coords"],
        arrays["demands"],
        int(arrays["capacity"][0]),
        *(arrays[name] for name in _TIMES if name in arrays),
        of_block(arrays),
    )
    incumbent = [views(lengths, column) for column in columns]
    with np.errstate(all="ignore"):
        groups = program(*incumbent, *instance, int(max_regions), int(max_size))
    room = len(arrays["demands"])
    if len(columns) > 1:
        # An incumbent with quantities may stop at a customer more than once.
        room += len(columns[0])
    return Answer(flattened(groups, max_entries=10 * room + 1000))


def rebuild(program: Program, arrays: Arrays, inputs: Sequence[IntArray]) -> Answer:
    """Rebuild one region with a lower program: new routes from the depot.

    Parameters
    ----------
    program
        Follows the lower contract.
    arrays
        The instance, as for :func:`propose`.
    inputs
        The customers of the region in ascending order, and ``[1]`` if an answer may be a plan,
        else ``[0]``.

    Returns
    -------
    Answer
        The routes as indices into ``[depot, *customers]``, with 0 between two routes. An
        unavailable answer is replaced by the nearest customer that is available.

    Raises
    ------
    InvalidAnswer
        An answer is neither an integer nor a plan of integers, or a vehicle of its own cannot
        serve a customer.
    """
    kind = _TimedRoutes if _TIMES[0] in arrays else _Routes
    return kind(arrays, *inputs).run(program)


def rebuild_split(program: Program, arrays: Arrays, inputs: Sequence[IntArray]) -> Answer:
    """Do the same where several vehicles may serve a customer.

    Returns
    -------
    Answer
        The routes as :func:`rebuild` returns them, and the quantity delivered at each stop, 0 for
        each 0. An unavailable customer is replaced by the nearest one with the largest quantity
        that fits, an invalid quantity by the largest that fits.

    Raises
    ------
    InvalidAnswer
        An answer is neither a pair of integers nor a plan of such pairs, or the program makes more
        stops than :func:`most_stops` allows.
    """
    return _SplitRoutes(arrays, *inputs).run(program)


class _Routes(Rebuild):
    """Routes of vehicles with a capacity."""

    def __init__(self, arrays: Arrays, customers: IntArray, planned: IntArray) -> None:
        self.nodes = np.concatenate(([0], customers))
        distances = of_block(arrays)
        if len(self.nodes) < len(arrays["demands"]):
            distances = local_distances(distances, self.nodes)
        super().__init__(distances, len(customers), planned=bool(planned[0]))
        self.demands = self.of_region(arrays["demands"])
        self.loads: list[int] = self.demands.tolist()
        self.largest = max(self.loads)
        self.capacity = self.rest = int(arrays["capacity"][0])

    def of_region(self, array: Any) -> Any:
        """Return the entries of the region's nodes, read-only."""
        cut = array[self.nodes]
        cut.flags.writeable = False
        return cut

    def available(self) -> IntArray:
        unserved = self.unserved.array()
        if self.rest >= self.largest:
            return unserved
        fitting: IntArray = unserved[self.demands[unserved] <= self.rest]
        fitting.flags.writeable = False
        return fitting

    def ask(self, program: Program, available: IntArray) -> Any:
        return program(self.current, 0, available, self.rest, self.demands, self.distances)

    def closes(self) -> bool:
        self.order.append(0)
        self.current, self.rest = 0, self.capacity
        return True

    def admits(self, node: int) -> bool:
        return self.loads[node] <= self.rest

    def visit(self, node: int, available: IntArray) -> None:
        super().visit(node, available)
        self.rest -= self.loads[self.current]


class _TimedRoutes(_Routes):
    """Routes with time windows; times are summed in the checker's order, to the same last bit."""

    def __init__(self, arrays: Arrays, customers: IntArray, planned: IntArray) -> None:
        super().__init__(arrays, customers, planned)
        self._times = self._ready, self._due, self._service = [
            self.of_region(arrays[name]) for name in _TIMES
        ]
        self._home: FloatArray = self.distances[:, 0].copy()
        self._time = self._opening = float(self._ready[0])
        self._closing = float(self._due[0])
        self._waiting = np.ones(len(self.nodes), dtype=bool)
        self._waiting[0] = False

    def available(self) -> IntArray:
        finish = self.distances[self.current] + self._time
        np.maximum(finish, self._ready, out=finish)
        available = finish <= self._due
        finish += self._service
        available &= finish + self._home <= self._closing
        available &= self._waiting
        if self.rest < self.largest:
            available &= self.demands <= self.rest
        self._finish, self._available = finish, available
        nodes = np.flatnonzero(available)
        nodes.flags.writeable = False
        return nodes

    def ask(self, program: Program, available: IntArray) -> Any:
        seen = self.current, 0, available, self.rest, self._time, self.demands
        return program(*seen, *self._times, self.distances)

    def closes(self) -> bool:
        self._time = self._opening
        return super().closes()

    def admits(self, node: int) -> bool:
        return bool(self._available[node])

    def visit(self, node: int, available: IntArray) -> None:
        super().visit(node, available)
        self._waiting[self.current] = False
        self._time = float(self._finish[self.current])


class _SplitRoutes(_Routes):
    """Routes with a quantity at each stop."""

    def __init__(self, arrays: Arrays, customers: IntArray, planned: IntArray) -> None:
        super().__init__(arrays, customers, planned)
        self._residuals = self.demands.copy()
        # A read-only view: programs see the changes but cannot write.
        self.demands = self._residuals.view()
        self.demands.flags.writeable = False
        self._most = most_stops(len(customers), sum(self.loads), self.capacity)
        self._amounts: list[int] = []
        self._quantity = self._stops = 0

    def available(self) -> IntArray:
        # An empty vehicle returns to the depot without asking.
        unserved = self.unserved.array()
        return unserved if self.rest else unserved[:0]

    def ask(self, program: Program, available: IntArray) -> Any:
        answer = super().ask(program, available)
        if type(answer) is tuple and len(answer) == 2 and type(answer[0]) is type(answer[1]) is int:
            # The usual answer, without the calls for others.
            node, self._quantity = answer
            return node
        return self.node(answer) if type(answer) is int else answer

    def plan(self, answer: Any) -> Sequence[Any] | IntArray | None:
        if not self.planned:
            return None
        if type(answer) is np.ndarray:
            # Each action makes a stop or closes a route after one.
            pairs: list[Any] = np.asarray(actions(answer, 2)[: 2 * self._most + 1]).tolist()
            return pairs
        # Pairs are a plan; a list of two integers is one action.
        if type(answer) in (list, tuple) and answer and isinstance(answer[0], list | tuple):
            return answer  # type: ignore[no-any-return]
        return None

    def node(self, action: Any) -> int:
        if not isinstance(action, tuple | list) or len(action) != 2:
            raise InvalidAnswer(f"Expected a customer and a quantity, got {type(action).__name__}.")
        customer = integer(action[0])
        # The quantity for the depot is not read.
        self._quantity = integer(action[1]) if customer else 0
        return customer

    def closes(self) -> bool:
        self._amounts.append(0)
        return super().closes()

    def admits(self, node: int) -> bool:
        return 1 <= self._quantity <= min(self.loads[node], self.rest)

    def visit(self, node: int, available: IntArray) -> None:
        place, quantity = self.unserved.place(node), self._quantity
        if place < 0:
            node, quantity = self.nearest(available), 0
            place = self.unserved.place(node)
        fits = min(self.loads[node], self.rest)
        if not 1 <= quantity <= fits:
            quantity = fits
            self.fallbacks += 1
        self._stops += 1
        if self._stops > self._most:
            raise InvalidAnswer(f"More than {self._most} stops.")
        self.order.append(node)
        self._amounts.append(quantity)
        self.loads[node] -= quantity
        self._residuals[node] = self.loads[node]
        self.rest -= quantity
        self.current = node
        if not self.loads[node]:
            self.unserved.remove(place)

    def arrays(self) -> list[IntArray]:
        return [*super().arrays(), np.array(self._amounts, dtype=np.int64)]


def most_stops(customers: int, demand: int, capacity: int) -> int:
    """Return the maximum number of stops in the rebuild of a region.

    A sensible rebuild needs far fewer, as each delivery completes a demand or a load.
    Without a limit, deliveries of one unit each would take time linear in the demands.
    """
    return 1000 + 10 * (customers + demand // capacity)
