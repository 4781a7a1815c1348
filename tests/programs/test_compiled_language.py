"""Compiled programs stay inside their arrays, and answer as Python does or raise.

Every program is run compiled and by Python on arrays that lie between canaries. What a program
comes to is written beside it: it is not compiled since the language does not have what it says, it
raises when compiled, or both answer the same.
"""

from functools import cache, partial

import numpy as np
import pytest
from numba import njit, types

from specahd.programs.compiled import (
    MATRIX,
    NUMBER,
    REALS,
    VECTOR,
    Untranslatable,
    compiled,
    in_list,
)
from specahd.programs.definition import define

pytestmark = pytest.mark.integration

ARGUMENTS = (NUMBER, NUMBER, VECTOR, REALS, MATRIX)
CANARY = 12345

NOT_COMPILED = """
t = np.zeros(n); t[t > n] = m.copy(); return n
t = np.zeros(n); t[v[v > 9]] = m[:1, :4]; return n
t = np.zeros(n); t[1:] = m[:1, :3]; return n
t = m.copy(); t[n] = m[:1]; return n
return np.clip(n, 0, 2)
return f[0].clip(0, 2) > 1
g = np.clip; return int(g(f, 0.2, 0.5).sum() * 10)
t = -m - 1.5; t //= f[0] / z; return int(t[0, 0])
return int((~((v > 1) + (f > 0.5)[:5])).sum())
return int((~((v > 1) * (f > 0.5)[:5])).sum())
x = [(i, b) for i, b in enumerate(f)]; x[9] = (n, 0.5); return n
x = [b for b in f]; t = m.copy(); t[9] = x[0]; return n
return n >> z
t = v.copy(); t >>= 1; return int(t[0])
return n << 2
return n >> 64
return int((v >> 1)[0])
return int((m @ f[:3])[0])
return int(np.dot(np.zeros((2, 0)), m).sum())
g = lambda x: x + n; return g(z)
g = lambda x: m[x, 99]; y = g(z); return z
x = m[n, 99]; y = [i for i in v if i > 1]; return y[0]
t = f.copy(); t *= t[3:]; return [i for i in v if i > 1][0]
x = f[:3] + f[:2]; return np.array([i for i in v])[0]
x = int(f[0] / 0); return [i for i in v if i > 1][0]
x = np.empty((n - 5, 2)); return [i for i in v if i > 1][0]
y = None; return n if y else z
return len(np.zeros(z, np.int64).reshape((2 ** 32, 2 ** 32)))
return int(np.full(3, f[0], np.int64)[0])
return int(np.full(3, np.nan, dtype=np.int64)[0])
return int(np.full(3, 7, np.int32)[0])
a = np.zeros(z, np.int64).reshape((2 ** 32, 2 ** 32)); a[n, n] = 1; return z
return len(np.reshape(v, (2 ** 32, 2 ** 32)))
return v.take(n + 10 ** 6)
return np.take(v, n)
return len(np.repeat(v, n))
return v.repeat(n).size
return np.bincount(v)[0]
return np.searchsorted(f, 0.5)
return int(np.partition(f, n)[0])
return int(np.argpartition(f, n)[0])
return v.size + np.sqrt(np.ones(3), np.ones(2)).size
a = np.ones(3); b = np.ones(2); np.add(a, a, b); return z
g = np.add; a = np.ones(3); b = np.ones(2); g(a, a, b); return z
g = np.sqrt; b = np.ones(2); g(np.ones(3), out=b); return z
np.add(np.ones(3), np.ones(3), out=np.ones(2)); return z
return int(np.sum(np.ones(3), z, np.float64))
np.copyto(np.zeros(2), np.ones(3)); return z
a = np.diag(m); a[0] = 5.0; return z
np.fill_diagonal(m, 1.0); return z
np.put(v, v, v); return z
np.add.at(v, [0], 1); return z
v.sort(); return z
a = m.T; a[0, 0] = 5.0; return z
a = v.ravel(); a[0] = 5; return z
v += 1; return z
for row in m:
    row[0] = 1.0
return z
return v.flat[99]
a = [1, 2, 3] * ((2 ** 64 + 2) // 3 - 2 ** 63 + n - 4); return len(a)
a = [n] * n; return len(a)
s = np.zeros(3); s += np.ones((3, 1)); return z
s = np.arange(3); s += 1.5; return z
s = np.arange(3); s /= 2; return z
s = np.arange(3); s //= z; return z
return int(m[n, np.array([True, False])][0])
s = m.copy(); s[0, v > 0] = 1.0; return z
return int(m[..., n, v][0])
return len(np.broadcast_to(v, (n, 5)))
return len(np.delete(v, 99))
return int(np.interp(0.5, f, f[:3]))
return len(np.histogram(f, v)[0])
return int(np.trapezoid(f))
return v.view(np.int32)[0]
return len(v.astype(np.int32))
return int(np.array([1, 2], np.uint8)[0])
return n << n
return v[0] >> n
return int(np.convolve(f, f)[0])
return len(np.stack((f, f), n))
return len({1, 2, n})
return len({1: n})
s = [1, 2, 3]; return len(np.array([s.pop() for x in s]))
if n > 4:
    x = 1
return x
for i in range(z):
    x = i
return x
return n if z else n > 2
return True + (n > 2)
return int(((v > 1) - (v > 2))[0])
return int((-(v > 1))[0])
return int((v ** (z - 1))[0])
return int((v ** v)[0])
return int((v // v)[0])
return isinstance(n, int) + 1
return len(*[v])
return 2 ** 60 + n
return len(range(n, 2 ** 63 - 1, 2 ** 61))
s = np.arange(3); s[0] = f[0] / z; return s[0]
x = [np.zeros(n), np.ones(n)]; x.pop(0); x.append(np.ones(n)); x[0][0] = 5.0; return int(x[1][0])
x = [f * i for i in v]; x.clear(); return len(x)
x = [[1], [2]]; x[0:0] = [[9]]; return x[0][0] + x[1][0]
x = [(1, v)]; x[0:1] = [(2, v)]; return x[0][0]
x = [v if n > z else None]; return len(x)
x = [1, 2, 3]; x[1:1] = x; return x[1]
x = [1, 2, 3]; x[::-1] = x; return x[0]
x = [(1, 0.5)]; return x.index((1, 0.5))
t = f.copy(); s = t[::1]; r = s.ravel(); r[0] = 9.0; return int(t[0])
t = m[::2].T * 2; r = np.ravel(t); r[0] = 9.0; return int(t[0, 0])
r = m[1:2, :3].ravel(); r[0] = 9.0; return int(r[0])
return int(np.array([[n, z], [z, n]]).sum())
"""
RAISES = """
return int(v[np.array([1, 2, 3][8:])].sum()) + n
return int(v[np.array([i for i in range(z)])].sum()) + n
return int(m[3:, 6:][np.arange(4)].sum()) + n
return int(m[v + 9, 2:2].sum()) + n
return int(m[4:n, v + 9].sum()) + n
t = m[3:, 6:].copy(); t[np.arange(4)] = 0.0; return n
t = m.copy(); t[v + 9, 2:2] = 0.0; return n
x = m[n, 99]; return n if bool(z) else z
x = m[n, 99]; return n if n > z else z
return len(np.zeros((2 ** 40, 2 ** 40)))
return len(np.zeros((z, 2 ** 40, 2 ** 40))) + len(np.zeros(z - 1))
return len(np.full((n, -n), 1.0))
return len(np.ones(n - 5))
return len(np.linspace(0, 1, z - 1))
return len(np.arange(n, n + 5, z))
t = m[0].copy(); t += m[0, v[:2]]; return int(t[5])
t = m[0].copy(); t[:] += np.ones(2); return int(t[5])
t = np.zeros((3, 3)); t += np.ones(2); return int(t.sum())
t = np.ones(3); t *= np.ones(4); return z
t = np.ones(3); t -= t[:2]; return z
t = (v * 1.0); t[1:] += t[:-1]; return int(t[4])
t = np.zeros(3); t[0:2] = np.ones(3); return z
t = np.zeros(3); t[v[:2] - 1] = np.ones(3); return z
t = np.zeros(3); t[v] = 1.0; return z
t = np.zeros((3, 3)); t[1:] = np.ones(2); return z
t = np.zeros(3); t[np.array([True, False])] = 1.0; return z
t = np.zeros(3); t[np.array([True, False, True, True, True])] = 1.0; return z
t = np.ones(3); return int(t[np.array([True, False])][0])
t = np.ones(3); return int(t[v > 0][0])
return int(m[v, v[:2]][0])
return int(m[v + 3][0, 0])
t = m.copy(); t[v[v > 9], 8] = 1.0; return z
return len(m[v[v > 9], -7])
return len(m[n + 4, v[:0]])
return int(f[n + 5]) + int(m[-7, 0])
return int((f + np.ones(5))[0])
return int((f * 2 + np.ones(5) * f[:3])[0])
return int(np.minimum(f, f[:3])[0])
return int(np.where(f > 0.5, f, np.ones(3))[0])
return int(np.dot(f, f[:3]))
return int(np.concatenate((m, m[:, :3]))[0, 0])
return int(np.column_stack((f, f[:3]))[0, 0])
return int(np.argmin(f[:0]))
return int(f[:0].max())
return int(max(f[:0]))
x = [1]; x.pop(); return x.pop()
x = [1, 2]; return x[n]
x = (1, 2, 3); return x[n]
a, b = v; return a
return n // z
return n % z
return int(n / z > 0)
return int(1.0 / (m[2, 3] + z) > 0)
return int(f[0] / 0 * 0)
return int(math.sqrt(-n) > 0)
return int(math.log(z) < 0)
return int(math.exp(1000 * n) > 0)
return int(10.0 ** (n * 100) > 0)
return int((z - 8.0) ** (1 / 3) == 2.0)
return int(2 ** (z - 1) == 0)
return int(n * 10 ** 15 * 10 ** 3 * 10 < 0)
return int((n + 2 ** 50) * (n + 2 ** 50) < 0)
return math.floor(f[0] / 0)
return round(f[0] / 0)
return int((f / 0).astype(np.int64)[0] < 0)
return int(np.median(f / 0 * 0) > 0)
t = 1
for i in range(70):
    t = t + t
return int(t > 0)
t = np.array([3, 0, 2, 1]); t[t] = 1; return t[0]
t = np.array([3, 0, 2, 1]); t[t[::-1]] = 0; return t[3]
t = np.zeros((6, 6), np.int64); t[t[0], n] = 5; return t[0, n]
t = np.zeros((6, 6), np.int64); t[n, t[:, n]] = 5; return t[n, 0]
k = np.zeros((3, 3)) > 0; k[0, 1] = True; k[k[0]] = True; return int(k.sum())
k = v > 1; k[k[::-1]] = False; return int(k.sum())
t = m.copy(); t *= t[:, :1]; return int(t.sum())
t = m.copy(); t += t[0]; return int(t.sum())
return len(np.zeros((z, 2 ** 60)))
return len(np.ones((z, n * 2 ** 40), np.int64))
return len(np.full((z, 2 ** 50, 2 ** 50), 1.0))
a = [np.nan, 1.0]; return int(np.nan in a)
a = ((f / 0)[0] * 0, 1.0); return int(a[0] in a)
a = [np.nan, 1.0]; return a.count(np.nan)
t = m.copy(); t[:, 3] = t[1]; return int(t.sum())
t = m.copy(); t[1] = t[:, 3]; return int(t.sum())
t = m.copy(); t[1, 2:] = t[1, 1:-1]; return int(t.sum())
t = m.copy(); t[n, v] = t[n, 1:]; return int(t.sum())
t = np.zeros((n, 3, 5)); t[:, 1, 2] = t[1, 1, 2:3]; return int(t.sum())
"""
SAME = """
t = m.copy(); t[v[:2]] = m[:2]; t[n, v] = v * 2.0; t[1:] = f; return int(t.sum() * 10)
t = m.copy(); t[1:, n] = f[1:]; t[1:3] = t[3:5] * 2; r = t[n]; r[r > 1] = 0.5; return int(9 * r[2])
x = (f / 0)[0] * 0; return int(f.clip(x, 0.5)[0] > 0) + int(np.clip(f, 0.2, x)[0] > 0) * 2
x = np.clip(f, 0.9, 0.1); x += np.clip(m, f, 0.5)[n]; return int(x.sum() * 10)
x = np.clip(f / 0 * 0, 0.2, 0.5)[0]; return int(x > 0) + int(np.clip(v, 0.5, 2.5).sum() * 10)
x = np.clip(v, 1, n); return int(x.sum()) * 10 + x[0]
t = n * 100; t >>= 3; return t
return (n * -12345 >> 3) + (n >> 63) + (-n >> 1) + ((n * 2654435761 >> 16) & 255)
return len(np.zeros((n, -z), np.int64))
t = np.full(n + 1, z, np.int64); t[0] = 7; return int(t.sum())
t = np.full((2, n), z > 0, dtype=np.bool_); return int(t.sum())
return int(10 * np.full(3, z, np.float64).sum()) + int(np.full(2, n + 1, np.bool_).sum())
t = m[0].copy(); t += m[1]; t *= 2; t -= f; return int(10 * t.sum())
t = np.zeros((3, 3)); t += np.ones(3); t += 1; t *= t; return int(t.sum())
t = np.zeros(6); t[v[:2]] = 3.0; t[t > 1] += f[:2]; return int(10 * t.sum())
t = (v * 1.0); t[1:] = t[:-1]; return int(t[4])
return v[::-2][0] + v[10 ** 15 :: -(2 ** 50)][0]
return int((v // 0)[0] + (v % 0)[0]) + int((f / 0)[0] > 1) + int((f // 0)[0] > 1)
return n // -3 + n % -3 + -7 // n + int(-7.5 % n) + int(7.5 // -n)
return int(m[0, 0] / 3 * 100) + int(f[0] ** 2 * 100) + n ** 3
return int(np.argmin(np.array([1.0, np.nan, 0.5]))) + int(np.argmax(f / (f * 0)))
return int(max(f[0] / (f[1] - 2) * 0 + 1, 0.5) > 0) + max(n, z, 7) + min([n, z])
x = [1, 2, 3]; x.insert(n * 100, 5); x.insert(-n * 100, 6); x.append(n); return x[0] + x[-1] * 10
t = 0
for i, (a, b) in enumerate(zip(v, f)):
    t += i * a + int(b * 10)
return t + sum(v) + int(sum(f))
order = np.argsort(f); return int(order[0]) + int(f.argmin())
order = np.argsort(np.arange(n * 10) % 3 * 0.5); return int((order * np.arange(n * 10)).sum())
t = np.array([2.0, 3.0, -2.0, -2.0]); return int(np.argsort(t * n)[0])
best = None
where = z
for i in range(n):
    if best is None or f[i] < best:
        best = f[i]
        where = i
return where
t = np.array([f[i] * 2 for i in range(n)]); return int(10 * t.sum()) + [i for i in v if i > 1][0]
t = f.copy(); t *= m[0]; return [i for i in v if i > 1][0] + int(t.sum() * 10)
t = [f[i] * 2 for i in range(n) if i != z]; return int(10 * max(t))
unused = z / n; return n if n > z else z
t = np.array([3, 0, 2, 1]); t[np.argsort(t)] = 5; t[t > n] = v[:4]; return int(t.sum())
t = m.copy(); t[v[::-1], v] = t[v, n]; t[:, v[:2]] += 1; return int(t.sum() * 10)
t = m.copy(); t *= t; t += m; k = t[::-1] > n; k &= k; k |= m > 0; return int(t.sum() * 10)
t = m.copy(); t[:, 3] = t[:, 2]; t[1] = t[3]; t[n] = f; t[:, 1] *= t[:, 5]; return int(t.sum() * 10)
t = m.copy(); t[1] += t[3]; t[1:, 2] += 1; t[v, n] = t[n, 1:] * 2; return int(t.sum() * 10)
t = m.copy(); r = t.T.flatten(); r[0] = 9.0; s = t[:, 1].flatten(); s += r[:6]; return int(s.sum())
return int(m[v][:, v].sum() * 10 + m[v, 1:].sum() + m[:, v - 1].sum() + m[n, v].sum() * 9)
return int(m.ravel()[7] * 10 + np.ravel(m[1:3]).sum() * 10) + v.ravel()[n]
return int(f[0] in f) + int((f / 0)[1] * 0 in f / 0) + int(n in (z, n)) + [0.5, 1.5].index(1.5)
x = [1, 2, 3]; x += x; x.extend(x); x.insert(1, x.pop(0)); x.remove(3); return len(x) + sum(x[3:8])
x = [(1, 0.5), (2, 1.5)]; x.pop(0); x.append((3, f[1])); x[0] = x[1]; x.reverse(); return x[1][0]
x = [3, 1, 2]
for i in x:
    if i > 1 and len(x) < 9:
        x.append(i - 1)
        x.pop(0)
return len(x) * 10 + x[0]
a = f.copy(); b = f * 2; t = (a, b)
for i in range(n):
    a, b = b, a + i
    c = t[i % 2]
    t = (b, c)
return int(t[0].sum() * 10 + t[1].sum() + a.sum())
return np.concatenate((v, np.array([n])))[5] + int(np.triu(m, 2).sum() * 10) + len(np.unique(v))
"""
ENDLESS = """
while n > z:
    z = 0
return n
for i in range(n * 10 ** 6):
    for j in range(10 ** 6):
        z = j
return n
for i, j in zip(range(2 ** 31), v):
    for k in range(2 ** 31):
        z = k
return n
return sum(range(10 ** 15))
return max(range(10 ** 15))
"""


