import numpy as np
import pytest

from specahd.sandbox import allowed
from specahd.sandbox.guard import guard

ARGUMENTS = ("a", "b")


def body(*lines):
    return "def f(a, b):\n" + "".join(f"    {line}\n" for line in lines)


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
    ("return '{0.real}'.format(a)", 2, ".format"),
    ("return '{x}'.format_map(a)", 2, ".format_map"),
    ("return f(a, b)", 2, "recursion"),
    ("g = f", 2, "recursion"),
    ("f = 1", 2, "f cannot be assigned"),
    ("g = lambda x: g(x)", 2, "calls itself"),
    ("g = lambda x: h(x)\n    h = lambda x: g(x)", 2, "calls itself"),
    ("g = lambda x: list(map(g, x))", 2, "calls itself"),
    ("return (lambda g: g(g))(lambda g: g(g))", 2, "its own argument"),
    ("g = lambda x=[]: x", 2, "plain"),
    ("g = lambda *x: x", 2, "plain"),
    ("g = lambda f: 1", 2, "f cannot be assigned"),
    ("return open('/etc/passwd')", 2, "name open"),
    ("return eval('1')", 2, "name eval"),
    ("return exec('1')", 2, "name exec"),
    ("return getattr(a, 'x')", 2, "name getattr"),
    ("return vars()", 2, "name vars"),
    ("return type(a)", 2, "name type"),
    ("return id(a)", 2, "name id"),
    ("return hash(a)", 2, "name hash"),
    ("print(a)", 2, "name print"),
    ("return object", 2, "name object"),
    ("return __import__('os')", 2, "__import__"),
    ("return __builtins__", 2, "__builtins__"),
    ("__x = 1", 2, "double underscore"),
    ("g = lambda __x: 1", 2, "double underscore"),
    ("return a.__class__", 2, "__class__"),
    ("return ().__class__.__mro__", 2, "__class__"),
    ("return a._private", 2, "_private"),
    ("return '__class__'", 2, "double underscores"),
    ("return (x for x in a).gi_frame", 2, ".gi_frame"),
    ("g = (x for x in a)", 2, "generator expression"),
    ("return np", 2, "np may only"),
    ("m = np\n    return m.load('x')", 2, "np may only"),
    ("np = a", 2, "np cannot be assigned"),
    ("for math in a: pass", 2, "math cannot be assigned"),
    ("return np.linalg", 2, "np.linalg may only"),
    ("return np.linalg.linalg", 2, "np.linalg.linalg"),
    ("return np.random.rand()", 2, "np.random"),
    ("return np.empty(3)", 2, "np.empty"),
    ("return np.empty_like(a)", 2, "np.empty_like"),
    ("return np.ndarray((3,))", 2, "np.ndarray"),
    ("return np.log(a, where=a > 0)", 2, "where needs"),
    ("g = np.log\n    return g(a, where=b)", 3, "where needs"),
    ("return np.log(a, **{'where': b})", 2, "double-starred"),
    ("return np.load('x')", 2, "np.load"),
    ("return np.loadtxt('/etc/passwd')", 2, "np.loadtxt"),
    ("return np.genfromtxt('/etc/passwd')", 2, "np.genfromtxt"),
    ("return np.fromfile('/etc/passwd')", 2, "np.fromfile"),
    ("return np.memmap('x')", 2, "np.memmap"),
    ("np.save('x', a)", 2, "np.save"),
    ("np.savetxt('x', a)", 2, "np.savetxt"),
    ("return np.lib.format.open_memmap('x')", 2, "np.lib"),
    ("return np.ctypeslib.load_library('x', '.')", 2, "np.ctypeslib"),
    ("return np.testing.measure('1')", 2, "np.testing"),
    ("return np.f2py", 2, "np.f2py"),
    ("return dict(__class__=a)", 2, "keywords with double underscores"),
    ("np.seterr(all='raise')", 2, "np.seterr"),
    ("np.mean = a", 2, "attributes cannot be assigned"),
    ("np.linalg.norm = a", 2, "attributes cannot be assigned"),
    ("a.shape = (1,)", 2, "attributes cannot be assigned"),
    ("a.x += 1", 2, "attributes cannot be assigned"),
    ("a.tofile('x')", 2, ".tofile"),
    ("a.dump('x')", 2, ".dump"),
    ("return a.dumps()", 2, ".dumps"),
    ("return a.data", 2, ".data"),
    ("return a.ctypes", 2, ".ctypes"),
    ("return a.base", 2, ".base"),
    ("a.setflags(write=True)", 2, ".setflags"),
    ("a.flags.writeable = True", 2, "attributes cannot be assigned"),
    ("return a.view('O')", 2, ".view"),
    ("return a.tobytes()", 2, ".tobytes"),
    ("return b'abc'", 2, "bytes"),
    ("return 1j", 2, "complex"),
    ("return 99999999999999999999", 2, "2**63"),
    ("return '" + "x" * 300 + "'", 2, "200 characters"),
    ("return np.log(a, out=None, where=b)", 2, "out must be"),
    ("return np.log(a, out=(None,), where=b)", 2, "out must be"),
    ("x = None\n    return np.log(a, out=x, where=b)", 3, "out must be"),
    ("x = np.ones(3)\n    x = None\n    return np.log(a, out=x, where=b)", 4, "out must be"),
    ("x = np.ones(3)\n    g = lambda x: np.log(a, out=x, where=b)", 3, "out must be"),
    ("return '%s' % a", 2, "computing with strings"),
    ("x = '%s'\n    return x % a", 2, "percent sign"),
    ("return ('ab' + a)", 2, "computing with strings"),
    ("return a * 'ab'", 2, "computing with strings"),
    ("return np.array('now', dtype='M8[ns]')", 2, "'M8[ns]'"),
    ("return np.array('now', 'datetime64[s]')", 2, "'datetime64[s]'"),
    ("return np.array([iter(a)]).astype('U')", 2, "'U'"),
    ("return np.array([iter(a)], dtype='O')", 2, "'O'"),
    ("return np.array([iter(a)], 'object')", 2, "'object'"),
    ("return np.zeros(3, dtype='V8')", 2, "'V8'"),
    ("return np.array([a], 'M')", 2, "'M'"),
    ("return np.array([a], 'M8[us],i8')", 2, "'M8[us],i8'"),
    ("return np.array([a], dtype='i8,O')", 2, "'i8,O'"),
    ("return np.array([a], dtype=' i8 , M8')", 2, "array type"),
    ("return np.array([a], '<M8[s]')", 2, "'<M8[s]'"),
    ("return np.array([a], '=O')", 2, "'=O'"),
    ("return np.array([a], '2M8')", 2, "'2M8'"),
    ("return np.array([a], '(2,)M8')", 2, "'(2,)M8'"),
    ("return np.array([a], 'U')", 2, "'U'"),
    ("return np.array([a], 'c')", 2, "'c'"),
    ("return np.array([a], 'a5')", 2, "'a5'"),
    ("return np.array([a], 'T')", 2, "'T'"),
    ("return np.array([a], 'f8,f8')", 2, "'f8,f8'"),
    ("return np.full(3, 1, 'M8[s]')", 2, "'M8[s]'"),
    ("return np.sum(a, None, 'm8')", 2, "'m8'"),
    ("return np.mean(a, 0, 'M8')", 2, "'M8'"),
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
    ("return [dict][0](M8=1)", 2, "keywords are for"),
    ("float = lambda x: x\n    return float(kind='M8')", 3, "keywords are for"),
    ("return a.keys() & b", 2, "keys() may only be read at once"),
    ("return b | a.items()", 2, "items() may only be read at once"),
    ("x = a.keys()", 2, "read at once"),
    ("x = [a.keys()]", 2, "read at once"),
    ("b |= a.keys()", 2, "read at once"),
    ("return (lambda v: v & v)(a.keys())", 2, "read at once"),
    ("list = lambda v: v & v\n    return list(a.keys())", 3, "read at once"),
    ("return max(a.keys(), b, key=len)", 2, "read at once"),
    ("return max(b, default=a.keys())", 2, "read at once"),
    ("return sum(b, a.keys())", 2, "read at once"),
    ("return next(b, a.keys())", 2, "read at once"),
    ("return a.get(1, b.items())", 2, "read at once"),
    ("return dict.fromkeys(b, a.keys())", 2, "read at once"),
    ("return a.keys() or b", 2, "read at once"),
    ("return np.bitwise_and(a.keys(), b)", 2, "read at once"),
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
    ("return str(a)", 2, "name str"),
    ("return repr(a)", 2, "name repr"),
    ("return chr(95)", 2, "name chr"),
    ("return super()", 2, "name super"),
    ("return memoryview(a)", 2, "name memoryview"),
    ("return np.vectorize(a)", 2, "np.vectorize"),
    ("return np.frompyfunc(a, 1, 1)", 2, "np.frompyfunc"),
    ("return np.fromfunction(a, b)", 2, "np.fromfunction"),
    ("return np.fromregex('x', 'y', 'z')", 2, "np.fromregex"),
    ("return np.datetime64('now')", 2, "np.datetime64"),
    ("return np.shares_memory(a, b)", 2, "np.shares_memory"),
    ("return sorted(a, key=np.ndarray.tofile)", 2, "np.ndarray"),
    ("return map(np.fromfile, a)", 2, "np.fromfile"),
    ("return (np).load('x')", 2, "np.load"),
    ("return [x async for x in a]", 2, "asynchronous"),
    ("return unknown", 2, "name unknown"),
]


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
        ("def f(a):\n    return a\n", "arguments must be (a, b)"),
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
        ("f = lambda a, b: a\n", "one function"),
        (body("return a +"), "not Python"),
        (body("break"), "does not compile"),
        (body("\x00"), "not Python"),
        (body("é = 1"), "ASCII"),
        (body("return 𝐚"), "ASCII"),
        (body("return a  # " + "x" * 20_000), "20,000 characters"),
        (body("return a  # " + "x" * (1 << 20)), "20,000 characters"),
        (body("return " + "(" * 300 + "a" + ")" * 300), "not Python"),
        (body("return " + "-" * 200 + "1"), "deeper than 60"),
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


