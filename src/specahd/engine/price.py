"""Price of a lower program: the time of its operations relative to the rest of a repair.

The weights are fitted to times on instances of a hundred customers (about twenty positions each).
Operations are counted, not timed, since a count is the same on every machine.

The depth of loops does not count, since a source does not say how often a loop runs: of the nested
ones of :func:`~specahd.engine.strings.greedy_in_parts`, the outer runs once or twice, and the inner
over all positions. A program that takes long for it has ``limits.lower_call`` only. The price
decides the repairs of stored runs, so another rule would change their results.
"""

import ast
from functools import cache

_OPERATIONS = (ast.BinOp, ast.BoolOp, ast.Call, ast.Compare, ast.IfExp, ast.Subscript, ast.UnaryOp)
_LOOPS = (ast.For, ast.While, ast.comprehension)
_FREE = 2
"""Number of operations outside loops that every program makes."""
IN_LOOP, OUTSIDE, POWER = 0.0035, 0.1, 0.1
"""Shares of a repair's time: of an operation in a loop, of one on arrays, and more for a power."""


@cache
def price(source: str) -> float:
    """Return the time of a repair with a program, relative to the cheapest one; at least 1."""
    tree = ast.parse(source)
    looped = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, _LOOPS)
        for part in ast.walk(node)
        if isinstance(part, _OPERATIONS)
    }
    outside = sum(isinstance(node, _OPERATIONS) for node in ast.walk(tree)) - len(looped)
    powers = sum(isinstance(node, ast.Pow) for node in ast.walk(tree))
    return 1.0 + IN_LOOP * len(looped) + OUTSIDE * max(0, outside - _FREE) + POWER * powers
