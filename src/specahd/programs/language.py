"""The language of generated programs: the table that guard, compiler and prompts follow.

Every program may use the first part. Programs that numba compiles may use the second part alone:
numba checks fewer bounds and shapes than NumPy. Every entry of it was checked in the source of
numba 0.68 and tested with wrong shapes and indices, huge and negative sizes, empty arrays and NaN.
The sentences of prompts come last. The forked children import this module, so it imports neither
NumPy nor numba.
"""

import ast
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


MAX_SOURCE = 20_000
"""The longest source of a program, in characters."""
MAX_NODES = 6_000
MAX_DEPTH = 60
MAX_STRING = 200
MAX_INTEGER = 2**64 - 1

BUILTINS = words(
    """
    abs all any bool dict divmod enumerate filter float frozenset int isinstance iter len list map
    max min next pow range reversed round set slice sorted sum tuple zip
    """
)
"""Builtins in the namespace of a program; it has no others."""

MATH = frozenset(name for name in vars(math) if not name.startswith("_")) - words("fma sumprod")
"""Attributes of ``math``: pure functions and constants, all that Python 3.11 has."""

LINALG = words(
    "cond det eig eigh eigvals eigvalsh inv lstsq matrix_power matrix_rank norm pinv solve svd"
)
"""Attributes of ``np.linalg``."""

NUMPY = words(
    """
    abs absolute add all allclose amax amin any append apply_along_axis arange arccos arccosh arcsin
    arcsinh arctan arctan2 arctanh argmax argmin argpartition argsort argwhere around array
    array_equal array_split asarray ascontiguousarray astype atleast_1d atleast_2d average bincount
    bitwise_and bitwise_or bitwise_xor block bool_ broadcast_arrays broadcast_to cbrt ceil choose
    clip column_stack compress concatenate convolve copy copyto corrcoef correlate cos cosh
    count_nonzero cov cross cumprod cumsum deg2rad degrees delete diag diag_indices diagflat
    diagonal diff digitize divide divmod dot dsplit dstack e ediff1d einsum equal exp exp2
    expand_dims expm1 extract eye fabs fill_diagonal flatnonzero flip fliplr flipud float32 float64
    float_power floating floor floor_divide fmax fmin fmod fromiter full full_like gcd geomspace
    gradient greater greater_equal heaviside histogram histogram2d hsplit hstack hypot identity
    indices inf inner insert int32 int64 int_ integer interp intersect1d intp invert isclose
    isfinite isin isinf isnan ix_ kron lcm less less_equal lexsort linspace log log10 log1p log2
    logaddexp logical_and logical_not logical_or logical_xor logspace mask_indices matmul max
    maximum mean median meshgrid min minimum mod moveaxis multiply nan nan_to_num nanargmax
    nanargmin nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd
    nansum nanvar ndim negative newaxis nonzero not_equal number ones ones_like outer partition
    percentile pi place polyfit polyval positive power prod ptp put putmask quantile rad2deg radians
    ravel ravel_multi_index reciprocal remainder repeat reshape resize rint roll rollaxis rot90
    round row_stack searchsorted select setdiff1d setxor1d shape sign signbit sin sinc sinh size
    sort split sqrt square squeeze stack std subtract sum swapaxes take take_along_axis tan tanh
    tensordot tile trace transpose trapezoid tri tril tril_indices triu triu_indices true_divide
    trunc union1d unique unravel_index unwrap vander var vdot vsplit vstack where zeros zeros_like
    """
)
"""Attributes of ``np``: no randomness, no files, no uninitialised memory, no settings."""

METHODS = words(
    """
    T all any argmax argmin argpartition argsort astype clip cumprod cumsum diagonal dot dtype fill
    flat flatten item max mean min ndim nonzero partition prod ravel repeat reshape round
    searchsorted shape size squeeze std sum swapaxes take tolist trace transpose var
    accumulate at outer reduce reduceat
    append clear copy count extend index insert pop remove reverse sort
    fromkeys get items keys popitem setdefault update values
    add difference difference_update discard intersection intersection_update isdisjoint issubset
    issuperset symmetric_difference symmetric_difference_update union
    bit_length is_integer start step stop
    """
)
"""Attributes of every other object: arrays, ufuncs, lists, dicts, sets, numbers, ranges."""