# The paper's Appendix H, retyped; the CVRP upper program takes `routes` first (docs/design.md).
TSP_UPPER = """
def select_tsp_segments(route, coords, distance_matrix, max_segments, max_segment_size):
    selected_segments = []
    for start in range(len(route) - max_segment_size):
        segment = route[start:start + max_segment_size]
        edges = [distance_matrix[segment[i]][segment[i + 1]] for i in range(len(segment) - 1)]
        mean_edge = sum(edges) / len(edges)
        variance = sum((x - mean_edge) ** 2 for x in edges) / len(edges)
        inverse_density = len(segment) / sum(
            1 / (((coords[segment[k]][0] - coords[segment[k + 1]][0]) ** 2
                 + (coords[segment[k]][1] - coords[segment[k + 1]][1]) ** 2))
            for k in range(len(segment) - 1))
        selected_segments.append((segment, variance * inverse_density))
    selected_segments.sort(key=lambda item: item[1], reverse=True)
    return [segment for segment, _ in selected_segments[:max_segments]]
"""
TSP_LOWER = """
def select_next_node(current_node, destination_node, unvisited_nodes, distance_matrix):
    visited = len(distance_matrix) - len(unvisited_nodes)
    log_base = 2.0
    if visited > 50:
        log_base = np.log(52) * 0.9
    elif visited >= 40:
        log_base *= 0.9
    penalty = 1.0
    if visited > 10:
        penalty = min(1 + distance_matrix[current_node][destination_node] / 100, 5)
    current = np.log(distance_matrix[current_node][unvisited_nodes] + 1)
    target = np.log(distance_matrix[destination_node][unvisited_nodes] + 1)
    score = current / log_base + penalty * (current - target)
    return unvisited_nodes[np.argmin(score)]
"""
CVRP_UPPER = """
def generate_customer_groups(routes, coords, demands, capacity, distance_matrix, max_groups,
                             max_size):
    density = {i: sum(distance_matrix[i][j] * demands[j]
                      for j in range(len(coords)) if i != j)
               for i in range(len(coords))}
    unassigned = list(range(1, len(coords)))
    groups = []
    while unassigned and len(groups) < max_groups:
        seed = max(unassigned, key=lambda node: density[node])
        unassigned.remove(seed)
        group, load = [seed], demands[seed]
        while unassigned and len(group) < max_size:
            node = min(unassigned, key=lambda item: distance_matrix[seed][item])
            if load + demands[node] > capacity:
                break
            group.append(node)
            load += demands[node]
            unassigned.remove(node)
        groups.append(group)
    return groups
"""
CVRP_LOWER = """
def select_next_node(current_node, depot, unvisited_nodes, rest_capacity, demands,
                     distance_matrix):
    max_demand = np.max(demands[unvisited_nodes])
    factor = demands[current_node] / max_demand if max_demand > 0 else 0
    factor = max(0.5 / rest_capacity, min(0.5, factor), 0.1)
    capacity_ratio = rest_capacity / (max_demand + 1)
    savings = (distance_matrix[current_node][unvisited_nodes]
               - distance_matrix[depot][unvisited_nodes])
    cost = savings * (1 + factor) * capacity_ratio
    cost += distance_matrix[current_node][unvisited_nodes]
    cost *= 1 / (distance_matrix[current_node][unvisited_nodes] + 1)
    for index in np.argsort(cost):
        node = unvisited_nodes[index]
        if node != depot and rest_capacity >= demands[node]:
            return node
    return None
"""


@pytest.mark.parametrize(
    ("source", "name", "arguments"),
    [
        (
            TSP_UPPER,
            "select_tsp_segments",
            "route coords distance_matrix max_segments max_segment_size",
        ),
        (
            TSP_LOWER,
            "select_next_node",
            "current_node destination_node unvisited_nodes distance_matrix",
        ),
        (
            CVRP_UPPER,
            "generate_customer_groups",
            "routes coords demands capacity distance_matrix max_groups max_size",
        ),
        (
            CVRP_LOWER,
            "select_next_node",
            "current_node depot unvisited_nodes rest_capacity demands distance_matrix",
        ),
    ],
)
def test_appendix_h_is_allowed(source, name, arguments):
    assert guard(source, name, arguments.split()) is None


def test_every_allowed_name_exists():
    assert [name for name in allowed.NUMPY if not hasattr(np, name)] == []
    assert [name for name in allowed.LINALG if not hasattr(np.linalg, name)] == []


def test_no_allowed_method_is_dangerous_on_a_module():
    # A module that got behind another name would still show only these.
    shared = {name for name in allowed.METHODS if hasattr(np, name)}
    assert shared <= allowed.NUMPY | {"dtype"}
