"""Programs that try to learn what differs from run to run: addresses, the clock, stale memory.

All pass the guard. Each body ends in an answer or a failure that must be the same in
every process; most tell of many objects, so that chance alone never gives the same.
"""

MANY = "[map(abs, a) for _ in range(40)]"
"""Objects that hash by their address."""
RANKS = "[order.index(x) for x in many]"
"""Where each of them stands in an order, by identity: iterators are equal only to themselves."""

SETS = [
    f"many = {MANY}\n    order = list(set(many))\n    return {RANKS}",
    f"many = {MANY}\n    order = list(frozenset(many))\n    return {RANKS}",
    f"many = {MANY}\n    order = [*{{*many}}]\n    return {RANKS}",
    f"many = {MANY}\n    order = [x for x in {{x for x in many}}]\n    return {RANKS}",
    f"many = {MANY}\n    s = set()\n    for x in many: s.add(x)\n    order = list(s)\n"
    f"    return {RANKS}",
    f"many = {MANY}\n    s = set()\n    s.update(many)\n    order = list(s)\n    return {RANKS}",
    f"many = {MANY}\n    order = list(set().union(many))\n    return {RANKS}",
    f"many = {MANY}\n    order = list(set().union([], many))\n    return {RANKS}",
    f"many = {MANY}\n    order = list(set.union(set(), many))\n    return {RANKS}",
    f"many = {MANY}\n    s = set(a.ravel())\n    s.update(a.ravel(), many)\n"
    "    return [many.index(x) for x in s if x in many]",
    f"many = {MANY}\n    order = list(set().symmetric_difference(many))\n    return {RANKS}",
    f"many = {MANY}\n    s = set()\n    for x in many: set.add(s, x)\n"
    f"    order = list(s)\n    return {RANKS}",
    f"many = {MANY}\n    s = set()\n    set.update(s, many)\n    return [many.index(x) for x in s]",
    f"many = {MANY}\n    [s] = map(set, [many])\n    order = list(s)\n    return {RANKS}",
    f"many = {MANY}\n    order = list(set(dict.fromkeys(many)))\n    return {RANKS}",
    f"many = {MANY}\n    order = list(set(dict.fromkeys(many).keys()))\n    return {RANKS}",
    f"many = {MANY}\n    order = list(set((i % 2, x) for i, x in enumerate(many)))\n"
    "    return [many.index(x) for _, x in order]",
    f"many = {MANY}\n    order = list({{frozenset([x]) for x in many}})\n"
    "    return [many.index(x) for few in order for x in few]",
    "many = [lambda: 0 for _ in range(40)]\n    return [many.index(g) for g in set(many)]",
    # An object leaves its place in the table to no one else, even when it is gone.
    "s = set()\n    for x in [None, *range(0, 800, 8)]: s.add(x)\n    s.discard(None)\n"
    "    return list(s)",
    "s = {len, max, None, ...}\n    s.update(range(0, 800, 8))\n"
    "    return [x for x in s if x in range(999)]",
    "s = {None, 8, 16}\n    s.remove(None)\n    return list(s)",
    "s = {(None, i) for i in range(40)}\n    return [i for _, i in s]",
    "s = {float('nan') for _ in range(40)} | set(range(40))\n"
    "    return [x if x == x else -1 for x in s]",
    "s = set((float('nan'), i) for i in range(40))\n    return [i for _, i in s]",
    "s = set([np.float64(math.nan)] * 3 + list(range(9)))\n"
    "    return [int(x) if x == x else -1 for x in s]",
    "s = set([(-1.0) ** 0.5 * math.nan, 1, 2, 3])\n    return [len(s)]",
    "s = set(range(0, 4000, 7)) - set(range(0, 4000, 3))\n    return list(s)",
    "s = {'swap', 'move', 'relocate', 'cross', 'two'}\n    words = ['swap', 'move', 'relocate']\n"
    "    return [words.index(x) for x in s if x in words]",
    "s = {(i, -i) for i in range(60)} ^ {(i, -i) for i in range(30)}\n    return [i for i, _ in s]",
    "s = set((a * 1.5).ravel().tolist()) | {np.int64(4), True, 2.5}\n"
    "    return [int(x) for x in s]",
]

