"""Source texts of the programs that ship with specahd: hand-written, or from a checkpoint."""

import ast
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from specahd.core.interface import Interface
from specahd.core.syntax import parse
from specahd.engine.route_ends import strings_and_ends

SHIPPED = Path(__file__).parent.parent / "checkpoints"
"""Folder of the checkpoints that ship with specahd, each under the name of its problem."""
_DRAWN = "1 + int(noise[draw] * customers)"
_NEARBY = "1 + int((10.0 * progress * customers + 2000.0 * noise[draw]) % customers)"


def moving_window(source: str) -> str:
    """Return the source of :func:`strings_and_ends` with parts of the instance in turn.

    The groups of a pass begin at customers of 2,000 consecutive numbers. This range moves with the
    progress of the search, ten times past all customers. Where numbers follow a curve, the
    customers are near each other, and the data that passes read of them stays in the near cache
    (benchmarks/notes/2026-11-24-customers-near-each-other.md).
    """
    assert source.count(_DRAWN) == 1
    return source.replace(_DRAWN, _NEARBY)


def sources(
    interface: Interface, functions: Sequence[Callable[..., Any]], shipped: str | None = None
) -> Iterator[str]:
    """Yield the source texts of this package's programs of an interface, some of them twice.

    Parameters
    ----------
    functions
        The hand-written programs.
    shipped
        The problem whose checkpoint in :data:`SHIPPED` is read, too; None for no checkpoint.
    """
    for function in functions:
        source = interface.source_of(function)
        yield source
        if function is strings_and_ends:
            yield moving_window(source)
    files = [] if shipped is None else (SHIPPED / shipped / "programs").glob("*.py")
    for file in sorted(files):
        source = file.read_text(encoding="utf-8")
        [tree] = parse(source).body
        assert isinstance(tree, ast.FunctionDef)
        names = tuple(argument.arg for argument in tree.args.args)
        if tree.name == interface.name and names == interface.names:
            yield source
