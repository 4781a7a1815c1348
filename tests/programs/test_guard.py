"""What the guard denies, by which rule and in which line, and what it allows."""

import numpy as np
import pytest

from specahd.programs import language
from specahd.programs.guard import guard

ARGUMENTS = ("a", "b")


def body(line):
    return f"def f(a, b):\n    {line}\n"


# What is said, where it is said, and the words that name the rule.
DENIED = [
    ("import os", 2, "imports"),
    ("from os import path", 2, "imports"),
    ("class C: pass", 2, "classes"),
    ("def g(): return 1", 2, "nested functions"),
    ("async def g(): return 1", 2, "asynchronous"),
    ("yield 1", 2, "generator functions"),
    ("yield from a", 2, "generator functions"),
    ("global x", 2, "global"),
    ("nonlocal x", 2, "nonlocal"),
    ("with a: pass", 2, "with"),
    ("raise a", 2, "raise"),
    ("del a[0]", 2, "del"),
    ("match a:\n        case 1: pass", 2, "match"),
    ("try: pass\n    except: pass", 2, "try"),
    ("x: int = 1", 2, "annotations"),
    ("if (x := 1): pass", 2, "assignment expressions"),
    ("return f'{a.b}'", 2, "f-strings"),
    ("return f(a, b)", 2, "recursion"),
    ("f = 1", 2, "f cannot be assigned"),
    ("g = lambda x: g(x)", 2, "calls itself"),
    ("g = lambda x: h(x)\n    h = lambda x: g(x)", 2, "calls itself"),
    ("g = lambda x: list(map(g, x))", 2, "calls itself"),
    ("return (lambda g: g(g))(lambda g: g(g))", 2, "its own argument"),
    ("g = lambda x=[]: x", 2, "plain"),
    ("g = lambda *x: x", 2, "plain"),
    ("g = lambda f: 1", 2, "f cannot be assigned"),
    ("__x = 1", 2, "double underscore"),
    ("g = lambda __x: 1", 2, "double underscore"),
    ("return a.__class__", 2, "__class__"),
    ("return a._private", 2, "_private"),
    ("return '__class__'", 2, "double underscores"),
    ("return (x for x in a).gi_frame", 2, ".gi_frame"),
    ("g = (x for x in a)", 2, "generator expression"),
    ("return np", 2, "np may only"),
    ("np = a", 2, "np cannot be assigned"),
    ("return np.linalg", 2, "np.linalg may only"),
    ("return np.linalg.linalg", 2, "np.linalg.linalg"),
    ("return np.log(a, where=a > 0)", 2, "where needs"),
    ("g = np.log\n    return g(a, where=b)", 3, "where needs"),
    ("return np.log(a, **{'where': b})", 2, "double-starred"),
    ("return np.lib.format.open_memmap('x')", 2, "np.lib"),
    ("return dict(__class__=a)", 2, "keywords with double underscores"),
    ("np.mean = a", 2, "attributes cannot be assigned"),
    ("a.x += 1", 2, "attributes cannot be assigned"),
    ("return b'abc'", 2, "bytes"),
    ("return 1j", 2, "complex"),
    ("return 18446744073709551616", 2, "2**64 - 1"),
    ("return '" + "x" * 300 + "'", 2, "200 characters"),
    ("return np.log(a, out=None, where=b)", 2, "out must be"),
    ("x = None\n    return np.log(a, out=x, where=b)", 3, "out must be"),
    ("x = np.ones(3)\n    x = None\n    return np.log(a, out=x, where=b)", 4, "out must be"),
    ("x = np.ones(3)\n    g = lambda x: np.log(a, out=x, where=b)", 3, "out must be"),
    ("return '%s' % a", 2, "computing with strings"),
    ("x = '%s'\n    return x % a", 2, "percent sign"),
    ("return a * 'ab'", 2, "computing with strings"),
    ("return np.array([iter(a)]).astype('U')", 2, "'U'"),
    ("return np.zeros(3, dtype='V8')", 2, "'V8'"),
    ("return np.array([a], dtype=' i8 , M8')", 2, "array type"),
    ("return np.full(3, 1, 'M8[s]')", 2, "'M8[s]'"),
    ("return np.sum(a, None, 'm8')", 2, "'m8'"),
    ("return np.arange(0, 3, 1, 'M8')", 2, "'M8'"),
    ("return np.fromiter(a, 'O')", 2, "'O'"),
    ("return np.zeros_like(a, 'M8')", 2, "'M8'"),
    ("return a.sum(0, 'm8')", 2, "'m8'"),
    ("return a.astype('M8' if a else 'i8')", 2, "'M8'"),
    ("return np.add(a, b, dtype='O')", 2, "'O'"),
    ("return np.add(a, b, signature='OO->O')", 2, "'OO->O'"),
    ("return np.array('now')", 2, "'now' is no option of array"),
    ("return np.where(a, 'x', 'y')", 2, "'x' is no option of where"),
    ("return np.full(3, 'mergesort')", 2, "no option of full"),
    ("return np.sort(a, kind='M8')", 2, "the option 'M8'"),
    ("return np.einsum('i;i', a, b)", 2, "subscripts"),
    ("return np.apply_along_axis(lambda v, kind: 0, 0, a, kind='stable')", 2, "takes no keywords"),
    ("return list(dict(M8=1))", 2, "dict takes no keywords"),
    ("a.update(M8=1)", 2, "update takes no keywords"),
    ("make = dict\n    return make(M8=1)", 3, "keywords are for"),
    ("return (dict if a else list)(M8=1)", 2, "keywords are for"),
    ("return a.keys() & b", 2, "keys() may only be read at once"),
    ("x = a.keys()", 2, "read at once"),
    ("return (lambda v: v & v)(a.keys())", 2, "read at once"),
    ("list = lambda v: v & v\n    return list(a.keys())", 3, "read at once"),
    ("return max(a.keys(), b, key=len)", 2, "read at once"),
    ("return max(b, default=a.keys())", 2, "read at once"),
    ("return sum(b, a.keys())", 2, "read at once"),
    ("return a.get(1, b.items())", 2, "read at once"),
    ("return dict.fromkeys(b, a.keys())", 2, "read at once"),
    ("return np.array(a.keys())", 2, "read at once"),
    ("return map(dict.keys, a)", 2, "keys may only be called"),
    ("return map(a.add, b)", 2, "add may only be called"),
    ("g = a.update", 2, "update may only be called"),
    ("g = np.add.at", 2, "at may only be called"),
    ("return map(set.union, a, b)", 2, "union may only be called"),
    ("g, h = (lambda x: h(x)), (lambda x: g(x))", 2, "calls itself"),
    ("d = {'g': lambda x: d['g'](x)}", 2, "calls itself"),
    ("d = [0]\n    d[0] = lambda x: d[0](x)", 3, "calls itself"),
    ("g = (lambda x: g(x)) if a else None", 2, "calls itself"),
    ("return (lambda x: x[0](x))([a])", 2, "its own argument"),
    ("return map(np.fromfile, a)", 2, "np.fromfile"),
    ("return (np).load('x')", 2, "np.load"),
    ("return [x async for x in a]", 2, "asynchronous"),
]


