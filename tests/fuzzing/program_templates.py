"""What random programs are made of: templates by the kind of value that they make.

A hole is ``{kind}``, or ``{kind:label}`` if ``{label}`` repeats the text that fills it. Every
template is a weight and a text. Kinds: ``int``, ``real``, ``truth`` (scalars), ``ints``,
``reals``, ``mask`` (one axis), ``matrix`` (two axes), ``list`` (of integers), and the choices
``number``, ``array`` and ``any``.
"""


def _table(text: str) -> list[tuple[float, str]]:
    pairs = (line.split(None, 1) for line in text.strip().splitlines())
    return [(float(weight), template) for weight, template in pairs]


def _words(text: str) -> list[str]:
    return text.split()


SCALARS = ("int", "real", "truth")
ARRAYS = ("ints", "reals", "mask", "matrix")
CHOICES = {
    "number": ("int", "int", "real"),
    "array": ("ints", "reals", "reals", "mask", "matrix"),
    "any": ("int", "real", "truth", "ints", "reals", "mask", "matrix", "list"),
}

ELEMENTWISE = _words("""
    abs absolute arccos arcsin arctan arctanh cbrt ceil cos cosh degrees exp exp2 expm1 fabs
    floor log log10 log1p log2 negative positive rad2deg radians reciprocal rint sign sin sinh
    sqrt square tan tanh trunc
""")
ELEMENTWISE_OF_TWO = _words("""
    add arctan2 divide float_power floor_divide fmax fmin fmod hypot logaddexp maximum minimum
    mod multiply power remainder subtract true_divide
""")
OF_INTEGERS = _words("bitwise_and bitwise_or bitwise_xor gcd lcm floor_divide add multiply power")
COMPARISONS = _words("""
    greater greater_equal less less_equal equal not_equal logical_and logical_or logical_xor
""")
REDUCTIONS = _words("""
    amax amin max mean median min nanmax nanmean nanmin nansum prod ptp std sum var nanmedian
""")
OF_MATH = _words("""
    acos asin atan ceil cos cosh degrees erf exp expm1 fabs floor gamma lgamma log log10 log1p
    log2 radians sin sqrt tan tanh trunc
""")
OF_MATH_OF_TWO = _words("atan2 copysign fmod hypot pow gcd ldexp dist remainder")

WORDS = {
    "elementwise": ELEMENTWISE,
    "binary": ELEMENTWISE_OF_TWO,
    "integral": OF_INTEGERS,
    "comparison": COMPARISONS,
    "reduction": REDUCTIONS,
    "math": OF_MATH,
    "math_two": OF_MATH_OF_TWO,
    "arithmetic": ["+", "-", "*", "+", "-", "*", "/", "//", "%", "**"],
    "whole": ["+", "-", "*", "+", "-", "*", "//", "%", "<<", ">>", "&", "|", "^", "**"],
    "relation": ["<", "<=", ">", ">=", "==", "!="],
    "change": ["+=", "-=", "*=", "+=", "-=", "*=", "/=", "//=", "%=", "**="],
    "whole_change": ["+=", "-=", "*=", "//=", "%=", "&=", "|=", "^=", "<<=", ">>="],
    "size": ["0", "1", "2", "3", "4", "5", "8", "-1"],
    "large": ["2**31", "2**32", "2**33", "2**62", "2**63 - 1", "2**63", "2**21", "10**9"],
    "factor": ["0.5", "2.0", "0.0", "1.5", "-1.0", "1e-3", "10.0", "1e300"],
    "whole_number": ["0", "1", "2", "3", "-1", "-2", "5", "10", "100"],
}
"""Holes that one of some words fills."""

