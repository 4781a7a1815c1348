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

from specahd.routing import checks
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
class Entry:
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


def _named(owner: Any, names: str, entry: Entry) -> dict[Any, Entry]:
    return {getattr(owner, name): entry for name in names.split()}


def _methods(names: str, entry: Entry) -> dict[str, Entry]:
    return dict.fromkeys(names.split(), entry)


def _keywords(names: str) -> frozenset[str]:
    return frozenset(names.split())


_UFUNC_PAIR = Entry(ELEMENTWISE, 2)
_JUDGE = Entry(ELEMENTWISE, 2, kinds="bif")
_REDUCED = Entry(OWN_SHAPE, array=True)
_ALONG = Entry(OWN_SHAPE, keywords=_keywords("axis"), array=True)
_OF_TRUTHS = Entry(OWN_SHAPE, kinds="bif", array=True)
_MADE = Entry(SIZED, 2, _keywords("dtype"), "i")
_STACKED = Entry(JOINED, kinds="bif")

FUNCTIONS: Mapping[Any, Entry] = {
    **_named(
        np,
        "absolute fabs negative sqrt cbrt square exp exp2 expm1 log log2 log10 log1p sin cos tan "
        "arcsin arccos arctan sinh cosh tanh floor ceil rint trunc sign isnan isinf isfinite",
        Entry(ELEMENTWISE),
    ),
    **_named(np, "add subtract multiply divide maximum minimum fmax fmin hypot", _UFUNC_PAIR),
    **_named(np, "arctan2", _UFUNC_PAIR),
    **_named(np, "power floor_divide remainder", Entry(ELEMENTWISE, 2, kinds="f")),
    **_named(np, "less less_equal greater greater_equal equal not_equal", _JUDGE),
    **_named(np, "logical_and logical_or logical_xor", _JUDGE),
    **_named(np, "logical_not", Entry(ELEMENTWISE, kinds="bif")),
    **_named(np, "where", Entry(ELEMENTWISE, 3, kinds="bif", array=True)),
    **_named(np, "clip", Entry(ELEMENTWISE, 3, kinds="f", array=True)),
    **_named(np, "mean std var prod min max amin amax cumsum ptp ravel", _REDUCED),
    **_named(np, "sum", Entry(OWN_SHAPE, 2, _keywords("axis"), "bif", True)),
    **_named(np, "argmin argmax", Entry(OWN_SHAPE, 2, _keywords("axis"), "bif", True)),
    **_named(np, "any all nonzero flatnonzero argwhere count_nonzero copy", _OF_TRUTHS),
    **_named(np, "zeros_like ones_like", _OF_TRUTHS),
    **_named(np, "median", Entry(OWN_SHAPE, array=True, before=checks.ordered)),
    **_named(np, "unique", Entry(OWN_SHAPE, array=True, before=checks.ordered)),
    **_named(np, "diff sort flip", Entry(OWN_SHAPE, array=True, ndim=1)),
    **_named(np, "roll", Entry(OWN_SHAPE, 2, array=True, ndim=1)),
    **_named(np, "triu tril", Entry(OWN_SHAPE, 2, _keywords("k"), array=True, ndim=2)),
    **_named(np, "zeros ones", _MADE),
    **_named(np, "arange", Entry(SIZED, 3, kinds="i")),
    **_named(np, "eye identity", Entry(SIZED, kinds="i")),
    **_named(np, "full", Entry(SIZED, 2, kinds="bif")),
    **_named(np, "linspace", Entry(SIZED, 3, _keywords("num"))),
    **_named(np, "array asarray", Entry(JOINED, 2, _keywords("dtype"), "bif", converts=True)),
    **_named(np, "concatenate", Entry(JOINED, 2, _keywords("axis"), "bif")),
    **_named(np, "vstack hstack column_stack stack", _STACKED),
    **_named(np, "append", Entry(JOINED, 2, kinds="bif")),
    # Of one dimension: where a matrix has no column, numba compares nothing.
    **_named(np, "dot outer", Entry(LINEAR, 2, kinds="f", array=True, ndim=1)),
    # numba's own, for an array of a comprehension: stores into it are checked like others.
    length_of_iterator: Entry(ITERATED),
    empty_inferred: Entry(SIZED, kinds="i"),
    argsort: Entry("our own, of one dimension", array=True, ndim=1),
    **_named(
        math,
        "sqrt exp expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh fabs "
        "degrees radians",
        Entry(SCALAR, after=checks.finite, ndim=0),
    ),
    **_named(math, "atan2 hypot pow", Entry(SCALAR, 2, after=checks.finite, ndim=0)),
    **_named(math, "floor ceil trunc", Entry(SCALAR, before=checks.integral, ndim=0)),
    **_named(math, "isnan isinf isfinite", Entry(SCALAR, ndim=0)),
    int: Entry(SCALAR, kinds="bif", before=checks.integral, ndim=0),
    round: Entry(SCALAR, before=checks.integral, ndim=0),
    float: Entry(SCALAR, kinds="bif", ndim=0),
    bool: Entry(SCALAR, kinds="bif", ndim=0),
    abs: Entry(ELEMENTWISE),
    slice: Entry(SCALAR, 3, kinds="in", ndim=0),
    len: Entry(OWN_SHAPE, kinds="bif"),
    range: Entry(SCALAR, 3, kinds="i", ndim=0),
    min: Entry(ITERATED, 100, ndim=1),
    max: Entry(ITERATED, 100, ndim=1),
    sum: Entry(ITERATED, 2, kinds="bif", ndim=1),
    zip: Entry(ITERATED, 10, kinds="bif"),
    enumerate: Entry(ITERATED, 2, kinds="bif"),
}
"""What may be called, by the object that a name stands for: an alias changes nothing."""

ARRAY_METHODS: Mapping[str, Entry] = {
    **_methods("mean std var prod min max cumsum", Entry(OWN_SHAPE, 0)),
    **_methods("copy flatten ravel nonzero any all", Entry(OWN_SHAPE, 0, kinds="bif")),
    **_methods("sum argmin argmax", Entry(OWN_SHAPE, 1, _keywords("axis"), "bif")),
    "item": Entry(OWN_SHAPE, 0, kinds="bif"),
    "astype": Entry(OWN_SHAPE, 1, kinds="bif", converts=True),
    "clip": Entry(ELEMENTWISE, 2, kinds="f"),
    "dot": Entry(LINEAR, 1, kinds="f", ndim=1),
    "sort": Entry(OWN_SHAPE, 0, ndim=1),
}
LIST_METHODS: Mapping[str, Entry] = {
    **_methods("copy clear reverse", Entry(LISTED, 0, kinds="bif")),
    **_methods("append pop remove index count extend", Entry(LISTED, 1, kinds="bif")),
    "insert": Entry(LISTED, 2, kinds="bif"),
}
ARRAY_ATTRIBUTES = frozenset({"T", "ndim", "shape", "size"})
"""What numba computes from an array's own shape. Other attributes are modules' and methods."""
