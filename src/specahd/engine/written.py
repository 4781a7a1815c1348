"""The programs that come with specahd, as texts: written by hand, or in a shipped checkpoint."""

import ast
import inspect
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from specahd.core.program import canonical_source
from specahd.core.syntax import parse

SHIPPED = Path(__file__).parent.parent / "checkpoints"
"""Where a checkpoint of each problem's name comes with specahd."""
TIMES = ("ready_times", "due_times", "earliest_starts", "latest_starts")
"""Parameters that upper programs for the VRPTW have behind ``capacity``, and others have not."""


def source_of(function: Callable[..., Any], name: str, further: Sequence[str] = ()) -> str:
    """Return the canonical source of a function of ours, under the name that programs have.

    Parameters
    ----------
    further
        Parameters that programs have behind ``capacity`` and the function has not.
    """
    [tree] = parse(inspect.getsource(function)).body
    assert isinstance(tree, ast.FunctionDef)
    tree.name = name
    if further:
        arguments = tree.args.args
        place = [argument.arg for argument in arguments].index("capacity") + 1
        arguments[place:place] = map(ast.arg, further)
    return canonical_source(tree)


def sources(
    name: str,
    parameters: int,
    functions: Sequence[Callable[..., Any]],
    further: Sequence[str] = (),
) -> Iterator[str]:
    """Yield the texts of this package's programs with so many parameters.

    Parameters
    ----------
    name
        What the programs are called.
    functions
        Those that are written by hand.
    further
        As in :func:`source_of`.
    """
    for function in functions:
        yield source_of(function, name, further)
    for file in sorted(SHIPPED.glob("*/programs/*.py")):
        source = file.read_text(encoding="utf-8")
        [tree] = parse(source).body
        assert isinstance(tree, ast.FunctionDef)
        if tree.name == name and len(tree.args.args) == parameters:
            yield source
