"""What the sandbox child calls: one slice of a search, its programs compiled, its state kept.

The module that a :class:`~specahd.engine.family.Family` names has what runs its programs:
``GROUPS``, an :class:`UpperProgram`, and ``POSITIONS``, a :class:`LowerProgram`. A session launches
one upper program under the former and lower programs under the latter, and calls the upper one for
a slice, or for the groups that it names; or a lower one alone, for one group.
:mod:`specahd.engine.orders` has the inputs and the answers. Everything stays in this forked
process: the translated lower programs, and between slices the solution. The block holds
``coords``, ``demands``, ``capacity`` and the distances as the problem's ``layout`` has them,
and ``neighbours`` and ``neighbour_distances``, of integers and floats of 64 bits and of shape
(n + 1, k), nearest first.

A program that raises has answered nothing: the engine goes on without it, and counts it among
what was mended. One that does not compile fails at launch, since the interpreter would be too
slow by a factor of a hundred.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numba import njit, types

from specahd.core.answer import Answer
from specahd.core.interface import Interface
from specahd.engine.family import Family
from specahd.engine.foreign_loops import keep_beside
from specahd.engine.orders import Order
from specahd.engine.renumbered import RenumberedSearch, search_for
from specahd.engine.searches import Search
from specahd.engine.written import sources
from specahd.routing.base import IntArray
from specahd.routing.compiled.runner import compiled, in_list, types_of
from specahd.routing.distances import CONVENTION, MATRIX

Arrays = Mapping[str, Any]


class EngineProgram:
    """Compiles programs of one interface.

    Parameters
    ----------
    functions
        Programs that are written by hand.
    shipped
        As :func:`specahd.engine.written.sources` takes it.
    """

    def __init__(
        self,
        interface: Interface,
        functions: Sequence[Callable[..., Any]],
        shipped: str | None = None,
    ) -> None:
        self._interface = interface
        self._arguments, self._answer = types_of(interface)
        function = types.FunctionType(self._answer(*self._arguments))
        self._list = njit(types.ListType(function)(function), cache=True)(in_list)
        self._append = njit(types.void(types.ListType(function), function), cache=True)(_appended)
        # A list holds addresses; the programs themselves must live on.
        self._programs: list[Any] = []
        self._translated: Any = None
        self._functions, self._shipped = tuple(functions), shipped
        # This package's own programs by their texts, compiled or read from disk in the zygote.
        self._own: dict[str, Any] = {}

    @property
    def translated(self) -> Any:
        """The list of all programs translated so far, as loops take it."""
        return self._translated

    def read_own(self) -> None:
        """Read this package's own programs from disk, or compile them and keep them there.

        Only the zygote does so: no text of a launch is ever looked up or kept on disk.
        """
        for source in dict.fromkeys(sources(self._interface, self._functions, self._shipped)):
            self._own[source] = self._compiled(source, self._interface.name, kept=True)

    def translate(self, source: str, name: str) -> Any:
        """Compile a guarded program, add it to :attr:`translated` and return a list of it alone.

        Raises
        ------
        Untranslatable
            With numba's reason in one line.
        """
        program = self._own.get(source) or self._compiled(source, name)
        self._programs.append(program)
        if self._translated is None:
            self._translated = self._list(program)
        else:
            self._append(self._translated, program)
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
    """Compiles upper programs of a problem, and runs slices with them and the lower programs.

    Parameters
    ----------
    family
        The problem's.
    kind
        The class of its searches.
    """

    def __init__(
        self,
        family: Family,
        kind: type[Search],
        interface: Interface,
        functions: Sequence[Callable[..., Any]],
    ) -> None:
        super().__init__(interface, functions, family.name if family.evolved else None)
        keep_beside(kind)
        self.family, self.kind = family, kind
        # The lower programs beside them.
        self.lowers: LowerProgram | None = None
        self._search: Search | RenumberedSearch | None = None

    def warm_up(self) -> None:
        """Parse the programs of this package; the lower programs determine the loops."""
        self.read_own()

    @cached_property
    def nobody(self) -> Any:
        """A program that names no group, as loops take it."""
        return self.always("np.zeros(0, np.int64)")

    def search_for(
        self, arrays: Arrays, routes: Sequence[IntArray], seed: int, *, part: bool = False
    ) -> Search | RenumberedSearch:
        """Return a search that begins at a solution, or at some of its routes."""
        return search_for(self.kind, arrays, routes, seed, parted=self.family.parted, part=part)

    def __call__(self, program: Any, arrays: Arrays, inputs: Sequence[IntArray]) -> Answer:
        """Run a slice; or answer with the groups that a pass would repair."""
        order, routes = Order.decode(inputs[0]), inputs[1:]
        if not order.repairs:
            return self.search_for(arrays, routes, order.seed).propose(program, order)
        if len(routes[0]) or self._search is None:
            # The last one's arrays may be large.
            self._search = None
            self._search = self.search_for(arrays, routes, order.seed, part=order.part)
        assert self.lowers is not None
        return self._search.run(program, self.lowers.translated, order)


class LowerProgram(EngineProgram):
    """Compiles lower programs of a problem, and runs one of them alone.

    Parameters
    ----------
    uppers
        What runs the upper programs beside them.
    function
        The program that is written by hand.
    """

    def __init__(
        self, uppers: UpperProgram, interface: Interface, function: Callable[..., Any]
    ) -> None:
        super().__init__(interface, [function], uppers._shipped)
        self._uppers, uppers.lowers = uppers, self

    def warm_up(self) -> None:
        """Search a little in the zygote: a confined child can write no compiled loop to disk.

        From then on the loops are compiled for no other types: what would take seconds in each
        child is an error.
        """
        self.read_own()
        program = self.always("int(np.argmin(a0))")
        order = Order(0, 1, 0.0, 1, 2, 0.0, 1.0, 1.0, 1.0)
        group = np.ones(1, np.int64)
        both, routes = self._uppers.kind.example()
        for array in (*both.values(), *routes):
            array.flags.writeable = False
        for without in (CONVENTION, MATRIX):
            arrays = {name: array for name, array in both.items() if name != without}
            with self._uppers.kind(arrays, routes, 0).compiling() as search:
                search.run(self._uppers.nobody, program, order, group)
                search.best_routes()
                search.propose(self._uppers.nobody, order)

    def __call__(self, program: Any, arrays: Arrays, inputs: Sequence[IntArray]) -> Answer:
        """Let a lower program alone take a group out and insert it again."""
        order, routes, group = Order.decode(inputs[0]), inputs[1:-1], inputs[-1]
        search = self._uppers.search_for(arrays, routes, order.seed)
        return search.run(self._uppers.nobody, program, order, group.copy())


def _appended(programs: Any, program: Any) -> None:
    programs.append(program)
