"""Expressions that make arrays and lists."""

from template_words import table

ARRAYS: dict[str, list[tuple[float, str]]] = {
    "ints": table("""
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
        0.5 np.full({size}, {number}, np.int64)
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
    "reals": table("""
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
    "mask": table("""
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
    "matrix": table("""
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
    "list": table("""
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