def programs(text):
    """Return the bodies of a list: statements that begin with a keyword of more lines go on."""
    bodies: list[list[str]] = []
    for line in text.strip().splitlines():
        if not bodies or bodies[-1][-1].startswith("return"):
            bodies.append([])
        bodies[-1].extend(line.split("; ") if "; " in line else [line])
    return ["\n    ".join(body) for body in bodies]


@pytest.fixture(scope="module")
def arrays():
    """Return read-only arguments in the middle of arrays of canaries, and these."""
    rng = np.random.default_rng(0)
    matrix = rng.random((6, 6))
    matrix[2, 3] = 0.0
    given, around = [], []
    for inner in (np.array([3, 1, 2, 0, 5]), rng.random(6), matrix):
        whole = np.full(inner.size + 128, CANARY, inner.dtype)
        array = whole[64:-64].reshape(inner.shape)
        array[...] = inner
        array.flags.writeable = False
        given.append(array)
        around.append((whole, whole.copy()))
    return given, around


def source(body):
    return f"def p(n, z, v, f, m):\n    {body}\n"


@cache
def held_and_called():
    """Return what makes a list of a program, and a loop that calls it: there is no other way."""
    kind = types.FunctionType(NUMBER(*ARGUMENTS))
    called = njit(NUMBER(types.ListType(kind), *ARGUMENTS))(_first_called)
    return njit(types.ListType(kind)(kind))(in_list), called


