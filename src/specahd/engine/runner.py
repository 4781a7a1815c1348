"""What the sandbox child calls: one slice of a search, its programs compiled, its state kept.

A session launches one upper program under :data:`GROUPS` and lower programs under
:data:`POSITIONS` (for the SDVRP :data:`SPLIT_POSITIONS`; for the VRPTW :data:`TIMED_GROUPS` and
:data:`TIMED_POSITIONS`, for the TSP :data:`TOUR_GROUPS` and :data:`TOUR_POSITIONS`), and calls the
upper one for a slice, or for the groups that it names; or a lower one alone, for one group.
:mod:`specahd.engine.orders` has the inputs and the answers. Everything stays in this forked
process: the translated lower programs, and between slices the solution. The block holds
``coords``, ``demands``, ``capacity`` and the distances as the problem's ``layout`` has them,
and ``neighbours`` and ``neighbour_distances``, of integers and floats of 64 bits and of shape
(n + 1, k), nearest first; for the VRPTW also the windows.

A program that raises has answered nothing: the engine goes on without it, and counts it among
what was mended. One that does not compile fails at launch, since the interpreter would be too
slow by a factor of a hundred.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numba import njit, types

from specahd.core.answer import Answer
from specahd.core.interface import Interface
from specahd.engine import interfaces, route_ends, strings, timed_strings, tour_strings
from specahd.engine.capacitated import Loads
from specahd.engine.deliveries import Parts
from specahd.engine.orders import Order
from specahd.engine.renumbered import search_for
from specahd.engine.searches import DEMANDS, READY, Search
from specahd.engine.timed import Times
from specahd.engine.tours import Tour
from specahd.engine.written import sources
from specahd.routing.base import IntArray
from specahd.routing.compiled.runner import compiled, in_list, types_of
from specahd.routing.distances import CONVENTION, MATRIX

Arrays = Mapping[str, Any]

_LOWERS: dict[type, "LowerProgram"] = {}
"""What compiles lower programs, by :attr:`Search.own`."""


class EngineProgram:
    """Compiles programs of one interface.

    Parameters
    ----------
    functions
        Programs that are written by hand.
    """

    def __init__(self, interface: Interface, functions: Sequence[Callable[..., Any]]) -> None:
        self._interface = interface
        self._arguments, self._answer = types_of(interface)
        function = types.FunctionType(self._answer(*self._arguments))
        self._list = njit(types.ListType(function)(function), cache=True)(in_list)
        self._append = njit(types.void(types.ListType(function), function), cache=True)(_appended)
        # A list holds addresses; the programs themselves must live on.
        self._programs: list[Any] = []
        self._held: Any = None
        self._functions = tuple(functions)
        # This package's own programs by their texts, compiled or read from disk in the zygote.
        self._own: dict[str, Any] = {}

    @property
    def held(self) -> Any:
        """The list of all programs translated so far, as loops take it."""
        return self._held

    def read_own(self) -> None:
        """Read this package's own programs from disk, or compile them and keep them there.

        Only the zygote does so: no text of a launch is ever looked up or kept on disk.
        """
        for source in dict.fromkeys(sources(self._interface, self._functions)):
            self._own[source] = self._compiled(source, self._interface.name, kept=True)

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

    def always(self, answer: str) -> Any:
        """Return a program that answers the same always, in a list of it alone.

        Parameters
        ----------
        answer
            An expression of the arguments ``a0``, ``a1`` …
        """
        names = ", ".join(f"a{place}" for place in range(len(self._arguments)))
        source = f"def program({names}):\n    return {answer}\n"
        program = self._compiled(source, "program")
        self._programs.append(program)
        return self._list(program)

    def _compiled(self, source: str, name: str, kept: bool = False) -> Any:
        return compiled(source, name, self._arguments, self._answer, kept)

    def interpreted(
        self, program: Callable[..., Any], arrays: Arrays, inputs: Sequence[IntArray]
    ) -> Answer:
        """Say that there is no other way to run a slice."""
        raise RuntimeError("a program of the engine raised")


class UpperProgram(EngineProgram):
    """Compiles upper programs, and runs slices with them and all launched lower programs."""

    _search: Search | None = None

    def warm_up(self) -> None:
        """Make this package's own programs ready; lower programs tell what the loops are."""
        self.read_own()

    @cached_property
    def nobody(self) -> Any:
        """A program that names no group, as loops take it."""
        return self.always("np.zeros(0, np.int64)")

    def __call__(self, program: Any, arrays: Arrays, inputs: Sequence[IntArray]) -> Answer:
        """Run a slice; or answer with the groups that a pass would repair."""
        order, routes = Order.decode(inputs[0]), inputs[1:]
        if not order.repairs:
            return search_for(arrays, routes, order.seed).propose(program, order)
        if len(routes[0]) or self._search is None:
            # The last one's arrays may be large.
            self._search = None
            self._search = search_for(arrays, routes, order.seed, part=order.part)
        return self._search.run(program, _LOWERS[self._search.own].held, order)