EXPRESSIONS: dict[str, list[tuple[float, str]]] = {
    "int": _table("""
        6 ({int} {whole} {whole_number})
        4 ({int} {whole} {int})
        6 len({array})
        1 len({list})
        6 {ints:a}[{int} % len({a})]
        3 {ints}[{size}]
        2 {ints}[{int}]
        4 int(np.argmin({reals}))
        4 np.argmax({reals})
        2 {reals}.argmin()
        2 {ints}.sum()
        1 np.sum({ints})
        1 {ints}.max()
        2 np.count_nonzero({mask})
        1 np.sum({mask})
        3 (int({real:a}) if abs({a}) < 1e9 else {whole_number})
        0.7 int({real})
        0.7 round({real})
        2 min({int}, {int})
        2 max({int}, {int}, {whole_number})
        2 abs({int})
        2 ({int} if {truth} else {int})
        1 -{int}
        0.5 ~{int}
        0.7 math.floor({real})
        0.5 math.gcd({int}, {int})
        0.5 math.isqrt({int})
        0.5 math.comb({int}, {size})
        0.5 math.factorial({size})
        0.5 pow({int}, {size})
        0.3 pow({int}, {size}, {int})
        0.5 divmod({int}, {int})[0]
        1 {array}.size
        1 {matrix}.shape[{size}]
        0.5 {array}.ndim
        1 sum({list})
        1 {list}[{size}]
        0.7 np.searchsorted({reals}, {real})
        0.5 np.bincount({ints})[{size}]
        0.5 np.int64({real})
        0.3 np.int32({int})
        0.6 np.dot({ints}, {ints})
        0.4 np.prod({ints})
        0.4 int({truth})
        0.4 {truth} + {truth}
        0.3 {large}
        0.3 {int} * {large}
        0.3 int('7')
        0.3 np.where({mask})[0][{size}]
        0.3 np.nonzero({mask})[0][0]
        0.3 sum([{int} for k in {ints}])
        0.3 max([k for k in {ints}])
        0.3 min(k * 2 for k in {ints})
        0.3 sorted({list})[0]
    """),
    "real": _table("""
        6 ({real} {arithmetic} {factor})
        5 ({number} {arithmetic} {number})
        4 {reals:a}[{int} % len({a})]
        2 {reals}[{size}]
        3 {matrix:a}[{int} % len({a}), {size}]
        3 {matrix}[{int}, {int}]
        1 {matrix}[{int}][{int}]
        4 np.{reduction}({reals})
        2 {reals}.mean()
        2 {reals}.sum()
        1 {reals}.std()
        1 {matrix}.max()
        1 np.{reduction}({matrix})
        0.5 np.{reduction}({array}[:0])
        0.5 {reals}[{size}:{size}].min()
        2 np.{elementwise}({real})
        1 np.{binary}({number}, {number})
        2 math.{math}({number})
        1 math.{math_two}({number}, {number})
        2 float({int})
        2 max({real}, {factor})
        2 min({number}, {number})
        2 abs({real})
        2 ({real} if {truth} else {real})
        1 ({int} / {int})
        1 ({real} // {int})
        1 ({real} % {int})
        0.5 -{real}
        0.5 np.dot({reals}, {reals})
        0.3 {reals} @ {reals}
        0.4 np.percentile({reals}, {size})
        0.4 np.quantile({reals}, 0.5)
        0.3 np.average({reals}, weights={reals})
        0.4 np.linalg.norm({reals})
        0.3 np.interp({real}, {reals}, {reals})
        0.3 np.trace({matrix})
        0.2 math.inf
        0.2 np.nan
        0.3 round({real}, {size})
        0.2 np.float32({real})
        0.3 float('inf')
    """),
    "truth": _table("""
        6 ({number} {relation} {number})
        3 ({int} {relation} {whole_number})
        1 ({real} {relation} {real})
        1 ({number} {relation} {number} {relation} {number})
        2 ({truth} and {truth})
        2 ({truth} or {truth})
        1 (not {truth})
        1 np.any({mask})
        1 {mask}.all()
        1 ({int} in {ints})
        0.5 ({int} in {list})
        0.5 ({int} in ({int}, {int}))
        0.5 np.isfinite({real})
        0.5 math.isnan({real})
        0.5 np.array_equal({array}, {array})
        0.3 np.allclose({reals}, {reals})
        0.3 bool({number})
        0.3 bool({array})
        0.3 {mask}[{size}]
        0.3 any([k > {int} for k in {ints}])
        0.3 all(k > {int} for k in {ints})
    """),
    "ints": _table("""
        4 ({ints} {whole} {whole_number})
        2 ({ints} {whole} {int})
        2 ({ints:a} {whole} {a}[::-1])
        1.5 ({ints} {whole} {ints})
        3 {ints}[{ints} % {whole_number}]
        3 {ints:a}[np.argsort({a})]
        2 np.argsort({reals})
        1 {reals}.argsort()
        2 {ints:a}[{a} > {int}]
        1 {ints}[{mask}]
        2 {ints}[{size}:]
        1 {ints}[:{int}]
        1 {ints}[::-{size}]
        1 {ints}[{size}:{size}:{size}]
        1 {ints}[{ints}]
        2 np.arange({int} % 9)
        1 np.arange({size}, {int} % 9)
        0.5 np.arange({size}, {size}, {int})
        1 np.zeros({int} % 9, dtype=np.int64)
        1 np.ones({size}, np.int64)
        0.7 np.full({size}, {int})
        0.5 np.zeros({int}, dtype=np.int64)
        1 np.sort({ints})
        1 np.cumsum({ints})
        0.7 np.diff({ints})
        1 np.where({mask}, {ints}, {ints})
        1 np.where({mask:a}, {int}, {whole_number})
        0.7 np.where({mask})[0]
        0.7 np.nonzero({mask})[0]
        0.5 np.flatnonzero({array})
        0.7 np.unique({ints})
        0.7 np.concatenate(({ints}, {ints}))
        0.5 np.append({ints}, {int})
        0.5 np.repeat({ints}, {size})
        0.4 np.roll({ints}, {size})
        0.4 np.flip({ints})
        0.5 np.{integral}({ints}, {ints})
        0.5 np.maximum({ints}, {int})
        0.4 np.clip({ints}, {int}, {int})
        0.5 {ints}.copy()
        0.5 np.array([{int}, {int}, {int}])
        0.5 np.array({list})
        0.5 {reals}.astype(np.int64)
        0.3 {mask}.astype(int)
        0.4 np.digitize({reals}, {reals})
        0.3 np.searchsorted({reals}, {reals})
        0.3 np.bincount({ints})
        0.3 np.argmin({matrix}, axis={size})
        0.3 {ints}.reshape({size})
        0.2 {ints}.reshape(-1)
        0.3 -{ints}
        0.3 ~{ints}
        0.3 abs({ints})
        0.3 np.take({ints}, {ints})
        0.3 {ints}.take({ints})
        0.3 np.array([k {whole} {int} for k in {ints}])
        0.3 np.array(sorted({ints}))
        0.3 np.setdiff1d({ints}, {ints})
        0.3 np.argpartition({reals}, {size})
        0.3 np.partition({ints}, {size})
    """),
    "reals": _table("""
        5 ({reals} {arithmetic} {number})
        4 ({reals:a} {arithmetic} {a}[::-1])
        3 ({number} {arithmetic} {reals})
        2 ({reals} {arithmetic} {reals})
        1 ({reals} {arithmetic} {ints})
        6 {matrix:a}[{int} % len({a})][{ints} % len({a})]
        4 {matrix:a}[{int} % len({a}), {ints} % len({a})]
        3 {matrix}[{int}][{ints}]
        2 {matrix}[{ints}, {ints}]
        1 {matrix}[{ints}, {int}]
        2 {matrix}[{size}]
        1 {matrix}[:, {size}]
        1 {matrix}[{int}, {size}:{size}]
        2 np.{elementwise}({reals})
        1.5 np.{binary}({reals}, {number})
        1 np.{binary}({reals}, {reals})
        2 np.where({mask}, {reals}, {reals})
        2 np.where({reals:a} > {real}, {a}, {real})
        1 {reals}[{ints}]
        1 {reals}[{mask}]
        1 {reals}[{size}:]
        1 {reals}[::-1]
        1 np.sort({reals})
        1 np.cumsum({reals})
        0.5 np.diff({reals})
        1 {matrix}.sum(axis={size})
        0.5 np.sum({matrix}, {size})
        0.5 np.mean({matrix}, axis={size})
        0.5 np.{reduction}({matrix}, axis={size})
        0.5 {matrix}.min(axis={size})
        1 np.zeros({int} % 9)
        0.5 np.ones({size})
        0.5 np.full({int} % 9, {real})
        0.5 np.zeros_like({reals})
        0.5 np.full_like({reals}, {number})
        0.5 np.linspace({real}, {real}, {size})
        0.4 np.arange({real}, {real}, {real})
        0.5 {matrix}.ravel()
        0.5 {matrix}.flatten()
        0.4 {matrix}.reshape({size})
        0.3 {matrix}.reshape(-1)
        0.3 np.reshape({matrix}, {size})
        0.3 np.diag({matrix})
        0.4 ({matrix} @ {reals})
        0.3 np.dot({matrix}, {reals})
        0.5 {ints}.astype(np.float64)
        0.3 {reals}.astype(np.float32)
        0.4 np.concatenate(({reals}, {ints}))
        0.4 np.append({reals}, {real})
        0.4 np.clip({reals}, {number}, {number})
        0.3 np.interp({reals}, {reals}, {reals})
        0.3 np.nan_to_num({reals})
        0.3 np.round({reals}, {size})
        0.3 np.repeat({reals}, {ints})
        0.3 np.roll({reals}, {int})
        0.3 np.convolve({reals}, {reals})
        0.3 -{reals}
        0.3 abs({reals})
        0.3 np.array([{real}, {number}])
        0.3 np.array([k {arithmetic} {factor} for k in {reals}])
        0.3 np.array([{real} for k in range({int} % 9)])
        0.3 {matrix}.T[{size}]
        0.3 {reals}.copy()
        0.2 {reals}.clip({number}, {number})
        0.2 np.partition({reals}, {size})
        0.2 np.take({reals}, {ints})
    """),
    "mask": _table("""
        6 ({reals} {relation} {number})
        4 ({ints} {relation} {number})
        2 ({reals:a} {relation} {a}[::-1])
        1 ({array} {relation} {array})
        1 ({mask:a} & ({a} | {a}))
        1 ({mask} & {mask})
        1 (~{mask})
        0.7 np.{comparison}({reals}, {number})
        0.5 np.{comparison}({array}, {array})
        0.5 np.logical_not({array})
        0.5 np.isfinite({reals})
        0.5 np.isnan({reals})
        0.5 np.isin({ints}, {ints})
        0.5 np.isclose({reals}, {reals})
        0.3 np.zeros({size}, dtype=np.bool_)
        0.3 np.ones({int} % 9, dtype=bool)
        0.3 (-{mask})
        0.3 ({mask} - {mask})
        0.3 ({mask} + {mask})
        0.3 {ints}.astype(np.bool_)
        0.3 np.any({matrix} > {real}, axis={size})
    """),
    "matrix": _table("""
        4 ({matrix} {arithmetic} {number})
        2 ({matrix:a} {arithmetic} {a}.T)
        1.5 ({matrix} {arithmetic} {reals})
        1 ({matrix} {arithmetic} {matrix})
        4 {matrix:a}[{ints:b} % len({a})][:, {b} % len({a})]
        2 {matrix}[{ints}]
        1 {matrix}[:, {ints}]
        1 {matrix}[{size}:, {size}:]
        1 {matrix}[::-1]
        1 {matrix}[:{size}]
        1 np.{elementwise}({matrix})
        0.7 np.{binary}({matrix}, {array})
        1 {matrix}.T
        0.5 np.transpose({matrix})
        1 {matrix}.copy()
        1 np.zeros(({size}, {size}))
        0.5 np.ones(({int} % 9, {size}))
        0.5 np.full(({size}, {size}), {real})
        0.3 np.zeros(({int}, {int}))
        0.5 np.zeros_like({matrix})
        0.5 {reals}.reshape({size}, {size})
        0.5 {reals}.reshape(({size}, -1))
        0.3 {ints}.reshape(({large}, {large}))
        0.2 np.zeros({size}).reshape({int}, {large})
        0.3 np.zeros(0).reshape((2**32, 2**32))
        0.5 np.reshape({array}, ({size}, {size}))
        0.5 {reals}[:, None]
        0.4 {reals}[None, :]
        0.5 ({reals}[:, None] {arithmetic} {reals}[None, :])
        0.4 np.expand_dims({reals}, {size})
        0.4 np.outer({reals}, {reals})
        0.4 np.where({matrix} > {real}, {matrix}, {number})
        0.3 np.vstack(({reals}, {reals}))
        0.3 np.column_stack(({reals}, {reals}))
        0.3 np.stack(({reals}, {reals}))
        0.3 np.concatenate(({matrix}, {matrix}))
        0.3 np.hstack(({matrix}, {matrix}))
        0.3 ({matrix} @ {matrix})
        0.3 np.dot({matrix}, {matrix})
        0.3 np.eye({size})
        0.3 np.tril({matrix})
        0.3 np.diag({reals})
        0.3 np.sort({matrix})
        0.2 np.broadcast_to({reals}, ({size}, {size}))
        0.2 np.array([[{real}, {real}], [{real}, {real}]])
        0.2 np.atleast_2d({reals})
        0.2 np.cumsum({matrix}, axis={size})
        0.2 np.linalg.inv({matrix})
        0.2 np.swapaxes({matrix}, {size}, {size})
        0.2 np.fliplr({matrix})
        0.2 np.kron({matrix}, {matrix})
    """),
    "list": _table("""
        3 [{int}, {int}]
        2 [{int}, {int}, {int}]
        2 list({ints})
        2 [k for k in {ints}]
        2 [k {whole} {int} for k in {ints} if k {relation} {int}]
        1 [k for k in range({int} % 9)]
        1 {list}[{size}:]
        1 {list} + {list}
        0.5 list(range({int} % 9))
        0.5 {ints}.tolist()
        0.5 sorted({list})
        0.4 [{int}] * {size}
        0.3 [{real} for k in {ints}]
        0.3 [a + b for a, b in zip({ints}, {ints})]
        0.3 [a * b for a, b in enumerate({ints})]
        0.3 list(map(int, {reals}))
        0.3 []
    """),
}

