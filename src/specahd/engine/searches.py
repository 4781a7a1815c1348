"""Solutions under way in the sandbox child: where a slice begins, and what it leaves behind."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy as np

from specahd.core.answer import Answer
from specahd.engine import (
    changes,
    deliveries,
    links,
    naming,
    passes,
    split_passes,
    split_state,
    tour_naming,
    tour_passes,
    tour_state,
    tours,
)
from specahd.engine.orders import Order, Report
from specahd.engine.state import State, state_for, times_for
from specahd.engine.tour_passes import PLACES
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

    loop: Callable[..., None] = staticmethod(passes.improve)
    names: Callable[..., Any] = staticmethod(naming.name_groups)
    """Asks an upper program for groups; takes what the loop takes of an instance and a solution."""
    lowers = "POSITIONS"
    """What compiles the lower programs, of :mod:`specahd.engine.runner`."""

    def __init__(self, arrays: Arrays, routes: Sequence[IntArray], seed: int) -> None:
        self._demands = arrays[DEMANDS]
        self._distances = _distances(arrays)
        self._instance: tuple[Any, ...] = (
            self._distances,
            arrays["neighbours"],
            arrays["neighbour_distances"],
            passes.depot_row(self._distances, len(self._demands)),
            self._demands,
            int(arrays["capacity"][0]),
        )
        self._state: Any
        self._beside: Any
        self._state, self._beside = self._begun(arrays, routes, seed)
        self._told = self._state.costs[changes.BEST]
        self._replaced = 0

    def _begun(
        self, arrays: Arrays, routes: Sequence[IntArray], seed: int
    ) -> tuple[State, tuple[Any, ...]]:
        """Return the state that begins at a solution, and what the loop takes beside it."""
        state = state_for(routes[0], self._distances, self._demands, seed)
        if READY not in arrays:
            return state, ()
        self.lowers = "TIMED_POSITIONS"
        windows = (arrays[name] for name in (READY, "due_times", "service_times"))
        return state, times_for(state, *windows)

    @contextmanager
    def compiling(self) -> Iterator[Self]:
        """Let the loops be compiled for the types that they are called with, and then no more."""
        loops: list[Any] = [self.loop, self.names]
        for loop in loops:
            loop.disable_compile(False)
        yield self
        for loop in loops:
            loop.disable_compile()

    def named(self, upper: Any, order: Order) -> Answer:
        """Ask an upper program which groups a pass would repair."""
        limits = order.max_groups, order.max_size, order.progress
        return Answer(
            [*self.names(upper, *self._instance, self._beside, tuple(self._state), *limits)]
        )

    def run(self, upper: Any, lowers: Any, order: Order, group: IntArray = NOBODY) -> Answer:
        """Make the passes of one slice; each repairs the group, if one is given."""
        choices = np.array(order.lowers, np.int64)
        self._state.numbers[changes.EXCHANGES] = order.exchanges
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
            self.loop(
                upper,
                lowers,
                choices,
                *self._instance,
                self._beside,
                tuple(self._state),
                step,
                order.max_groups,
                order.max_size,
                order.progress_at(share),
                order.progress_at(ahead),
                order.temperature_at(share),
                order.temperature_at(ahead),
                group,
            )
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
        return (links.flat_routes(self._state.best, len(self._demands) - 1),)


class SplitSearch(Search):
    """The same where several routes may deliver to a customer."""

    loop = staticmethod(split_passes.improve)
    lowers = "SPLIT_POSITIONS"

    def __init__(self, arrays: Arrays, routes: Sequence[IntArray], seed: int) -> None:
        capacity = int(arrays["capacity"][0])
        kept, self._direct = split_state.set_apart(routes[0], routes[1], capacity)
        demands = arrays["demands"] - capacity * np.bincount(
            self._direct, minlength=len(arrays["demands"])
        )
        demands.flags.writeable = False
        super().__init__({**arrays, "demands": demands}, kept, seed)

    def _begun(
        self, arrays: Arrays, routes: Sequence[IntArray], seed: int
    ) -> tuple[State, tuple[Any, ...]]:
        capacity = self._instance[-1]
        return split_state.state_for(
            routes[0], routes[1], self._distances, self._demands, capacity, seed
        )

    def best_routes(self) -> tuple[IntArray, ...]:
        nodes = len(self._beside[deliveries.MORE]) - 1
        customers, given = deliveries.flat_deliveries(self._state.best, nodes)
        apart = np.zeros((2, 2 * len(self._direct)), np.int64)
        apart[:, 1::2] = self._direct, np.full(len(self._direct), self._instance[-1])
        return np.concatenate((customers, apart[0])), np.concatenate((given, apart[1]))


class TourSearch(Search):
    """The same for a closed tour."""

    loop = staticmethod(tour_passes.improve)
    names = staticmethod(tour_naming.name_groups)
    lowers = "TOUR_POSITIONS"

    def __init__(self, arrays: Arrays, routes: Sequence[IntArray], seed: int) -> None:
        near = arrays["neighbours"]
        self._instance = (_distances(arrays), near, arrays["neighbour_distances"])
        self._state = tour_state.state_for(routes[0], self._instance[0], seed)
        self._beside = min(PLACES, near.shape[1])
        self._told = self._state.costs[changes.BEST]
        self._replaced = 0

    def best_routes(self) -> tuple[IntArray, ...]:
        return (tours.flat_tour(self._state.best),)


def _distances(arrays: Arrays) -> Any:
    """Return the distances as loops take them."""
    if CONVENTION in arrays:
        return arrays["coords"], int(arrays[CONVENTION][0])
    return arrays[MATRIX]
