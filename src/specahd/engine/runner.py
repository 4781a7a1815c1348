"""What the sandbox child calls: one slice of a search, its programs compiled, its state kept.

A session launches one upper program under :data:`GROUPS` and lower programs under
:data:`POSITIONS` (for the VRPTW :data:`TIMED_POSITIONS`), and calls the upper one for a slice, or
for the groups that it names; or a lower one alone, for one group.
:mod:`specahd.engine.orders` has the inputs and the answers. Everything stays in this forked
process: the translated lower programs, and between slices the solution. The block holds
``coords``, ``demands``, ``capacity`` and the distances as the problem's ``layout`` has them,
and ``neighbours`` and ``neighbour_distances``, of integers and floats of 64 bits and of shape
(n + 1, k), nearest first; for the VRPTW also the windows.

A program that raises has answered nothing: the engine goes on without it, and counts it among
what was mended. One that does not compile fails at launch, since the interpreter would be too
slow by a factor of a hundred.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numba import njit, types

from specahd.core.answer import Answer
from specahd.engine import changes, links, naming, passes, strings
from specahd.engine.orders import Order, Report
from specahd.engine.programs import (
    GROUPS_ANSWER,
    GROUPS_ARGUMENTS,
    POSITION_ANSWER,
    POSITION_ARGUMENTS,
    TIMED_POSITION_ARGUMENTS,
)
from specahd.engine.state import State, state_for, times_for
from specahd.engine.written import sources
from specahd.routing.base import IntArray
from specahd.routing.compiled.runner import compiled, in_list
from specahd.routing.distances import CONVENTION
from specahd.routing.distances import MATRIX as MATRIX_NAME

NOBODY = np.zeros(0, np.int64)
"""A group without customers: the upper program is asked."""
READY = "ready_times"
"""What a block has if customers have time windows."""

_STEP_SECONDS = 0.02
"""How often a slice that is bounded by time looks at the clock."""
_FIRST_STEP = 1000

Arrays = Mapping[str, Any]


class EngineProgram:
    """Compiles lower programs of one contract, and runs one of them alone.

    Parameters
    ----------
    arguments, answer
        Types, as for :class:`specahd.routing.compiled.runner.CompiledRunner`.
    name
        What its programs are called.
    functions
        Programs that are written by hand.
    """

    def __init__(
        self,
        arguments: Sequence[types.Type],
        answer: types.Type,
        name: str = "",
        functions: Sequence[Callable[..., Any]] = (),
    ) -> None:
        self._arguments = tuple(arguments)
        self._answer = answer
        function = types.FunctionType(answer(*arguments))
        self._list = njit(types.ListType(function)(function), cache=True)(in_list)
        self._append = njit(types.void(types.ListType(function), function), cache=True)(_appended)
        # A list holds addresses; the programs themselves must live on.
        self._programs: list[Any] = []
        self._held: Any = None
        self._name, self._functions = name, tuple(functions)
        # This package's own programs by their texts, compiled or read from disk in the zygote.
        self._own: dict[str, Any] = {}

    @property
    def held(self) -> Any:
        """The list of all programs translated so far, as loops take it."""
        return self._held

    def warm_up(self) -> None:
        """Search a little in the zygote: a confined child can write no compiled loop to disk.

        Only runners of lower programs do, since those tell what the loops are.
        """
        self._keep_own()
        program = self.translate(_no_choice("int(np.argmin(a0))", self._arguments), "program")
        order = Order(0, 1, 0.0, 1, 2, 0.0, 1.0, 1.0, 1.0)
        routes, group = np.array([1, 0, 2], np.int64), np.ones(1, np.int64)
        routes.flags.writeable = False
        for arrays in _tiny_blocks(timed=self is TIMED_POSITIONS):
            search = _Search(arrays, [routes], 0)
            search.run(_nobody(), program, order, group)
            search.best_routes()
            search.named(_nobody(), order)
        self._programs, self._held = [], None

    def _keep_own(self) -> None:
        """Read this package's own programs from disk, or compile them and keep them there.

        Only the zygote does so: no text of a launch is ever looked up or kept on disk.
        """
        for source in sources(self._name, len(self._arguments), self._functions):
            self._own[source] = self._compiled(source, self._name, kept=True)

    def translate(self, source: str, name: str) -> Any:
        """Compile a guarded program, add it to :attr:`held` and return a list of it alone.

        Raises
        ------
        Untranslatable
            With numba's reason in one line.
        """
        program = self._own.get(source) or self._compiled(source, name)
        self._programs.append(program)
        if self._held is None:
            self._held = self._list(program)
        else:
            self._append(self._held, program)
        return self._list(program)

    def _compiled(self, source: str, name: str, kept: bool = False) -> Any:
        return compiled(source, name, self._arguments, self._answer, kept)

    def __call__(self, program: Any, arrays: Arrays, inputs: Sequence[IntArray]) -> Answer:
        """Let a lower program alone take a group out and insert it again."""
        order, routes, group = Order.decode(inputs[0]), inputs[1:-1], inputs[-1]
        return _Search(arrays, routes, order.seed).run(_nobody(), program, order, group.copy())

    def interpreted(
        self, program: Callable[..., Any], arrays: Arrays, inputs: Sequence[IntArray]
    ) -> Answer:
        """Say that there is no other way to run a slice."""
        raise RuntimeError("a program of the engine raised")


class UpperProgram(EngineProgram):
    """Compiles upper programs, and runs slices with them and all launched lower programs."""

    _search: "_Search | None" = None

    def warm_up(self) -> None:
        """Make this package's own programs ready; lower programs tell what the loops are."""
        self._keep_own()

    def __call__(self, program: Any, arrays: Arrays, inputs: Sequence[IntArray]) -> Answer:
        """Run a slice; or answer with the groups that a pass would repair."""
        order, routes = Order.decode(inputs[0]), inputs[1:]
        if not order.repairs:
            return _Search(arrays, routes, order.seed).named(program, order)
        if len(routes[0]) or self._search is None:
            self._search = _Search(arrays, routes, order.seed)
        lowers = TIMED_POSITIONS if READY in arrays else POSITIONS
        return self._search.run(program, lowers.held, order)


