"""Searches in the sandbox child: their solutions are kept between slices."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy as np

from specahd.core.answer import Answer
from specahd.engine import (
    capacitated,
    changes,
    deliveries,
    links,
    naming,
    passes,
    timed,
    tours,
)
from specahd.engine.orders import Order, Report
from specahd.engine.state import Instance, Span, State
from specahd.routing.base import IntArray
from specahd.routing.distances import CONVENTION, MATRIX

READY = "ready_times"
"""What a block has if customers have time windows."""
DEMANDS = "demands"
"""What the block of a TSP does not have."""
NOBODY = np.zeros(0, np.int64)
"""A group without customers: the upper program is asked."""
_STEP_SECONDS = 0.02
"""How often a slice that is bounded by time looks at the clock."""
_FIRST_STEP = 1000

Arrays = Mapping[str, Any]


class Search:
    """One solution under way, and what the block says of its instance.

    Parameters
    ----------
    routes
        To begin with, as :mod:`specahd.engine.orders` has them.
    """

    def __init__(self, arrays: Arrays, routes: Sequence[IntArray], seed: int) -> None:
        self._instance = _instance(arrays)
        self._state = self._begun(arrays, routes, seed)
        self._told = self._state.costs[changes.BEST]
        self._replaced = 0

    def _begun(self, arrays: Arrays, routes: Sequence[IntArray], seed: int) -> State:
        """Return the state that begins at a solution."""
        distances, demands = self._instance.distances, self._instance.demands
        state = capacitated.state_for(routes[0], distances, demands, seed)
        if READY not in arrays:
            return state
        windows = (arrays[name] for name in (READY, "due_times", "service_times"))
        return timed.timed(state, *windows)

    @property
    def own(self) -> type:
        """Whose functions the loop takes (:mod:`specahd.engine.steps`)."""
        return type(self._state.own)

    @contextmanager
    def compiling(self) -> Iterator[Self]:
        """Let the loops be compiled for the types that they are called with, and then no more."""
        loops: list[Any] = [passes.improve, naming.name_groups]
        for loop in loops:
            loop.disable_compile(False)
        yield self
        for loop in loops:
            loop.disable_compile()

    def propose(self, upper: Any, order: Order) -> Answer:
        """Ask an upper program which groups a pass would repair."""
        limits = order.max_groups, order.max_size, order.progress
        return Answer([*naming.name_groups(upper, self._instance, self._state, *limits)])

    def run(self, upper: Any, lowers: Any, order: Order, group: IntArray = NOBODY) -> Answer:
        """Make the passes of one slice; each repairs the group, if one is given."""
        choices = np.array(order.lowers, np.int64)
        self._state.integers[changes.EXCHANGES] = order.exchanges
        began = self._state.counts[changes.REPAIRS]
        clock = time.thread_time()
        step = min(_FIRST_STEP, order.repairs) if order.seconds else order.repairs
        share, spent = 0.0, 0.0
        while share < 1.0:
            before = self._state.counts[changes.REPAIRS]
            # What a step will have spent when it ends.
            ahead = (before + step - began) / order.repairs
            if order.seconds:
                ahead = max(ahead, (spent + _STEP_SECONDS) / order.seconds)
            ahead = min(1.0, ahead)
            span = Span(
                *(step, order.max_groups, order.max_size),
                *(order.progress_at(share), order.progress_at(ahead)),
                *(order.temperature_at(share), order.temperature_at(ahead)),
            )
            passes.improve(upper, lowers, choices, self._instance, self._state, span, group)
            done = self._state.counts[changes.REPAIRS] - before
            if not done:
                break
            share = (before + done - began) / order.repairs
            if order.seconds:
                used, spent = spent, time.thread_time() - clock
                share = max(share, spent / order.seconds)
                rate = done / max(1e-6, spent - used)
                step = max(1, int(rate * _STEP_SECONDS))
        return self._answer()

    def _answer(self) -> Answer:
        state = self._state
        report = Report(*state.counts.tolist(), *state.costs.tolist())
        routes: tuple[IntArray, ...] = ()
        if state.costs[changes.BEST] < self._told:
            self._told = state.costs[changes.BEST]
            routes = self.best_routes()
        replaced, self._replaced = self._replaced, report.mended + report.dropped
        return Answer([report.encode(), *routes], self._replaced - replaced)

    def best_routes(self) -> tuple[IntArray, ...]:
        """Return the best routes, as :mod:`specahd.engine.orders` has them."""
        return (links.flat_routes(self._state.best, len(self._state.gains) - 1),)


class SplitSearch(Search):
    """The same where several routes may deliver to a customer."""

    def __init__(self, arrays: Arrays, routes: Sequence[IntArray], seed: int) -> None:
        capacity, demands = int(arrays["capacity"][0]), arrays[DEMANDS]
        kept, self._direct = _set_apart(routes[0], routes[1], capacity)
        demands = demands - capacity * np.bincount(self._direct, minlength=len(demands))
        demands.flags.writeable = False
        super().__init__({**arrays, DEMANDS: demands}, kept, seed)

    def _begun(self, arrays: Arrays, routes: Sequence[IntArray], seed: int) -> State:
        distances, *_, demands, capacity = self._instance
        return deliveries.state_for(routes[0], routes[1], distances, demands, capacity, seed)

    def best_routes(self) -> tuple[IntArray, ...]:
        customers, given = deliveries.flat_deliveries(self._state)
        apart = np.zeros((2, 2 * len(self._direct)), np.int64)
        apart[:, 1::2] = self._direct, np.full(len(self._direct), self._instance.capacity)
        return np.concatenate((customers, apart[0])), np.concatenate((given, apart[1]))


class TourSearch(Search):
    """The same for a closed tour."""

    def _begun(self, arrays: Arrays, routes: Sequence[IntArray], seed: int) -> State:
        places = min(tours.PLACES, arrays["neighbours"].shape[1])
        return tours.state_for(routes[0], self._instance.distances, places, seed)

    def best_routes(self) -> tuple[IntArray, ...]:
        return (tours.flat_tour(self._state.best),)


def _set_apart(
    stops: IntArray, given: IntArray, capacity: int
) -> tuple[tuple[IntArray, IntArray], IntArray]:
    """Take whole loads that go to one customer and back out of a solution, all but one of each.

    A demand of very many loads would otherwise be delivered anew, load by load, in each repair.

    Returns
    -------
    The rest of ``stops`` and ``given``, and the customers of the loads that were taken out.
    """
    ends = np.concatenate(([0], stops, [0])) == 0
    direct = np.flatnonzero(ends[:-2] & ends[2:] & (stops != 0) & (given == capacity))
    _, first = np.unique(stops[direct], return_index=True)
    taken = np.delete(direct, first)
    kept = np.ones(len(stops), bool)
    kept[taken] = False
    return (stops[kept], given[kept]), stops[taken]


def _instance(arrays: Arrays) -> Instance:
    """Return what a block says of an instance, as loops take it."""
    distances: Any = arrays.get(MATRIX)
    if CONVENTION in arrays:
        distances = arrays["coords"], int(arrays[CONVENTION][0])
    near = arrays["neighbours"], arrays["neighbour_distances"]
    if DEMANDS not in arrays:
        return Instance(distances, *near, np.zeros(0), np.zeros(0, np.int64), 0)
    demands, capacity = arrays[DEMANDS], int(arrays["capacity"][0])
    depot = capacitated.depot_row(distances, len(demands))
    return Instance(distances, *near, depot, demands, capacity)
