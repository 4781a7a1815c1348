"""The names that a generated program may use, and the guard's refusal."""

import ast
import math


class GuardRefusal(Exception):
    """A program breaks a rule; the message names the rule and the line of the syntax node."""

    def __init__(self, rule: str, node: ast.AST | None = None) -> None:
        line = getattr(node, "lineno", None)
        super().__init__(f"Line {line}: {rule}." if line else f"{rule[0].upper()}{rule[1:]}.")


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


MAX_SOURCE = 20_000
"""The longest source of a program, in characters."""

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
    array_equal array_split asarray astype atleast_1d atleast_2d average bincount bitwise_and
    bitwise_or bitwise_xor block bool_ broadcast_arrays broadcast_to cbrt ceil choose clip
    column_stack compress concatenate convolve copy copyto corrcoef correlate cos cosh count_nonzero
    cov cross cumprod cumsum deg2rad degrees delete diag diag_indices diagflat diagonal diff
    digitize divide divmod dot dsplit dstack e ediff1d einsum equal exp exp2 expand_dims expm1
    extract eye fabs fill_diagonal flatnonzero flip fliplr flipud float32 float64 float_power
    floating floor floor_divide fmax fmin fmod fromiter full full_like gcd geomspace gradient
    greater greater_equal heaviside histogram histogram2d hsplit hstack hypot identity indices inf
    inner insert int32 int64 int_ integer interp intersect1d intp invert isclose isfinite isin isinf
    isnan ix_ kron lcm less less_equal lexsort linspace log log10 log1p log2 logaddexp logical_and
    logical_not logical_or logical_xor logspace mask_indices matmul max maximum mean median meshgrid
    min minimum mod moveaxis multiply nan nan_to_num nanargmax nanargmin nancumsum nanmax nanmean
    nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar ndim negative newaxis
    nonzero not_equal number ones ones_like outer partition percentile pi place polyfit polyval
    positive power prod ptp put putmask quantile rad2deg radians ravel ravel_multi_index reciprocal
    remainder repeat reshape resize rint roll rollaxis rot90 round row_stack searchsorted select
    setdiff1d setxor1d shape sign signbit sin sinc sinh size sort split sqrt square squeeze stack
    std subtract sum swapaxes take take_along_axis tan tanh tensordot tile trace transpose trapezoid
    tri tril tril_indices triu triu_indices true_divide trunc union1d unique unravel_index unwrap
    vander var vdot vsplit vstack where zeros zeros_like
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
    issuperset symmetric_difference union
    bit_length is_integer start step stop
    """
)
"""Attributes of every other object: arrays, ufuncs, lists, dicts, sets, numbers, ranges."""
