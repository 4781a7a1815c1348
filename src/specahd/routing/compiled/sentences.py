"""Rules of the compiled language as sentences of a prompt; the names come from the language."""

import builtins
import math
from collections.abc import Iterable
from types import ModuleType
from typing import Any

import numpy as np

from specahd.routing.compiled.language import ARRAY_METHODS, FUNCTIONS, LIST_METHODS


def _names(module: ModuleType, of: Iterable[Any]) -> str:
    """Return the sorted names of those functions that belong to a module."""
    functions = list(of)
    names = sorted({getattr(each, "__name__", "") for each in functions})
    known = vars(module)
    return ", ".join(
        name
        for name in names
        # An alias has another function's name.
        if getattr(known.get(name), "__name__", "") == name
        and any(known[name] is each for each in functions)
    )


RULES: tuple[str, ...] = (
    "The function is compiled by numba; a program that does not compile is worth nothing. Of the "
    "names above, it may use these alone. "
    f"np: {_names(np, FUNCTIONS)}, argsort (of one array), and the types int64, float64 "
    "and bool_. "
    f"math: {_names(math, FUNCTIONS)}, and constants. "
    f"Builtins: {_names(builtins, FUNCTIONS)}. "
    f"Methods of arrays: {', '.join(sorted(ARRAY_METHODS))}; "
    f"of lists: {', '.join(sorted(LIST_METHODS))}.",
    "Every variable keeps one type from its first line on, and has a value on every path: an "
    "integer, a float, a truth value, an array of these of 1 to 3 dimensions, or a list or tuple "
    "of them. No sets, dicts or strings, no lambda, no isinstance, no sort keys, no starred "
    "arguments, no <<, and >> by a constant alone. An integer beyond 2**53 raises, also a product "
    "on the way to a remainder.",
    "Loops over the entries of arrays are as fast as operations on whole arrays. An array is "
    "indexed by integers, slices, one array of integers or one mask, and a matrix never by a mask.",
)
