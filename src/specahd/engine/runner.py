"""Runners in the sandbox child: they compile programs and run a search slice by slice.

The module ``engine`` of a problem has the runners that its contracts name:
``GROUPS``, an :class:`UpperProgram`, and ``POSITIONS``, a :class:`LowerProgram`. A session launches
one upper program with the former and lower programs with the latter. It calls the upper program
for a slice or only for its groups, or a lower program alone for one group.
:mod:`specahd.engine.orders` describes the inputs and the answers. The forked process keeps the
translated lower programs, and the solution between slices. The block holds ``coords``,
``demands``, ``capacity`` and the distances as the problem's ``layout`` defines them, and
``neighbours`` (int64) and ``neighbour_distances`` (float64) of shape (n + 1, k), nearest first.

A program that raises gives no answer. The engine continues: the pass has no groups, or the
position is replaced and counted as invalid. A program that does not compile fails at launch, since
the interpreter would be too slow by a factor of a hundred.

The cache entry of a loop names the types that the loop was compiled for. If it named a type of
another package, it could not be read where that package is absent, and a change of that type would
not be detected. So the engine's loops have entries of their own for each such package, under a hash
of its sources too.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from inspect import getfile
from pathlib import Path
from typing import Any

import numpy as np
from numba import types

from specahd.core.answer import Answer
from specahd.core.interface import Interface
from specahd.core.loop_cache import LOOPS, keep, njit
from specahd.engine.builtin_programs import sources
from specahd.engine.orders import Order
from specahd.engine.renumbered import RenumberedSearch, search_for
from specahd.engine.searches import Search
from specahd.programs.compiled import compiled, in_list, types_of
from specahd.routing.base import IntArray

_PACKAGE = __name__.partition(".")[0]


def keep_apart(kind: type) -> None:
    """Cache this process's loops by the sources beside a class outside this package, too."""
    if kind.__module__.partition(".")[0] != _PACKAGE:
        others = sorted(Path(getfile(kind)).parent.glob("*.py"))
        for loop in LOOPS:
            keep(loop, others)


Arrays = Mapping[str, Any]


class EngineProgram:
    """Compiler of programs of one interface.

    Parameters
    ----------
    functions
        The hand-written programs.
    shipped
        As in :func:`specahd.engine.builtin_programs.sources`.
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
        # A typed list holds only addresses; this list keeps the programs alive.
        self._programs: list[Any] = []
        self._translated: Any = None
        self._functions, self._shipped = tuple(functions), shipped
        # This package's own programs by their texts, compiled or read from disk in the zygote.
        self._own: dict[str, Any] = {}

    @property
    def translated(self) -> Any:
        """Return the list of all programs translated so far, in the form for compiled loops."""
        return self._translated

    def read_own(self) -> None:
        """Read this package's own programs from disk, or compile them and store them there.

        Only the zygote does so: a launched program's source is never looked up or stored on disk.
        """
        for source in dict.fromkeys(sources(self._interface, self._functions, self._shipped)):
            self._own[source] = self._compiled(source, self._interface.name, kept=True)

    def translate(self, source: str, name: str) -> Any:
        """Compile a guarded program, add it to :attr:`translated` and return a list of it alone.

        Raises
        ------
        Untranslatable
            The program does not compile; the message is numba's reason in one line.
        """
        program = self._own.get(source) or self._compiled(source, name)
        self._programs.append(program)
        if self._translated is None:
            self._translated = self._list(program)
        else:
            self._append(self._translated, program)
        return self._list(program)

    def always(self, answer: str) -> Any:
        """Return a list of one program, which always returns the same expression.

        Parameters
        ----------
        answer
            An expression of the arguments ``a0``, ``a1`` …
        """
        names = ", ".join(f"a{place}" for place in range(len(self._interface.arguments)))
        source = f"def program({names}):\n    return {answer}\n"
        program = self._compiled(source, "program")
        self._programs.append(program)
        return self._list(program)

    def _compiled(self, source: str, name: str, kept: bool = False) -> Any:
        return compiled(source, name, self._arguments, self._answer, kept)


class UpperProgram(EngineProgram):
    """Runner of upper programs: compiles them, and runs slices with them and the lower programs.

    Parameters
    ----------
    kind
        The class of the problem's searches.
    """

    def __init__(
        self,
        kind: type[Search],
        interface: Interface,
        functions: Sequence[Callable[..., Any]],
        shipped: str | None = None,
    ) -> None:
        super().__init__(interface, functions, shipped)
        keep_apart(kind)
        self.kind = kind
        # The runner of the lower programs.
        self.lowers: LowerProgram | None = None
        self._search: Search | RenumberedSearch | None = None

    def warm_up(self) -> None:
        """Read this package's programs; :meth:`LowerProgram.warm_up` compiles the loops."""
        self.read_own()

    @cached_property
    def nobody(self) -> Any:
        """Return a program that names no group, in a list for compiled loops."""
        return self.always("np.zeros(0, np.int64)")

    def search_for(
        self, arrays: Arrays, routes: Sequence[IntArray], seed: int, *, part: bool = False
    ) -> Search | RenumberedSearch:
        """Return a search that begins at a solution, or at some of its routes."""
        return search_for(self.kind, arrays, routes, seed, part=part)

    def __call__(self, program: Any, arrays: Arrays, inputs: Sequence[IntArray]) -> Answer:
        """Run a slice; for an order without repairs, return the groups of a pass instead."""
        order, routes = Order.decode(inputs[0]), inputs[1:]
        if not order.repairs:
            return self.search_for(arrays, routes, order.seed).propose(program, order)
        if len(routes[0]) or self._search is None:
            # Frees the last search first, since its arrays may be large.
            self._search = None
            self._search = self.search_for(arrays, routes, order.seed, part=order.part)
        assert self.lowers is not None
        return self._search.run(program, self.lowers.translated, order)


class LowerProgram(EngineProgram):
    """Runner of lower programs: compiles them, and runs one of them alone.

    Parameters
    ----------
    uppers
        The runner of the upper programs of the same problem.
    function
        The hand-written program.
    """

    def __init__(
        self, uppers: UpperProgram, interface: Interface, function: Callable[..., Any]
    ) -> None:
        super().__init__(interface, [function], uppers._shipped)
        self._uppers, uppers.lowers = uppers, self

    def warm_up(self) -> None:
        """Run a short search in the zygote, since a confined child cannot write loops to disk.

        After that, loops are not compiled for other types: a call that would compile for seconds
        in each child is an error.
        """
        self.read_own()
        program = self.always("int(np.argmin(a0))")
        order = Order(0, 1, 0.0, 1, 2, 0.0, 1.0, 1.0, 1.0)
        group = np.ones(1, np.int64)
        for arrays, routes in self._uppers.kind.examples():
            for array in (*arrays.values(), *routes):
                array.flags.writeable = False
            with self._uppers.kind(arrays, routes, 0).compiling() as search:
                search.run(self._uppers.nobody, program, order, group)
                search.best_routes()
                search.propose(self._uppers.nobody, order)

    def __call__(self, program: Any, arrays: Arrays, inputs: Sequence[IntArray]) -> Answer:
        """Remove a group and insert it again with one lower program alone."""
        order, routes, group = Order.decode(inputs[0]), inputs[1:-1], inputs[-1]
        search = self._uppers.search_for(arrays, routes, order.seed)
        return search.run(self._uppers.nobody, program, order, group.copy())


def _appended(programs: Any, program: Any) -> None:
    programs.append(program)