# Names, attributes and types that no list has, beside those that stand in a rule of their own.
NAMES = """
    __builtins__ __import__ chr eval exec getattr hash id memoryview object open print repr str
    super type unknown vars
"""
NUMPY = """
    ctypeslib datetime64 empty empty_like f2py fromfile fromfunction fromregex frompyfunc genfromtxt
    load loadtxt memmap ndarray random save savetxt seterr shares_memory testing vectorize
"""
METHODS = "base ctypes data dump dumps format format_map setflags tobytes tofile view"
TYPES = """
    (2,)M8 2M8 <M8[s] =O M M8[ns] M8[us],i8 O T U a5 c datetime64[s] f8,f8 i8,O object
"""
for name in NAMES.split():
    DENIED.append((f"return {name}(a)", 2, f"name {name}"))
for name in NUMPY.split():
    DENIED.append((f"return np.{name}(a)", 2, f"np.{name}"))
for name in METHODS.split():
    DENIED.append((f"return a.{name}()", 2, f".{name}"))
for name in TYPES.split():
    DENIED.append((f"return np.array([a], '{name}')", 2, f"'{name}'"))


@pytest.mark.parametrize(("line", "number", "rule"), DENIED, ids=[line for line, _, _ in DENIED])
def test_denied_by_line(line, number, rule):
    verdict = guard(body(line), "f", ARGUMENTS)
    assert verdict is not None
    assert f"ine {number}" in verdict
    assert rule in verdict
    assert verdict.endswith(".")
    assert "\n" not in verdict


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        ("", "one function"),
        ("x = 1\n", "one function"),
        ("import os\n" + body("return a"), "imports"),
        (body("return a") + "x = 1\n", "one function"),
        (body("return a") + body("return b"), "not 2"),
        ("def g(a, b):\n    return a\n", "must be called f, not g"),
        ("def f(b, a):\n    return a\n", "arguments must be (a, b)"),
        ("def f(a, b, *c):\n    return a\n", "plain"),
        ("def f(a, b, **c):\n    return a\n", "plain"),
        ("def f(a, b=1):\n    return a\n", "plain"),
        ("def f(a, /, b):\n    return a\n", "plain"),
        ("def f(a, *, b):\n    return a\n", "plain"),
        ("def f(a: int, b):\n    return a\n", "annotations"),
        ("def f(a, b) -> int:\n    return a\n", "annotations"),
        ("@staticmethod\ndef f(a, b):\n    return a\n", "decorators"),
        ("async def f(a, b):\n    return a\n", "asynchronous"),
        (body("return a +"), "not Python"),
        (body("break"), "does not compile"),
        (body("\x00"), "not Python"),
        (body("é = 1"), "ASCII"),
        (body("return a  # " + "x" * 20_000), "20,000 characters"),
        (body("return " + "(" * 300 + "a" + ")" * 300), "not Python"),
        (body("return " + "[" * 100 + "]" * 100), "deeper than 60"),
        (body("return [" + "0," * 9_000 + "]"), "syntax nodes"),
        (body("return " + "9" * 5_000), "not Python"),
        (body("return " + "-" * 19_000 + "1"), "not Python"),
    ],
)
def test_denied_as_a_whole(source, rule):
    verdict = guard(source, "f", ARGUMENTS)
    assert verdict is not None
    assert rule in verdict


