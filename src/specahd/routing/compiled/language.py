"""The language of compiled programs: all that they may call, each with the reason why it is safe.

numba looks at fewer bounds and shapes than NumPy, so whatever is not listed
here is interpreted. Every entry was read in numba 0.68 and tried out with
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
    """How something may be called.

    Parameters
    ----------
    reason
        Why the call stays inside its arrays.
    most
        The largest number of positional arguments: what comes after might be written to.
    keywords
        The keywords it may have.
    kinds
        What its arguments hold: ``b`` truth values, ``i`` integers, ``f`` floats, ``n`` None.
    array
        Whether the first argument must be an array, not a number.
    ndim
        The largest number of dimensions of its arguments.
    before, after
        Checks of the first argument if it is a float or an array of them, and of the result.
    converts
        Whether it may turn floats into integers.
    views
        Whether NumPy answers with a view or a copy, as the array lies in memory: then it must be
        one of C order that nobody writes to.
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
    # What calls clip by name calls ours, which compares as NumPy does also where bounds are NaN.
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
    # NumPy makes floats of an empty list, whatever it might hold.
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
    # Of one dimension: where a matrix has no column, numba compares nothing.
    **_named(np, "dot outer", CallRule(LINEAR, 2, kinds="f", array=True, ndim=1)),
    # numba's own, for an array of a comprehension: stores into it are checked like others.
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
"""What may be called, by the object that a name stands for: an alias changes nothing."""

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
"""What numba computes from an array's own shape. Other attributes are modules' and methods."""