class LowerProgram(EngineProgram):
    """Compiles lower programs, and runs one of them alone.

    Parameters
    ----------
    uppers
        What runs the upper programs beside them.
    function
        The program that is written by hand.
    own
        Of searches with them (:attr:`Search.own`).
    """

    def __init__(
        self,
        uppers: UpperProgram,
        interface: Interface,
        function: Callable[..., Any],
        own: type,
    ) -> None:
        super().__init__(interface, [function])
        self._uppers, self._own_type = uppers, own
        _LOWERS[own] = self

    def warm_up(self) -> None:
        """Search a little in the zygote: a confined child can write no compiled loop to disk.

        From then on the loops are compiled for no other types: what would take seconds in each
        child is an error.
        """
        self.read_own()
        program = self.always("int(np.argmin(a0))")
        order = Order(0, 1, 0.0, 1, 2, 0.0, 1.0, 1.0, 1.0)
        group = np.ones(1, np.int64)
        for arrays, routes in _tiny(self._own_type):
            with search_for(arrays, routes, 0).compiling() as search:
                search.run(self._uppers.nobody, program, order, group)
                search.best_routes()
                search.propose(self._uppers.nobody, order)

    def __call__(self, program: Any, arrays: Arrays, inputs: Sequence[IntArray]) -> Answer:
        """Let a lower program alone take a group out and insert it again."""
        order, routes, group = Order.decode(inputs[0]), inputs[1:-1], inputs[-1]
        search = search_for(arrays, routes, order.seed)
        return search.run(self._uppers.nobody, program, order, group.copy())


def _tiny(own: type) -> Iterator[tuple[Arrays, list[IntArray]]]:
    """Yield two blocks of two customers: with a distance matrix, and without one."""
    arrays: dict[str, Any] = {
        "coords": np.arange(6.0).reshape(3, 2),
        "neighbours": np.array([[1], [2], [1]]),
        "neighbour_distances": np.ones((3, 1)),
        MATRIX: np.ones((3, 3)),
        CONVENTION: np.zeros(1, np.int64),
    }
    routes = [np.array([2, 1] if own is Tour else [1, 0, 2])]
    if own is not Tour:
        arrays.update({DEMANDS: np.array([0, 1, 1]), "capacity": np.array([2])})
    if own is Parts:
        routes.append(np.array([1, 0, 1]))
    if own is Times:
        windows = {READY: 0.0, "due_times": 100.0, "service_times": 0.0}
        arrays.update({name: np.full(3, time) for name, time in windows.items()})
    for array in (*arrays.values(), *routes):
        array.flags.writeable = False
    for without in (CONVENTION, MATRIX):
        yield {name: array for name, array in arrays.items() if name != without}, routes


def _appended(programs: Any, program: Any) -> None:
    programs.append(program)


GROUPS = UpperProgram(interfaces.GROUPS, [strings.adjacent_strings, route_ends.strings_and_ends])
"""What runs upper programs of the engine, and with them all launched lower programs."""
POSITIONS = LowerProgram(GROUPS, interfaces.POSITIONS, strings.greedy_with_blinks, Loads)
"""What compiles lower programs of the engine, and runs one of them alone."""
TIMED_GROUPS = UpperProgram(interfaces.TIMED_GROUPS, [timed_strings.strings_in_time])
"""The same for the VRPTW as :data:`GROUPS`."""
TIMED_POSITIONS = LowerProgram(
    TIMED_GROUPS, interfaces.TIMED_POSITIONS, strings.greedy_in_time, Times
)
"""The same for the VRPTW as :data:`POSITIONS`."""
SPLIT_POSITIONS = LowerProgram(GROUPS, interfaces.SPLIT_POSITIONS, strings.greedy_in_parts, Parts)
"""The same for the SDVRP as :data:`POSITIONS`."""
TOUR_GROUPS = UpperProgram(interfaces.TOUR_GROUPS, [tour_strings.neighbouring_strings])
"""The same for the TSP as :data:`GROUPS`."""
TOUR_POSITIONS = LowerProgram(
    TOUR_GROUPS, interfaces.TOUR_POSITIONS, tour_strings.greedy_with_blinks, Tour
)
"""The same for the TSP as :data:`POSITIONS`."""