ALLOWED = [
    "return a",
    "return sorted(a, key=lambda x: (x[1], -x[0]), reverse=True)[:3]",
    "return [i for i, _ in enumerate(a) if i % 2 == 0 and i not in b]",
    "return max(range(len(a)), key=lambda i: a[i])",
    "return min((a[i] for i in b), default=None)",
    "g = lambda x: x + 1\n    h = lambda y: g(y) * 2\n    return sorted(a, key=lambda n: h(n))",
    "x, *rest = a\n    return rest",
    "d = {}\n    d.setdefault(1, []).append(2)\n    return list(d.items())",
    "s = set(a)\n    s.discard(1)\n    return s | {2}",
    "return np.divide(a, b, out=np.zeros_like(a), where=b > 0)",
    "x = np.ones(3)\n    x += 1\n    np.divide(a, b, out=x, where=b > 0)\n    return x",
    "return np.einsum('i,i', a, b) + np.einsum('ii->i', a) + np.einsum('ij,jk', a, b)",
    "return a.astype('int64') + np.zeros(3, dtype='float') + np.sort(a, kind='stable')",
    "d = {'load': 0, 'x': 1}\n    return d['load'] if 'x' in d else d.get('m')",
    "left = list(a)\n    left = sorted(left, key=lambda x: left.count(x))\n    return left",
    "return np.mean(a, where=b) + a.sum(where=b)",
    "return np.linalg.norm(a - b, axis=1) @ a",
    "return np.add.reduce(a) + np.subtract.outer(a, b)",
    "return a.astype(np.int64).T[::-1, None].tolist()",
    "return math.sqrt(2) if isinstance(a, (int, np.integer)) else float('inf')",
    "while True:\n        a += 1\n        if a > 3: break\n    else: pass\n    return a",
    "assert a\n    return list(zip(*a))",
    "a[0] = 1\n    a[1:3] += 2\n    return None",
    "return [k for k in a.keys() if k in b.keys()] + sorted(a.items()) + [*a.keys()]",
    "return max(a.items(), key=lambda kv: kv[1])[0], list(zip(*b.items())), set(a.keys())",
    "b.extend(a.keys())\n    b.update(a.items())\n    return a.keys() == b.keys()",
    "x = np.zeros(3)\n    np.add.at(x, a, 1)\n    return x",
    "return np.searchsorted(a, 3, 'right') + a.searchsorted(3, side='left') + a.ravel('F')",
    "return np.full(3, 0, '>f8') + np.sum(a, 0, 'float64') + np.array(a, 'i') + np.ones(3, '?')",
    "t = np.float64\n    return a.astype(t) + np.zeros(3, dtype=b.dtype) + np.zeros(3, bool)",
    "return np.percentile(a, 5, method='lower') + np.convolve(a, b, 'same') + float('-inf')",
    "m = [('swap', 1)]\n    m.append(('move', 2))\n    return [v for k, v in m if k == 'x']",
]


@pytest.mark.parametrize("line", ALLOWED)
def test_allowed(line):
    assert guard(body(line), "f", ARGUMENTS) is None


def test_every_allowed_name_exists():
    assert [name for name in language.NUMPY if not hasattr(np, name)] == []
    assert [name for name in language.LINALG if not hasattr(np.linalg, name)] == []


def test_no_allowed_method_is_dangerous_on_a_module():
    # A module that got behind another name would still show only these.
    shared = {name for name in language.METHODS if hasattr(np, name)}
    assert shared <= language.NUMPY | {"dtype"}