def _first_called(programs, n, z, v, f, m):
    return programs[0](n, z, v, f, m)


def compiled_program(body):
    held, called = held_and_called()
    return partial(called, held(compiled(source(body), "p", ARGUMENTS, NUMBER)))


def outcome(program, arrays):
    try:
        with np.errstate(all="ignore"):
            return int(program(4, 0, *arrays))
    except Exception as error:  # noqa: BLE001  a program may raise anything
        return type(error)


def tiers(body, arrays):
    """Return what the interpreter answers and what compiled code does, which touches no canary."""
    given, around = arrays
    plain = outcome(define(source(body), "p"), given)
    fast = outcome(compiled_program(body), given)
    assert all(np.array_equal(whole, before) for whole, before in around)
    return plain, fast


@pytest.mark.parametrize("body", programs(NOT_COMPILED))
def test_it_is_not_compiled(body):
    with pytest.raises(Untranslatable):
        compiled(source(body), "p", ARGUMENTS, NUMBER)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return (n * 3 + 1) & 18446744073709551615", r"no integers of 2\*\*63"),
        ("return int(np.percentile(f, 5))", "a call of percentile$"),
        ("return int(np.full(3, fill_value=z, dtype=np.int64)[0])", "these arguments of full$"),
    ],
)
def test_a_refusal_says_what_it_is_about(body, reason):
    with pytest.raises(Untranslatable, match=reason):
        compiled(source(body), "p", ARGUMENTS, NUMBER)


@pytest.mark.parametrize("body", programs(RAISES))
def test_compiled_it_raises(arrays, body):
    assert isinstance(tiers(body, arrays)[1], type)


@pytest.mark.parametrize("body", programs(ENDLESS))
def test_an_endless_loop_raises(arrays, body):
    # Not inside the assertion: what shows the program where it fails would crash.
    found = outcome(compiled_program(body), arrays[0])
    assert found is OverflowError


@pytest.mark.parametrize("body", programs(SAME))
def test_both_tiers_answer_alike(arrays, body):
    plain, fast = tiers(body, arrays)
    assert isinstance(plain, int)
    assert fast == plain
