"""Expressions that make numbers and truth values, and keywords of calls."""

from template_words import table

SCALARS: dict[str, list[tuple[float, str]]] = {
    "int": table("""
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
    "real": table("""
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
    "truth": table("""
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
}

KEYWORDS = table("""
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
