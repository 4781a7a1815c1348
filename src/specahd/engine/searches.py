"""Searches in the sandbox child: their solutions are kept between slices."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import numpy as np

from specahd.core.answer import Answer
from specahd.engine import capacitated, changes, links, naming, passes
from specahd.engine.orders import Order, Report
from specahd.engine.state import Instance, Span, State, examples, instance_for
from specahd.routing.base import IntArray
from specahd.routing.distances import CONVENTION, MATRIX

FLEET = "fleet"
"""Name of the array with the largest number of routes, in the blocks of instances with a limit."""
NOBODY = np.zeros(0, np.int64)
"""Group without customers, with which the upper program chooses the groups."""
_STEP_SECONDS = 0.02
"""Seconds between two readings of the clock in a slice that is limited by time."""
_FIRST_STEP = 1000

Arrays = Mapping[str, Any]


class Search:
    """A search: its instance, read from the block, and its state.

    This class is for vehicles of one capacity. Another problem derives a class that changes the
    first state of a search, the form of its solutions, and :meth:`examples`.

    Parameters
    ----------
    routes
        The routes to begin with, in the form of :mod:`specahd.engine.orders`.
    """

    numbered: ClassVar[bool] = True
    """Whether customers of large instances are numbered along a curve, and the routes may be some
    of a solution's: no two routes have a customer in common."""

    def __init__(self, arrays: Arrays, routes: Sequence[IntArray], seed: int) -> None:
        self._instance = _instance(arrays)
        self._state = self.state_from(arrays, routes, seed)
        self._reported_cost = self._state.costs[changes.BEST]
        self._replaced = 0

    @staticmethod
    def examples() -> Iterator[tuple[dict[str, Any], list[IntArray]]]:
        """Yield the blocks of :func:`specahd.engine.state.examples`, and routes of a solution."""
        for arrays in examples():
            yield arrays, [np.array([1, 0, 2])]

    def state_from(self, arrays: Arrays, routes: Sequence[IntArray], seed: int) -> State:
        """Return the state that begins at a solution."""
        state = capacitated.state_for(routes[0], self._instance, seed)
        if FLEET in arrays:
            changes.limit_routes(state, int(arrays[FLEET][0]))
        return state

    @contextmanager
    def compiling(self) -> Iterator[Self]:
        """Allow the loops to be compiled within the block, and forbid it after the block."""
        loops: list[Any] = [passes.improve, naming.name_groups]
        for loop in loops:
            loop.disable_compile(False)
        yield self
        for loop in loops:
            loop.disable_compile()

    def propose(self, upper: Any, order: Order) -> Answer:
        """Return the groups of an upper program that a pass would repair."""
        limits = order.max_groups, order.max_size, order.progress
        return Answer([*naming.name_groups(upper, self._instance, self._state, *limits)])

    def run(self, upper: Any, lowers: Any, order: Order, group: IntArray = NOBODY) -> Answer:
        """Make the passes of one slice; each repairs ``group``, unless it is empty."""
        choices = np.array(order.lowers, np.int64)
        self._state.integers[changes.EXCHANGES] = order.exchanges
        began = self._state.counts[changes.REPAIRS]
        clock = time.thread_time()
        step = min(_FIRST_STEP, order.repairs) if order.seconds else order.repairs
        share, spent = 0.0, 0.0
        while share < 1.0:
            before = self._state.counts[changes.REPAIRS]
            # The share of the slice that is spent when the step ends.
            ahead = (before + step - began) / order.repairs
            if order.seconds:
                ahead = max(ahead, (spent + _STEP_SECONDS) / order.seconds)
            ahead = min(1.0, ahead)
            span = Span(
                *(step, order.max_groups, order.max_size),
                *(order.progress_at(share), order.progress_at(ahead)),
                *(order.temperature_at(share), order.temperature_at(ahead)),
                order.step_repairs,
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
        if state.costs[changes.BEST] < self._reported_cost:
            self._reported_cost = state.costs[changes.BEST]
            routes = self.best_routes()
        replaced, self._replaced = (
            self._replaced,
            report.invalid_positions + report.invalid_customers,
        )
        return Answer([report.encode(), *routes], self._replaced - replaced)

    def best_routes(self) -> tuple[IntArray, ...]:
        """Return the best routes, in the form of :mod:`specahd.engine.orders`."""
        return (links.flat_routes(self._state.best, len(self._state.gains) - 1),)

    def current_routes(self) -> IntArray:
        """Return the current routes, for problems in which several processes can share them."""
        following = np.ascontiguousarray(self._state.nodes[:, links.BEHIND])
        current: IntArray = links.flat_routes(following, len(self._state.gains) - 1)
        return current


def _instance(arrays: Arrays) -> Instance:
    """Return the instance of a block, in the form of the compiled loops."""
    distances: Any = arrays.get(MATRIX)
    if CONVENTION in arrays:
        distances = arrays["coords"], int(arrays[CONVENTION][0])
    near = arrays["neighbours"], arrays["neighbour_distances"]
    return instance_for(arrays, distances, *near)
