"""Templates of programs that allocate, drop, reuse and alias: what references are counted for.

Kinds beside those of ``program_templates``: ``couple`` (a tuple of two arrays of reals), ``pairs``
(a list of tuples of an integer and a real), and what is not compiled: ``stack`` (a list of arrays
of reals) and ``nested`` (a list of lists of integers).
"""

import re

from template_words import table


def blocks(text: str) -> list[tuple[float, str]]:
    """Return blocks with their weights: the kinds of the variables in the first line."""
    parts = re.split(r"^    (?! )", text, flags=re.MULTILINE)[1:]
    pairs = (part.split(None, 1) for part in parts)
    return [(float(weight), template) for weight, template in pairs]


HOLDERS = ("couple", "pairs", "stack", "nested")

MEMORY_EXPRESSIONS: dict[str, list[tuple[float, str]]] = {
    "int": table("""
        1 {pairs:a}[{int} % len({a})][0]
        0.5 len({pairs})
        0.3 ({real} in {couple})
        0.3 [{real:a}, {number}].index({a})
        0.2 [np.nan, {real}].count(np.nan)
        0.3 int({real} in [{real}, {number}])
        0.2 int(np.nan in [{real}, np.nan])
        0.2 int(np.nan in {reals})
        0.2 len(np.zeros((0 * {int}, {huge})))
        0.3 {nested}[0][0]
    """),
    "real": table("1 {pairs:a}[{int} % len({a})][1]\n0.5 {couple}[0][{size}]\n0.2 {stack}[0][0]"),
    "reals": table("""
        1.5 {couple}[{size}]
        1.5 {couple}[{int} % 2]
        1 {reals}[::1]
        1 {reals}[::1].ravel()
        1 {matrix}[{size}:{size}, :{size}].ravel()
        1 {matrix}.T.ravel()
        1 {matrix}[:, {size}].ravel()
        1 ({reals} if {truth} else {reals})
        0.2 {stack}[{size}]
    """),
    "ints": table("1 ({ints} * {large})\n1 {ints}[::1].ravel()\n1 ({ints} if {truth} else {ints})"),
    "mask": table("1 {matrix:a}[0] > {a}[{size}]\n0.5 ({matrix} > {real})[{size}]"),
    "matrix": table("""
        0.3 np.ones((0 * {int}, {huge}))
        0.3 np.full(({size} % 2, {huge}), {real})
        1 {matrix}[:, :1]
        1 {matrix}[:1]
        1 ({matrix} if {truth} else {matrix})
    """),
    "couple": table("""
        3 ({reals} * {factor}, {reals} + {number})
        1 ({reals}, {reals})
        1 ({reals:a}, {a})
        1 ({reals:a}, {a}[::-1])
        1 ({couple:a}[1], {a}[0])
        1 ({couple}[0], {reals})
    """),
    "pairs": table("""
        2 [({int}, {real})]
        2 [({int}, {real}), ({int}, {real})]
        1 [(k, {real}) for k in {ints}]
        1 [(a, b) for a, b in zip({ints}, {reals})]
        1 [(a, b * {factor}) for a, b in enumerate({reals})]
        1 {pairs}[{size}:]
        1 {pairs} + {pairs}
        0.5 {pairs}.copy()
    """),
    "stack": table("""
        3 [{reals}, {reals}]
        1 [{reals} * k for k in {ints}]
        1 [{couple:a}[0], {a}[1]]
    """),
    "nested": table("1 [[{int}], [{int}, {int}]]\n1 [{list}, {list}]"),
}

_LISTED = """
    3 {{own}}.append({0})
    2 {{own}}.pop({{size}})
    2 {{own}}.pop()
    1 {{own}}.insert({{size}}, {0})
    1 {{own}}.reverse()
    1 {{own}}.clear()
    1 {{own}}[{{size}}] = {0}
    1 {{own}}[{{size}}] = {{own}}[{{size}}]
    1 {{own}} += {{own}}
    1 {{own}}.extend({{own}})
    0.3 {{own}}[{{size}}:{{size}}] = {{own}}
    0.3 {{own}}[::-1] = {{own}}
    0.3 {{own}}[{{size}}:{{size}}] = [{0}]
"""
MEMORY_CHANGES: dict[str, list[tuple[float, str]]] = {
    "ints": table("""
        0.7 {own}[{own}] = {int}
        1 {own}[{own}[::-1]] = {int}
        1 {own}[{own}[:{size}]] += {int}
        1 {own}[{own} % max(len({own}), 1)] = {own}
        1 {own}[np.argsort({own})] = {own}
        1 {own}[{own} > {int}] = {own}[{size}]
        1 {own}[1:] {whole_change} {own}[:-1]
        1 {own}[::-1] = {own}
        1 {own} = {own}[{size}:]
    """),
    "reals": table("""
        1 {own}[1:] {change} {own}[:-1]
        1 {own}[::-1] = {own}
        1 {own} {change} {own}
        1 {own} = {own}[{size}:]
        1 {own}[{own} > {real}] = {own}[{size}]
    """),
    "mask": table("""
        1 {own}[{own}] = {truth}
        1 {own}[{own}[::-1]] = {truth}
        1 {own} &= {own}[::-1]
        1 {own} |= {own}
    """),
    "matrix": table("""
        1 {own} {change} {own}[:, :1]
        1 {own} {change} {own}[:1]
        1 {own} {change} {own}[{size}]
        1 {own}[{size}] = {own}[{size}]
        1 {own}[:, {size}] = {own}[{size}]
        1 {own}[:, {size}] {change} {own}[:, {size}]
        1 {own}[::-1] = {own}
        1 {own} = {own}[{size}:, :{size}]
    """),
    "list": table(_LISTED.format("{int}")),
    "pairs": table(_LISTED.format("({int}, {real})")),
    "stack": table(_LISTED.format("{reals}") + "3 {own}[0][{size}] = {real}"),
    "nested": table(_LISTED.format("[{int}]") + "1 {own}[0].append({int})"),
    "couple": table("""
        2 {own} = ({own}[1], {own}[0])
        2 {own} = ({reals}, {own}[0])
        1 {own} = ({own}[{size}], {own}[{int} % 2])
        2 {own}[0][{size}] = {real}
        1 {own}[1][:] {change} {own}[0]
    """),
}