ADDRESSES = [
    f"d = dict()\n    return d[{MANY}[0]]",
    "return {}[lambda: 0]",
    "return {}[tuple(map(abs, a) for _ in range(60))]",
    "return [].index(iter(a))",
    "assert False, map(abs, a)",
    "assert False, [map(abs, a), lambda: 0]",
    "assert False, 'plain'",
    "return np.zeros(3, dtype=lambda: 0)",
    "return np.array(map(abs, a)) + 1",
    "return float(iter(a))",
    "return np.sort(a, kind=lambda: 0)",
    "return np.array([iter(a), None]).astype(int)",
    "return np.array([iter(a)] * 9).argsort()",
    "return [int(x) for x in np.array(['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'])]",
    "s = np.array(['a', 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'])\n    s[0] = iter(a)\n"
    "    return [int(s[0] > s[1])]",
    "s = np.full_like(np.array(['b' for _ in range(3)]), iter(a))\n"
    "    return [int(x == 'b') for x in s]",
    "x = 'b'\n    s = np.array([x + x])\n    return [0]",
    "x = 'b'\n    y = 50\n    s = np.array([x * y])\n    return [0]",
    "x = 'sum'\n    return [len(x)]",
    "x = 'sum'\n    return [x[0] == 's']",
    "x, y = 'M8'\n    return [0]",
]

CLOCK = [
    "t = 'M8'\n    return [int(np.array(['now'], t).astype(np.int64)[0])]",
    "g = lambda t: np.array(['now']).astype(t).astype(np.int64)\n"
    "    return [int(g('xM8[us]'[1:])[0])]",
    "t = sorted('8M')\n    return [int(np.array(['now']).astype(t[1]).astype(np.int64)[0])]",
    "t = 'M8' if a is a else 'i8'\n"
    "    return [int(np.array(['now']).astype(t).astype(np.int64)[0])]",
    "x = 'M'\n    y = '8[us]'\n    return [int(np.array(['now'], x + y).astype(np.int64)[0])]",
    "return [int(np.array(['now'], [('x', 'M8[us]')])['x'].astype(np.int64)[0])]",
    "return [int(np.array(['now'], {'names': ['x'], 'formats': ['M8[us]']})['x'].astype(int)[0])]",
    "return [int(np.array(['now'], ('M8[us]', 1)).astype(np.int64)[0])]",
    "return [int(np.sum(np.array([0]), None, *['M8[us]']).astype(np.int64))]",
]

SAME = [
    "return np.argsort(np.array([3, 1, 2]), kind='stable').tolist()",
    "d = {'load': 2, 'x': 1}\n    return [d['load'], len(d), d.get('y', 7), int('x' in d)]",
    "moves = [('swap', 3), ('move', 4)]\n    return [v for k, v in sorted(moves) if k != 'none']",
    "best = max({1: 5, 2: 9}.items(), key=lambda kv: kv[1])\n    return list(best)",
    "d = {3: 'a', 1: 'b'}\n    return [k for k in d.keys() if k in d.keys()] + sorted(d.keys())",
    "x = np.zeros(3)\n    np.add.at(x, [0, 0, 2], 1.0)\n    x = x + x\n    np.add.at(x, [1], 1)\n"
    "    return [int(v) for v in x]",
    "s = set(range(10))\n    s.add(99)\n    s.update([5, 77], {6: 0})\n    s |= {41}\n"
    "    return [len(s), int(isinstance(s, set)), int(isinstance(s, (list, frozenset)))] + list(s)",
    "return [int(x) for x in np.array([1.5, 2.5], dtype='float32').astype('int64')]",
    "return [int(np.einsum('ij->', np.ones((2, 3)))), int(np.searchsorted([1, 2], 2, 'right'))]",
    "t = np.int64\n    return np.zeros(3, dtype=t).astype(a.dtype).astype(int).tolist()",
    "return [int(3 in {None, 3}), int(float('inf') > 3)]",
]

ALL = SETS + ADDRESSES + CLOCK + SAME
