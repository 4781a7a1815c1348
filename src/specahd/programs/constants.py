"""The constants of a program: the numbers in its text that can be tuned, and the text with others.

Left as they are: whole numbers that are or equal an index, the size of an array, a factor (mostly
of an index), the divisor of a remainder, a power or an argument given by name; 0 and 1; floats for
nearly 0 or infinity.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from specahd.core.program import canonical_source
from specahd.core.syntax import parse

FACTOR = 2
"""How many times larger or smaller a constant may become."""
_SIZES = ("arange", "empty", "full", "ones", "range", "zeros")
_TINY, _HUGE = 1e-6, 1e5
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Constant:
    """A number of a program, and the range in which it is tuned; ``whole`` ones stay integers."""

    value: float
    low: float
    high: float
    whole: bool


def constants(source: str) -> list[Constant]:
    """Return the constants of a program that can be tuned, in the order of its text."""
    found = []
    for _, value in _tunable(parse(source)):
        low = max(1, value // FACTOR) if isinstance(value, int) else value / FACTOR
        found.append(Constant(value, low, FACTOR * value, isinstance(value, int)))
    return found


def with_constants(source: str, values: Sequence[float]) -> str:
    """Return a program with other constants, one for each of :func:`constants`."""
    tree = parse(source)
    for (node, present), value in zip(_tunable(tree), values, strict=True):
        node.value = type(present)(value)
    [function] = tree.body
    assert isinstance(function, ast.FunctionDef)
    return canonical_source(function)


def rounded(value: float) -> float:
    """Return a value with as many digits as a person would write."""
    return float(f"{value:.{_DIGITS}g}")


def _tunable(tree: ast.Module) -> list[tuple["ast.Constant", float]]:
    """Return the nodes of the constants with their values, in the order of the text."""
    held = {value for part in _structure(tree) for _, value in _numbers(part)}
    found = [
        (node, value)
        for node, value in _numbers(tree)
        if (value > 1 and value not in held if isinstance(value, int) else _TINY < value < _HUGE)
    ]
    return sorted(found, key=lambda one: (one[0].lineno, one[0].col_offset))


def _structure(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a program whose whole numbers are not a matter of degree."""
    for node in ast.walk(tree):
        match node:
            case ast.Subscript():
                yield node.slice
            case ast.BinOp(op=ast.Mod() | ast.Pow()):
                yield node.right
            case ast.BinOp(op=ast.Mult(), left=left, right=right):
                yield from (each for each in (left, right) if isinstance(each, ast.Constant))
            case ast.keyword():
                yield node.value
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in _SIZES:
                yield from node.args


def _numbers(tree: ast.AST) -> Iterator[tuple["ast.Constant", float]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            value: object = node.value
            if isinstance(value, int | float) and not isinstance(value, bool):
                yield node, value