class _Search:
    """One solution under way, and what the block says of its instance."""

    def __init__(self, arrays: Arrays, routes: Sequence[IntArray], seed: int) -> None:
        self._demands = arrays["demands"]
        self._distances, home = _distances(arrays)
        self._instance = (
            self._distances,
            arrays["neighbours"],
            arrays["neighbour_distances"],
            home,
            self._demands,
            int(arrays["capacity"][0]),
        )
        self._state: State = state_for(routes[0], self._distances, self._demands, seed)
        self._times: tuple[Any, ...] = ()
        if READY in arrays:
            windows = (arrays[name] for name in (READY, "due_times", "service_times"))
            self._times = times_for(self._state, *windows)
        self._told = self._state.costs[changes.BEST]
        self._replaced = 0

    def named(self, upper: Any, order: Order) -> Answer:
        """Ask an upper program which groups a pass would repair."""
        limits = order.max_groups, order.max_size, order.progress
        return Answer([*naming.name_groups(upper, *self._instance, tuple(self._state), *limits)])

    def run(self, upper: Any, lowers: Any, order: Order, group: IntArray = NOBODY) -> Answer:
        """Make the passes of one slice; each repairs the group, if one is given."""
        choices = np.array(order.lowers, np.int64)
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
            passes.improve(
                upper,
                lowers,
                choices,
                *self._instance,
                self._times,
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


def _no_choice(answer: str, arguments: Sequence[types.Type]) -> str:
    """Return the source of a program that answers the same always."""
    names = ", ".join(f"a{place}" for place in range(len(arguments)))
    return f"def program({names}):\n    return {answer}\n"


@cache
def _nobody() -> Any:
    """Return an upper program that names no group, as loops take it."""
    return GROUPS.translate(_no_choice("np.zeros(0, np.int64)", GROUPS_ARGUMENTS), "program")


def _tiny_blocks(timed: bool) -> Iterator[Arrays]:
    """Yield two blocks of two customers: with a distance matrix, and without one."""
    arrays: dict[str, Any] = {
        "coords": np.arange(6.0).reshape(3, 2),
        "demands": np.array([0, 1, 1]),
        "capacity": np.array([2]),
        "neighbours": np.array([[1], [2], [1]]),
        "neighbour_distances": np.ones((3, 1)),
        MATRIX_NAME: np.ones((3, 3)),
        CONVENTION: np.zeros(1, np.int64),
    }
    if timed:
        windows = {READY: 0.0, "due_times": 100.0, "service_times": 0.0}
        arrays.update({name: np.full(3, time) for name, time in windows.items()})
    for array in arrays.values():
        array.flags.writeable = False
    for without in (CONVENTION, MATRIX_NAME):
        yield {name: array for name, array in arrays.items() if name != without}


def _distances(arrays: Arrays) -> tuple[Any, Any]:
    """Return the distances as loops take them, and those from the depot."""
    if CONVENTION in arrays:
        distances = (arrays["coords"], int(arrays[CONVENTION][0]))
    else:
        distances = arrays[MATRIX_NAME]
    return distances, passes.depot_row(distances, len(arrays["demands"]))


def _appended(programs: Any, program: Any) -> None:
    programs.append(program)


GROUPS = UpperProgram(
    GROUPS_ARGUMENTS, GROUPS_ANSWER, "select_customer_groups", [strings.adjacent_strings]
)
"""What runs upper programs of the engine, and with them all launched lower programs."""
POSITIONS = EngineProgram(
    POSITION_ARGUMENTS, POSITION_ANSWER, "select_position", [strings.greedy_with_blinks]
)
"""What compiles lower programs of the engine, and runs one of them alone."""
TIMED_POSITIONS = EngineProgram(
    TIMED_POSITION_ARGUMENTS, POSITION_ANSWER, "select_position", [strings.greedy_in_time]
)
"""The same for the VRPTW."""
