"""The language of compiled programs: the functions they may call, and why each call is safe.

numba checks fewer bounds and shapes than NumPy, so a program that calls anything else
is interpreted. Every entry was checked in the source of numba 0.68 and tested with
wrong shapes and indices, huge and negative sizes, empty arrays and NaN.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba.core.inline_closurecall import length_of_iterator
from numba.np.unsafe.ndarray import empty_inferred

from specahd.routing.compiled import runtime_checks
from specahd.routing.kernels.order import argsort

ELEMENTWISE = "numba raises unless the shapes broadcast, and writes to a new array"
OWN_SHAPE = "reads one array within its own shape, into a number or a new array"
SIZED = "numba raises if a size is negative or all together are too large"
JOINED = "numba compares the shapes before it allocates the result"
LINEAR = "numba compares the inner lengths before it calls BLAS"
SCALAR = "numbers in, a number out"
ITERATED = "the iterator ends where its shortest argument ends"
LISTED = "numba compares index and length of a list, whatever its settings"


@dataclass(frozen=True, slots=True)
class CallRule:
    """Conditions under which a function may be called.

    Parameters
    ----------
    reason
        Reason why the call accesses no memory outside its arrays.
    most
        The largest number of positional arguments; the function might write to later ones.
    keywords
        The keyword arguments that are allowed.
    kinds
        Elements of its arguments: ``b`` truth values, ``i`` integers, ``f`` floats, ``n`` None.
    array
        Whether the first argument must be an array, not a number.
    ndim
        The largest number of dimensions of its arguments.
    before, after
        Checks of the first argument if it is a float or an array of them, and of the result.
    converts
        Whether it may turn floats into integers.
    views
        Whether NumPy returns a view or a copy, depending on the array's memory layout. Then the
        array must be in C order and read-only.
    """

    reason: str
    most: int = 1
    keywords: frozenset[str] = frozenset()
    kinds: str = "if"
    array: bool = False
    ndim: int = 3
    before: Any = None
    after: Any = None
    converts: bool = False
    views: bool = False


def _named(owner: Any, names: str, entry: CallRule) -> dict[Any, CallRule]:
    return {getattr(owner, name): entry for name in names.split()}


def _methods(names: str, entry: CallRule) -> dict[str, CallRule]:
    return dict.fromkeys(names.split(), entry)


def _keywords(names: str) -> frozenset[str]:
    return frozenset(names.split())


_UFUNC_PAIR = CallRule(ELEMENTWISE, 2)
_JUDGE = CallRule(ELEMENTWISE, 2, kinds="bif")
_REDUCED = CallRule(OWN_SHAPE, array=True)
_OF_TRUTHS = CallRule(OWN_SHAPE, kinds="bif", array=True)
_MADE = CallRule(SIZED, 2, _keywords("dtype"), "i", after=runtime_checks.short_axes)
_STACKED = CallRule(JOINED, kinds="bif")

FUNCTIONS: Mapping[Any, CallRule] = {
    **_named(
        np,
        "absolute fabs negative sqrt cbrt square exp exp2 expm1 log log2 log10 log1p sin cos tan "
        "arcsin arccos arctan sinh cosh tanh floor ceil rint trunc sign isnan isinf isfinite",
        CallRule(ELEMENTWISE),
    ),
    **_named(np, "add subtract multiply divide maximum minimum fmax fmin hypot", _UFUNC_PAIR),
    **_named(np, "arctan2", _UFUNC_PAIR),
    **_named(np, "power floor_divide remainder", CallRule(ELEMENTWISE, 2, kinds="f")),
    **_named(np, "less less_equal greater greater_equal equal not_equal", _JUDGE),
    **_named(np, "logical_and logical_or logical_xor", _JUDGE),
    **_named(np, "logical_not", CallRule(ELEMENTWISE, kinds="bif")),
    **_named(np, "where", CallRule(ELEMENTWISE, 3, kinds="bif", array=True)),
    # Calls of clip are replaced by our own, which compares as NumPy does, also with NaN bounds.
    **_named(np, "clip", CallRule(ELEMENTWISE, 0)),
    runtime_checks.clip: CallRule(ELEMENTWISE, 3, array=True),
    **_named(np, "mean std var prod min max amin amax cumsum ptp", _REDUCED),
    **_named(np, "ravel", CallRule(OWN_SHAPE, array=True, views=True)),
    **_named(np, "sum", CallRule(OWN_SHAPE, 2, _keywords("axis"), "bif", True)),
    **_named(np, "argmin argmax", CallRule(OWN_SHAPE, 2, _keywords("axis"), "bif", True)),
    **_named(np, "any all nonzero flatnonzero argwhere count_nonzero copy", _OF_TRUTHS),
    **_named(np, "zeros_like ones_like", _OF_TRUTHS),
    **_named(np, "median", CallRule(OWN_SHAPE, array=True, before=runtime_checks.ordered)),
    **_named(np, "unique", CallRule(OWN_SHAPE, array=True, before=runtime_checks.ordered)),
    **_named(np, "diff sort flip", CallRule(OWN_SHAPE, array=True, ndim=1)),
    **_named(np, "roll", CallRule(OWN_SHAPE, 2, array=True, ndim=1)),
    **_named(np, "triu tril", CallRule(OWN_SHAPE, 2, _keywords("k"), array=True, ndim=2)),
    **_named(np, "zeros ones", _MADE),
    **_named(np, "arange", CallRule(SIZED, 3, kinds="i")),
    **_named(np, "eye identity", CallRule(SIZED, kinds="i")),
    **_named(
        np,
        "full",
        CallRule(
            SIZED, 3, _keywords("dtype"), "bif", after=runtime_checks.short_axes, converts=True
        ),
    ),
    **_named(np, "linspace", CallRule(SIZED, 3, _keywords("num"))),
    # NumPy makes a float array of an empty list, whatever the list's type.
    **_named(
        np,
        "array asarray",
        CallRule(
            JOINED, 2, _keywords("dtype"), "bif", after=runtime_checks.occupied, converts=True
        ),
    ),
    **_named(np, "concatenate", CallRule(JOINED, 2, _keywords("axis"), "bif")),
    **_named(np, "vstack hstack column_stack stack", _STACKED),
    **_named(np, "append", CallRule(JOINED, 2, kinds="bif")),
    # One dimension only: for a matrix without columns, numba compares no lengths.
    **_named(np, "dot outer", CallRule(LINEAR, 2, kinds="f", array=True, ndim=1)),
    # numba's own functions for arrays of comprehensions; stores into these are checked too.
    length_of_iterator: CallRule(ITERATED),
    empty_inferred: CallRule(SIZED, kinds="i", after=runtime_checks.occupied),
    argsort: CallRule("our own, of one dimension", array=True, ndim=1),
    runtime_checks.next_step: CallRule(SCALAR, kinds="i", ndim=0),
    **_named(
        math,
        "sqrt exp expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh fabs "
        "degrees radians",
        CallRule(SCALAR, after=runtime_checks.finite, ndim=0),
    ),
    **_named(math, "atan2 hypot pow", CallRule(SCALAR, 2, after=runtime_checks.finite, ndim=0)),
    **_named(math, "floor ceil trunc", CallRule(SCALAR, before=runtime_checks.integral, ndim=0)),
    **_named(math, "isnan isinf isfinite", CallRule(SCALAR, ndim=0)),
    int: CallRule(SCALAR, kinds="bif", before=runtime_checks.integral, ndim=0),
    round: CallRule(SCALAR, before=runtime_checks.integral, ndim=0),
    float: CallRule(SCALAR, kinds="bif", ndim=0),
    bool: CallRule(SCALAR, kinds="bif", ndim=0),
    abs: CallRule(ELEMENTWISE),
    slice: CallRule(SCALAR, 3, kinds="in", ndim=0),
    len: CallRule(OWN_SHAPE, kinds="bif"),
    range: CallRule(SCALAR, 3, kinds="i", after=runtime_checks.short_range, ndim=0),
    min: CallRule(ITERATED, 100, ndim=1),
    max: CallRule(ITERATED, 100, ndim=1),
    sum: CallRule(ITERATED, 2, kinds="bif", ndim=1),
    zip: CallRule(ITERATED, 10, kinds="bif"),
    enumerate: CallRule(ITERATED, 2, kinds="bif"),
}
"""Rules by the called object, not by its name, so that an alias makes no difference."""

ARRAY_METHODS: Mapping[str, CallRule] = {
    **_methods("mean std var prod min max cumsum", CallRule(OWN_SHAPE, 0)),
    **_methods("copy flatten nonzero any all", CallRule(OWN_SHAPE, 0, kinds="bif")),
    "ravel": CallRule(OWN_SHAPE, 0, kinds="bif", views=True),
    **_methods("sum argmin argmax", CallRule(OWN_SHAPE, 1, _keywords("axis"), "bif")),
    "item": CallRule(OWN_SHAPE, 0, kinds="bif"),
    "astype": CallRule(OWN_SHAPE, 1, kinds="bif", converts=True),
    "clip": CallRule(ELEMENTWISE, 0),
    "dot": CallRule(LINEAR, 1, kinds="f", ndim=1),
    "sort": CallRule(OWN_SHAPE, 0, ndim=1),
}
LIST_METHODS: Mapping[str, CallRule] = {
    **_methods("copy clear reverse", CallRule(LISTED, 0, kinds="bif")),
    **_methods("append pop extend", CallRule(LISTED, 1, kinds="bif")),
    **_methods(
        "remove index count", CallRule(LISTED, 1, kinds="bif", before=runtime_checks.comparable)
    ),
    "insert": CallRule(LISTED, 2, kinds="bif"),
}
ARRAY_ATTRIBUTES = frozenset({"T", "ndim", "shape", "size"})
"""Attributes of arrays that depend on their shape. Other attributes are of modules, or methods."""