CHANGES: dict[str, list[tuple[float, str]]] = {
    "int": _table("""
        4 {own} += {int}
        2 {own} {whole_change} {int}
        1 {own} {change} {number}
    """),
    "real": _table("4 {own} {change} {number}\n1 {own} += {reals}"),
    "truth": _table("1 {own} = not {own}\n1 {own} &= {truth}\n0.5 {own} += {int}"),
    "ints": _table("""
        3 {own} += {int}
        2 {own} {whole_change} {int}
        2 {own} {whole_change} {ints}
        2 {own} {whole_change} {own}[{size}:]
        0.5 {own} {change} {reals}
        3 {own}[{size}] = {int}
        2 {own}[{int} % len({own})] += {int}
        1 {own}[{int}] = {number}
        2 {own}[{size}:] = {int}
        1 {own}[{size}:{size}] = {ints}
        1 {own}[:{size}] += {ints}
        1 {own}[{ints} % max(len({own}), 1)] = {int}
        1 {own}[{ints}] += {int}
        1 {own}[{ints}] = {ints}
        1 {own}[{mask}] = {int}
        1 {own}[{own} > {int}] -= {int}
        1 {own}[{mask}] = {ints}
        0.5 {own}.sort()
        0.5 {own}.fill({number})
        0.3 {own}[:] = {ints}
        0.3 {own}[::2] = {ints}
    """),
    "reals": _table("""
        4 {own} {change} {number}
        3 {own} {change} {reals}
        2 {own} {change} {own}[{size}:]
        1 {own} {change} {ints}
        0.5 {own} {change} {matrix}
        3 {own}[{size}] = {number}
        2 {own}[{int} % len({own})] {change} {number}
        1 {own}[{int}] = {number}
        2 {own}[{size}:] {change} {number}
        1 {own}[{size}:{size}] = {reals}
        1 {own}[:{size}] {change} {reals}
        1 {own}[{ints} % max(len({own}), 1)] = {number}
        1 {own}[{ints}] {change} {number}
        1 {own}[{ints}] = {reals}
        2 {own}[{own} > {number}] = {number}
        1 {own}[{mask}] {change} {number}
        1 {own}[{mask}] = {reals}
        0.5 {own}.sort()
        0.5 {own}.fill({number})
        0.3 {own}[:] = {reals}
        0.3 {own}[{size}] = {reals}
    """),
    "mask": _table("""
        2 {own} &= {mask}
        1 {own} |= ({own} ^ {mask})
        1 {own}[{size}] = {truth}
        1 {own}[{ints}] = {truth}
        0.5 {own} += {mask}
    """),
    "matrix": _table("""
        3 {own} {change} {number}
        2 {own} {change} {reals}
        1 {own} {change} {matrix}
        1 {own} {change} {own}.T
        2 {own}[{size}, {size}] = {number}
        1 {own}[{int}, {int}] {change} {number}
        1 {own}[{size}] = {reals}
        1 {own}[{size}] {change} {reals}
        1 {own}[:, {size}] = {reals}
        1 {own}[:, {size}] {change} {number}
        1 {own}[{size}:, :{size}] = {matrix}
        1 {own}[{ints}, {size}] = {number}
        1 {own}[{ints}] = {reals}
        0.5 {own}[{own} > {real}] = {real}
        0.5 {own}[{ints}, {ints}] = {reals}
    """),
    "list": _table("""
        4 {own}.append({int})
        2 {own}.sort()
        1 {own}.pop()
        1 {own}.pop({size})
        1 {own}.reverse()
        1 {own}.insert({size}, {int})
        1 {own}.extend({list})
        1 {own}[{size}] = {int}
        0.5 {own}.remove({int})
        0.5 {own} += {list}
        0.3 {own}[{size}:{size}] = {list}
        0.3 {own}.append({real})
    """),
}
"""Statements that change a variable in place; ``{own}`` is its name."""

