"""The syntax trees of program texts: each text is parsed once in a process.

All that read a program's text in this process share its tree, and none may alter it. The child that
runs a program gets its text, and parses it for itself.
"""

import ast
from functools import cache, lru_cache

from specahd.core.syntax import parse
from specahd.programs.language import MAX_SOURCE

_OPERATIONS = (ast.BinOp, ast.BoolOp, ast.Call, ast.Compare, ast.IfExp, ast.Subscript, ast.UnaryOp)
_LOOPS = (ast.For, ast.While, ast.comprehension)
_FREE = 2
"""Number of operations outside loops that every program makes."""
IN_LOOP, OUTSIDE, POWER = 0.0035, 0.1, 0.1
"""Shares of a repair's time: of an operation in a loop, of one on arrays, and more for a power."""

KEPT = 64
"""Number of trees that are kept, the last ones used. A tree takes up to some megabytes."""


def parsed(source: str) -> ast.Module:
    """Return the tree of a text, which is never altered; raises what :func:`ast.parse` raises."""
    # A longer text is no program, and what it is may be large.
    return _kept(source) if len(source) <= MAX_SOURCE else parse(source)


_kept = lru_cache(maxsize=KEPT)(parse)


def function_of(source: str) -> ast.FunctionDef:
    """Return the function that a program's text is; it is never altered.

    Raises
    ------
    ValueError
        The text is something else.
    """
    body = parsed(source).body
    if len(body) != 1 or not isinstance(body[0], ast.FunctionDef):
        raise ValueError("Expected one function.")
    return body[0]


def plain_arguments(arguments: ast.arguments) -> tuple[str, ...] | None:
    """Return the names of plain positional arguments; None if there is any other kind."""
    starred = arguments.vararg or arguments.kwarg
    if starred or arguments.posonlyargs or arguments.kwonlyargs or arguments.defaults:
        return None
    return tuple(argument.arg for argument in arguments.args)


@cache
def price(source: str) -> float:
    """Return the time of a repair with a program, relative to the cheapest one; at least 1.

    The weights are fitted to times on instances of a hundred customers (about twenty positions
    each). Operations are counted, not timed, since a count is the same on every machine. The depth
    of loops does not count, since a source does not say how often a loop runs: of the nested ones
    of :func:`~specahd.engine.strings.greedy_in_parts`, the outer runs once or twice, and the inner
    over all positions. A program that takes long for it has ``limits.lower_call`` only. The price
    decides the repairs of stored runs, so another rule would change their results.
    """
    nodes = list(ast.walk(function_of(source)))
    looped = {
        id(part)
        for node in nodes
        if isinstance(node, _LOOPS)
        for part in ast.walk(node)
        if isinstance(part, _OPERATIONS)
    }
    outside = sum(isinstance(node, _OPERATIONS) for node in nodes) - len(looped)
    powers = sum(isinstance(node, ast.Pow) for node in nodes)
    return 1.0 + IN_LOOP * len(looped) + OUTSIDE * max(0, outside - _FREE) + POWER * powers
