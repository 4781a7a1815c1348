"""The price of a lower program: its operations relative to the rest of a repair.

Fitted to times of programs on instances of a hundred customers (about twenty positions each): a
count is the same on every machine, a clock is not.
"""

import ast
from functools import cache

_OPERATIONS = (ast.BinOp, ast.BoolOp, ast.Call, ast.Compare, ast.IfExp, ast.Subscript, ast.UnaryOp)
_LOOPS = (ast.For, ast.While, ast.comprehension)
_FREE = 2
"""Operations outside loops that any program makes."""
IN_LOOP, OUTSIDE, POWER = 0.0035, 0.1, 0.1
"""Shares of a repair: of an operation in a loop, of one on arrays, and of a power besides."""


@cache
def price(source: str) -> float:
    """Return how long a repair takes with a program, in those of the cheapest, at least 1."""
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