FOLDS: dict[str, list[tuple[float, str]]] = {
    "int": _table("1 {own}"),
    "real": _table("4 (int({own} * 64) if abs({own}) < 1e9 else 5)\n1 int({own})\n1 round({own})"),
    "truth": _table("2 (3 if {own} else 8)\n1 int({own})\n0.5 {own}"),
    "ints": _table("3 {own}.sum()\n1 len({own})\n1 {own}[0]\n1 np.max({own})\n1 int({own}[-1])"),
    "reals": _table("""
        3 (int({own}.sum() * 64) if abs({own}.sum()) < 1e9 else 5)
        3 np.argmin({own})
        1 int(np.argmax({own}))
        1 len({own})
        1 int({own}[0])
        1 int(np.sum({own}))
    """),
    "mask": _table("2 {own}.sum()\n1 np.count_nonzero({own})\n1 len({own})"),
    "matrix": _table("""
        3 (int({own}.sum() * 64) if abs({own}.sum()) < 1e9 else 5)
        2 np.argmin({own})
        1 {own}.shape[0] * 10 + {own}.shape[1]
        1 int({own}[-1, -1])
    """),
    "list": _table("2 sum({own})\n2 len({own})\n1 {own}[0]\n1 {own}[-1]"),
}
"""Expressions that make an integer of a variable, so that it shows in the answer."""

ODD_ANSWERS = _table("""
    2 None
    1 {truth}
    1 {real}
    1 ({int}, {int})
    1 {ints}
    1 ({int} if {truth} else {truth})
    1 ({int} if {truth} else None)
    1 np.{reduction}({ints})
    1 {number}
    1 [{int}]
""")
"""Answers that are no integer, or may be none."""

KEYWORDS = _table("""
    3 axis={size}
    2 axis=None
    2 dtype={dtype}
    2 out={array}
    1 keepdims={truth}
    1 initial={number}
    1 decimals={size}
    1 side='right'
    1 kind='stable'
    1 k={size}
    1 where={mask}
""")
DTYPES = ("np.int64", "np.float64", "np.float32", "np.int32", "np.bool_", "int", "float", "bool")
WORDS["dtype"] = list(DTYPES)
