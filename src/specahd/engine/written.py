"""The programs that come with specahd, as texts: written by hand, or in a shipped checkpoint."""

import ast
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from specahd.core.program import canonical_source
from specahd.core.syntax import parse
from specahd.engine.schedule import on_short_routes

SHIPPED = Path(__file__).parent.parent / "checkpoints"
"""Where a checkpoint of each problem's name comes with specahd."""
BETTER: Mapping[str, Callable[[Any], bool]] = {"vrptw": on_short_routes}
"""By problem, on which instances it is better than the programs by hand (docs/benchmarks.md)."""


def source_of(function: Callable[..., Any], name: str) -> str:
    """Return the canonical source of a function of ours, under the name that programs have."""
    [tree] = parse(inspect.getsource(function)).body
    assert isinstance(tree, ast.FunctionDef)
    tree.name = name
    return canonical_source(tree)


def sources(
    name: str,
    parameters: int,
    functions: Sequence[Callable[..., Any]],
) -> Iterator[str]:
    """Yield the texts of this package's programs with so many parameters, some of them twice.

    Parameters
    ----------
    name
        What the programs are called.
    functions
        Those that are written by hand.
    """
    for function in functions:
        yield source_of(function, name)
    files = (file for problem in BETTER for file in (SHIPPED / problem / "programs").glob("*.py"))
    for file in sorted(files):
        source = file.read_text(encoding="utf-8")
        [tree] = parse(source).body
        assert isinstance(tree, ast.FunctionDef)
        if tree.name == name and len(tree.args.args) == parameters:
            yield source