MEMORY_FOLDS: dict[str, list[tuple[float, str]]] = {
    "couple": table("""
        2 (round({own}[0].sum() * 64) if abs({own}[0].sum()) < 1e9 else 5)
        1 int({own}[1][-1])
    """),
    "pairs": table("2 len({own})\n1 {own}[0][0]\n1 int({own}[-1][1])"),
    "stack": table("1 len({own})\n1 int({own}[0][0])"),
    "nested": table("1 len({own})\n1 {own}[0][0]"),
}

BLOCKS = blocks("""
    2 reals reals reals
        $1 = {reals}
        $2 = $1[{size}:]
        $1 = {reals}
        $3 = np.zeros_like($2)
    2 reals reals
        $1 = {reals}
        $2 = $1
        $2 = $2 {arithmetic} {number}
        $1[{size}] = {real}
    2 reals reals
        $1, $2 = {reals}, {reals}
        for k in range({size}):
            $1, $2 = $2, $1 {arithmetic} {number}
    1 ints reals
        $1 = {ints}
        for k in $1:
            $1 = $1[$1 > k]
        $2 = np.zeros(3)
    1 reals
        $1 = {reals}
        for k in $1:
            $1 = $1 + k
            $2 = np.ones(len($1)) * k
    1 reals
        $1 = {reals}
        for k in range({size}):
            $2 = $1
            $1 = $1[:-1] {arithmetic} $2[1:]
    2 couple
        $1 = ({reals}, {reals})
        for k in {ints}:
            $2 = $1[k % 2]
            $1 = ($2 {arithmetic} {number}, $1[{size}])
    1 couple reals
        $1 = ({reals} + {number}, {reals} * {factor})
        $2 = $1[{int} % 2]
        $1 = ({reals}, {reals})
        $2[{size}] = {real}
    1 reals drop real
        $3 = 0.0
        for k in ({reals}, {reals}):
            $3 += k[{size}]
        $1 = {reals}
    1 list
        $1 = {list}
        for k in $1:
            if len($1) < 9:
                $1.append(k {whole} {size})
                $1.pop({size})
    1 pairs
        $1 = {pairs}
        for a, b in $1:
            if len($1) > 1:
                $1.pop()
                $1.insert({size}, (a, b))
    1 pairs
        $1 = {pairs}
        for k in range({size}):
            $1.pop(0)
            $1.append((k, {real}))
    1 drop int
        $1 = None
        for k in {ints}:
            if $1 is None or k {relation} $1:
                $1 = k
        $2 = -1 if $1 is None else {int}
    1 drop int
        $1 = None
        for k in {matrix}:
            $1 = k
        $2 = {int} if $1 is None else {int}
    1 matrix
        $1 = {matrix}
        for k in $1:
            k {change} $1[{size}]
            k[{size}] = {real}
    1 matrix reals
        $1 = {matrix}
        $2 = $1[{size}]
        $1[{size}] = $1[{size}]
        $1 = $1 {arithmetic} {number}
        $2 {change} {number}
    1 matrix reals reals
        $1 = {matrix}
        $2 = $1.T[{size}]
        $3 = $1.ravel()
        $3[{size}] = {real}
        $2[{size}] {change} {real}
    0.3 stack reals
        $1 = [{reals} * {factor}, {reals} + {number}]
        $2 = $1[0]
        $1.pop(0)
        $1.append({reals})
        $2[0] = {real}
    0.1 int
        $1 = {int}
        while $1 {relation} {size}:
            $1 = {size}
    0.1 int
        $1 = {int}
        for k in range({size}):
            $1 = {size}
""")
"""Statements in a row, below a line with their weight and the kinds of their variables.

These are ``$1``, ``$2`` …; the kind ``drop`` is of one that nothing else uses.
"""