NODES = (
    *(ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Assign, ast.AugAssign, ast.For),
    *(ast.While, ast.If, ast.Assert, ast.Expr, ast.Pass, ast.Break, ast.Continue, ast.BoolOp),
    *(ast.BinOp, ast.UnaryOp, ast.Lambda, ast.IfExp, ast.Dict, ast.Set, ast.ListComp, ast.SetComp),
    *(ast.DictComp, ast.GeneratorExp, ast.comprehension, ast.Compare, ast.Call, ast.keyword),
    *(ast.Constant, ast.Attribute, ast.Subscript, ast.Slice, ast.Starred, ast.Name, ast.List),
    *(ast.Tuple, ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop),
)
"""Kinds of syntax nodes of a program."""

RULED_OUT: Mapping[str, tuple[str, tuple[type[ast.AST], ...]]] = {
    "nested functions": ("nested functions are not allowed", ()),
    "classes": ("classes are not allowed", (ast.ClassDef,)),
    "recursion": ("recursion is not allowed", ()),
    "try": ("try is not allowed", (ast.Try,)),
    "raise": ("raise is not allowed", (ast.Raise,)),
    "with": ("with is not allowed", (ast.With,)),
    "del": ("del is not allowed", (ast.Delete,)),
    "match": ("match is not allowed", (ast.Match,)),
    "yield": ("generator functions are not allowed", (ast.Yield, ast.YieldFrom)),
    "global": ("global is not allowed", (ast.Global,)),
    "nonlocal": ("nonlocal is not allowed", (ast.Nonlocal,)),
    ":=": ("assignment expressions are not allowed", (ast.NamedExpr,)),
    "f-strings": ("f-strings are not allowed", (ast.JoinedStr,)),
}
"""What prompts rule out by name, with the guard's sentence and the kinds of syntax nodes."""
REASONS: Mapping[type[ast.AST], str] = {
    ast.Import: "imports are not allowed",
    ast.ImportFrom: "imports are not allowed",
    ast.AsyncFunctionDef: "asynchronous code is not allowed",
    ast.AnnAssign: "annotations are not allowed",
    **{kind: reason for reason, kinds in RULED_OUT.values() for kind in kinds},
}
"""The guard's sentences for kinds of syntax nodes; others are named by their class."""

REDUCTIONS = words("all any max mean min prod std sum var")
"""Functions that may have the keyword where without out."""
MAKERS = words("array asarray astype copy full full_like ones ones_like zeros zeros_like")
"""Functions and methods that return a new array."""
READERS = {
    **dict.fromkeys(words("all any dict enumerate frozenset iter len list"), 1),
    **dict.fromkeys(words("reversed set sorted sum tuple"), 1),
    **dict.fromkeys(words("filter map zip"), 9),
}
"""Builtins that read their first arguments and store none, with the number of these arguments."""
READING_METHODS = words(
    """
    difference difference_update extend fromiter fromkeys intersection intersection_update
    isdisjoint issubset issuperset symmetric_difference symmetric_difference_update union update
    """
)
"""Methods that read their first argument and store no view of it."""

