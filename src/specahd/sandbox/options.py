"""Find the strings of a program that are options of NumPy, and remain strings.

All others become labels (:mod:`specahd.sandbox.definition`). So no variable ever holds a
string, and no array type can be given by a variable with a string. A type given as a
literal is checked completely. Any other expression for a type can only be a class
(``np.float64``, ``float``) or the type of an array, and all arrays hold numbers or
objects.
"""

import ast
import re
import warnings
from collections.abc import Iterable, Iterator
from typing import TypeGuard

import numpy as np

from specahd.sandbox.allowed import GuardRefusal, words

_OPTIONS = {
    "bins": words("auto doane fd rice scott sqrt stone sturges"),
    "casting": words("no equiv safe same_kind unsafe"),
    "indexing": words("ij xy"),
    "kind": words("quicksort mergesort heapsort stable sort table"),
    "method": words("linear lower higher midpoint nearest hazen weibull inverted_cdf"),
    "mode": words("raise wrap clip full same valid"),
    "optimize": words("greedy optimal"),
    "ord": words("fro nuc"),
    "order": words("A C F K"),
    "side": words("left right"),
    "UPLO": words("L U"),
}
_SUBSCRIPTS = re.compile(r"[A-Za-z,.> -]*")
# An option, and its position in a function of NumPy and in a method; None: no such option there.
_POSITIONS: dict[str, tuple[str, int | None, int | None]] = {
    "einsum": ("subscripts", 0, None),
    "norm": ("ord", 1, None),
    "histogram": ("bins", 1, None),
    **dict.fromkeys(("copy", "flatten", "ravel"), ("order", 1, 0)),
    "searchsorted": ("side", 2, 1),
    "convolve": ("mode", 2, None),
    "correlate": ("mode", 2, None),
    **dict.fromkeys(("sort", "argsort"), ("kind", 2, 1)),
    "astype": ("dtype", None, 0),
    **dict.fromkeys(("array", "asarray", "ones", "zeros", "fromiter"), ("dtype", 1, None)),
    **dict.fromkeys(("identity", "ones_like", "zeros_like"), ("dtype", 1, None)),
    **dict.fromkeys(("full", "full_like"), ("dtype", 2, None)),
    **dict.fromkeys(("arange", "eye"), ("dtype", 3, None)),
    **dict.fromkeys(("cumprod", "cumsum", "mean", "prod", "std", "sum", "var"), ("dtype", 2, 1)),
}
_PASSES_ON = "apply_along_axis"
"""A function that passes its keywords to the program; ``dict`` and ``update`` store theirs."""


def numpy_options(nodes: Iterable[ast.AST], bound: frozenset[str]) -> frozenset[ast.Constant]:
    """Return the string constants of a program that remain strings.

    Parameters
    ----------
    nodes
        All nodes of the program.
    bound
        Every name that the program binds anywhere.

    Raises
    ------
    GuardRefusal
        An option of NumPy is unknown, a type is not one of numbers, or a keyword
        would become a string of the program.
    """
    calls = (node for node in nodes if isinstance(node, ast.Call))
    return frozenset(option for call in calls for option in _options_of(call, bound))


def _options_of(call: ast.Call, bound: frozenset[str]) -> Iterator[ast.Constant]:
    callee = call.func
    if isinstance(callee, ast.Attribute):
        name, of_numpy = callee.attr, is_module(callee.value)
        if call.keywords and (name in ("update", _PASSES_ON)):
            raise GuardRefusal(f"{name} takes no keywords", call)
    elif isinstance(callee, ast.Name) and callee.id not in bound:
        name, of_numpy = callee.id, False
        if call.keywords and name == "dict":
            raise GuardRefusal("dict takes no keywords", call)
        if name == "float" and len(call.args) == 1 and _is_text(call.args[0]):
            yield call.args[0]
        return
    elif call.keywords:
        raise GuardRefusal("keywords are for builtins, methods and functions of NumPy", call)
    else:
        return
    known, *places = _POSITIONS.get(name, ("", None, None))
    place = places[0 if of_numpy else 1]
    strange = []
    for position, argument in enumerate(call.args):
        for value in _texts(argument):
            if position == place:
                yield _checked(known, value)
            elif of_numpy:
                strange.append(value)
    for keyword in call.keywords:
        for value in _texts(keyword.value):
            yield _checked(keyword.arg or "", value)
    for value in strange:
        raise GuardRefusal(f"the string {value.value!r} is no option of {name}", value)


def is_module(node: ast.expr) -> bool:
    """Return whether an expression is a module that programs can use, rather than an object."""
    if isinstance(node, ast.Attribute):
        return node.attr == "linalg"
    return isinstance(node, ast.Name) and node.id in ("np", "math")


def _texts(node: ast.expr) -> Iterator[ast.Constant]:
    if isinstance(node, ast.IfExp):
        yield from (*_texts(node.body), *_texts(node.orelse))
    elif _is_text(node):
        yield node


def _is_text(node: ast.AST) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _checked(option: str, node: ast.Constant) -> ast.Constant:
    value = node.value
    assert isinstance(value, str)
    if option == "dtype":
        if not _holds_numbers(value):
            raise GuardRefusal(f"the array type {value!r} is not allowed", node)
    elif option == "subscripts":
        if not _SUBSCRIPTS.fullmatch(value):
            raise GuardRefusal(f"the subscripts {value!r} are not allowed", node)
    elif value not in _OPTIONS.get(option, ()):
        raise GuardRefusal(f"the option {value!r} is not allowed", node)
    return node


def _holds_numbers(name: str) -> bool:
    """Return whether a string names a NumPy type of numbers, as a whole and so in every part."""
    with warnings.catch_warnings(action="ignore"):
        try:
            return np.dtype(name).kind in "biufc"
        except (TypeError, ValueError, SyntaxError):
            return False