OPTIONS = {
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
"""Strings that are options of NumPy, by keyword."""
POSITIONS: dict[str, tuple[str, int | None, int | None]] = {
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
"""An option, and its position in a function of NumPy and in a method; None: no such option."""


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
        Checks of the first argument if it is a float or an array of them, and of the result: names
        of functions in :mod:`specahd.programs.runtime`.
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
    before: str = ""
    after: str = ""
    converts: bool = False
    views: bool = False


def _each(names: str, rule: CallRule) -> dict[str, CallRule]:
    return dict.fromkeys(names.split(), rule)


_UFUNC_PAIR = CallRule(ELEMENTWISE, 2)
_JUDGE = CallRule(ELEMENTWISE, 2, kinds="bif")
_REDUCED = CallRule(OWN_SHAPE, array=True)
_OF_TRUTHS = CallRule(OWN_SHAPE, kinds="bif", array=True)
_MADE = CallRule(SIZED, 2, words("dtype"), "i", after="short_axes")
_STACKED = CallRule(JOINED, kinds="bif")

COMPILED_NUMPY: Mapping[str, CallRule] = {
    **_each(
        "absolute fabs negative sqrt cbrt square exp exp2 expm1 log log2 log10 log1p sin cos tan "
        "arcsin arccos arctan sinh cosh tanh floor ceil rint trunc sign isnan isinf isfinite",
        CallRule(ELEMENTWISE),
    ),
    **_each("add subtract multiply divide maximum minimum fmax fmin hypot", _UFUNC_PAIR),
    "arctan2": _UFUNC_PAIR,
    **_each("power floor_divide remainder", CallRule(ELEMENTWISE, 2, kinds="f")),
    **_each("less less_equal greater greater_equal equal not_equal", _JUDGE),
    **_each("logical_and logical_or logical_xor", _JUDGE),
    "logical_not": CallRule(ELEMENTWISE, kinds="bif"),
    "where": CallRule(ELEMENTWISE, 3, kinds="bif", array=True),
    # Calls of clip are replaced by our own, which compares as NumPy does, also with NaN bounds.
    "clip": CallRule(ELEMENTWISE, 0),
    **_each("mean std var prod min max amin amax cumsum ptp", _REDUCED),
    "ravel": CallRule(OWN_SHAPE, array=True, views=True),
    "sum": CallRule(OWN_SHAPE, 2, words("axis"), "bif", True),
    **_each("argmin argmax", CallRule(OWN_SHAPE, 2, words("axis"), "bif", True)),
    **_each("any all nonzero flatnonzero argwhere count_nonzero copy", _OF_TRUTHS),
    **_each("zeros_like ones_like", _OF_TRUTHS),
    "median": CallRule(OWN_SHAPE, array=True, before="ordered"),
    "unique": CallRule(OWN_SHAPE, array=True, before="ordered"),
    **_each("diff sort flip", CallRule(OWN_SHAPE, array=True, ndim=1)),
    "roll": CallRule(OWN_SHAPE, 2, array=True, ndim=1),
    **_each("triu tril", CallRule(OWN_SHAPE, 2, words("k"), array=True, ndim=2)),
    **_each("zeros ones", _MADE),
    "arange": CallRule(SIZED, 3, kinds="i"),
    **_each("eye identity", CallRule(SIZED, kinds="i")),
    "full": CallRule(SIZED, 3, words("dtype"), "bif", after="short_axes", converts=True),
    "linspace": CallRule(SIZED, 3, words("num")),
    # NumPy makes a float array of an empty list, whatever the list's type.
    **_each(
        "array asarray",
        CallRule(JOINED, 2, words("dtype"), "bif", after="occupied", converts=True),
    ),
    "concatenate": CallRule(JOINED, 2, words("axis"), "bif"),
    **_each("vstack hstack column_stack stack", _STACKED),
    "append": CallRule(JOINED, 2, kinds="bif"),
    # One dimension only: for a matrix without columns, numba compares no lengths.
    **_each("dot outer", CallRule(LINEAR, 2, kinds="f", array=True, ndim=1)),
}
COMPILED_MATH: Mapping[str, CallRule] = {
    **_each(
        "sqrt exp expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh fabs "
        "degrees radians",
        CallRule(SCALAR, after="finite", ndim=0),
    ),
    **_each("atan2 hypot pow", CallRule(SCALAR, 2, after="finite", ndim=0)),
    **_each("floor ceil trunc", CallRule(SCALAR, before="integral", ndim=0)),
    **_each("isnan isinf isfinite", CallRule(SCALAR, ndim=0)),
}
COMPILED_BUILTINS: Mapping[str, CallRule] = {
    "int": CallRule(SCALAR, kinds="bif", before="integral", ndim=0),
    "round": CallRule(SCALAR, before="integral", ndim=0),
    "float": CallRule(SCALAR, kinds="bif", ndim=0),
    "bool": CallRule(SCALAR, kinds="bif", ndim=0),
    "abs": CallRule(ELEMENTWISE),
    "slice": CallRule(SCALAR, 3, kinds="in", ndim=0),
    "len": CallRule(OWN_SHAPE, kinds="bif"),
    "range": CallRule(SCALAR, 3, kinds="i", after="short_range", ndim=0),
    "min": CallRule(ITERATED, 100, ndim=1),
    "max": CallRule(ITERATED, 100, ndim=1),
    "sum": CallRule(ITERATED, 2, kinds="bif", ndim=1),
    "zip": CallRule(ITERATED, 10, kinds="bif"),
    "enumerate": CallRule(ITERATED, 2, kinds="bif"),
}
"""Rules of the functions of ``np``, of ``math`` and of the builtins, by their own names."""

COMPILED_ARRAY_METHODS: Mapping[str, CallRule] = {
    **_each("mean std var prod min max cumsum", CallRule(OWN_SHAPE, 0)),
    **_each("copy flatten nonzero any all", CallRule(OWN_SHAPE, 0, kinds="bif")),
    "ravel": CallRule(OWN_SHAPE, 0, kinds="bif", views=True),
    **_each("sum argmin argmax", CallRule(OWN_SHAPE, 1, words("axis"), "bif")),
    "item": CallRule(OWN_SHAPE, 0, kinds="bif"),
    "astype": CallRule(OWN_SHAPE, 1, kinds="bif", converts=True),
    "clip": CallRule(ELEMENTWISE, 0),
    "dot": CallRule(LINEAR, 1, kinds="f", ndim=1),
    "sort": CallRule(OWN_SHAPE, 0, ndim=1),
}
COMPILED_LIST_METHODS: Mapping[str, CallRule] = {
    **_each("copy clear reverse", CallRule(LISTED, 0, kinds="bif")),
    **_each("append pop extend", CallRule(LISTED, 1, kinds="bif")),
    **_each("remove index count", CallRule(LISTED, 1, kinds="bif", before="comparable")),
    "insert": CallRule(LISTED, 2, kinds="bif"),
}
COMPILED_ARRAY_ATTRIBUTES = frozenset({"T", "ndim", "shape", "size"})
"""Attributes of arrays that depend on their shape. Other attributes are of modules, or methods."""


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


*_OTHERS, _LAST = RULED_OUT
RULES: tuple[str, ...] = (
    "One function, deterministic, without memory between calls: no random module, clock, files "
    "or output. Your own seeded generator is fine.",
    "math is there, and nearly all of np that makes, computes with, sorts, searches or combines "
    "arrays (also ix_, tolist, @, np.add.reduceat), np.linalg.norm, solve, eigh and svd; not "
    "np.random, np.empty, np.vectorize or other modules. Lists, dicts and sets have all methods.",
    f"Builtins: {_listed(BUILTINS)}; no others.",
    f"No {', '.join(_OTHERS)} or {_LAST}. Comprehensions, lambdas and "
    "conditional expressions are fine.",
    "where= of np needs out= with a new array.",
    "Arrays that are arguments are read-only; copy what you change.",
    f"It is ASCII, of at most {MAX_SOURCE:,} characters and {MAX_NODES:,} nodes of ast.walk.",
)
"""The language of all programs as sentences of a prompt."""
COMPILED_RULES: tuple[str, ...] = (
    "The function is compiled by numba; a program that does not compile is worth nothing. Of the "
    "names above, it may use these alone. "
    f"np: {_listed(COMPILED_NUMPY)}, argsort (of one array), and the types int64, float64 "
    "and bool_. "
    f"math: {_listed(COMPILED_MATH)}, and constants. "
    f"Builtins: {_listed(COMPILED_BUILTINS)}. "
    f"Methods of arrays: {_listed(COMPILED_ARRAY_METHODS)}; "
    f"of lists: {_listed(COMPILED_LIST_METHODS)}.",
    "Every variable keeps one type from its first line on, and has a value on every path: an "
    "integer, a float, a truth value, an array of these of 1 to 3 dimensions, or a list or tuple "
    "of them. No sets, dicts or strings, no lambda, no isinstance, no sort keys, no starred "
    "arguments, no <<, and >> by a constant alone. An integer beyond 2**53 raises, also a product "
    "on the way to a remainder.",
    "Loops over the entries of arrays are as fast as operations on whole arrays. An array is "
    "indexed by integers, slices, one array of integers or one mask, and a matrix never by a mask.",
)
"""The narrower language of programs that numba compiles."""


class GuardRefusal(Exception):
    """A program breaks a rule; the message names the rule and the line of the syntax node."""

    def __init__(self, rule: str, node: ast.AST | None = None) -> None:
        line = getattr(node, "lineno", None)
        super().__init__(f"Line {line}: {rule}." if line else f"{rule[0].upper()}{rule[1:]}.")
