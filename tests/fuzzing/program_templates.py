"""What random programs are made of: templates by the kind of value that they make.

A hole is ``{kind}``, or ``{kind:label}`` if ``{label}`` repeats the text that fills it. Every
template is a weight and a text. Kinds: ``int``, ``real``, ``truth`` (scalars), ``ints``,
``reals``, ``mask`` (one axis), ``matrix`` (two axes), ``list`` (of integers), and the choices
``number``, ``array`` and ``any``.
"""

from array_templates import ARRAYS
from memory_templates import MEMORY_CHANGES, MEMORY_EXPRESSIONS, MEMORY_FOLDS
from scalar_templates import SCALARS
from template_words import table

CHOICES = {
    "number": ("int", "int", "real"),
    "array": ("ints", "reals", "reals", "mask", "matrix"),
    "any": ("int", "real", "truth", "ints", "reals", "mask", "matrix", "list"),
}
"""Holes that a value of any of some kinds fills."""

Templates = dict[str, list[tuple[float, str]]]


def _joined(*tables: Templates) -> Templates:
    kinds = {kind for each in tables for kind in each}
    return {kind: [row for each in tables for row in each.get(kind, [])] for kind in sorted(kinds)}


EXPRESSIONS = _joined(SCALARS, ARRAYS, MEMORY_EXPRESSIONS)

_CHANGES: Templates = {
    "int": table("""
        4 {own} += {int}
        2 {own} {whole_change} {int}
        1 {own} {change} {number}
    """),
    "real": table("4 {own} {change} {number}\n1 {own} += {reals}"),
    "truth": table("1 {own} = not {own}\n1 {own} &= {truth}\n0.5 {own} += {int}"),
    "ints": table("""
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
    "reals": table("""
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
    "mask": table("""
        2 {own} &= {mask}
        1 {own} |= ({own} ^ {mask})
        1 {own}[{size}] = {truth}
        1 {own}[{ints}] = {truth}
        0.5 {own} += {mask}
    """),
    "matrix": table("""
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
    "list": table("""
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
CHANGES = _joined(_CHANGES, MEMORY_CHANGES)
"""Statements that change a variable in place; ``{own}`` is its name."""

_FOLDS: Templates = {
    "int": table("1 {own}"),
    "real": table("4 (round({own} * 64) if abs({own}) < 1e9 else 5)\n1 int({own})\n1 round({own})"),
    "truth": table("2 (3 if {own} else 8)\n1 int({own})\n0.5 {own}"),
    "ints": table("3 {own}.sum()\n1 len({own})\n1 {own}[0]\n1 np.max({own})\n1 int({own}[-1])"),
    "reals": table("""
        3 (round({own}.sum() * 64) if abs({own}.sum()) < 1e9 else 5)
        3 np.argmin({own})
        1 int(np.argmax({own}))
        1 len({own})
        1 int({own}[0])
        1 int(np.sum({own}))
    """),
    "mask": table("2 {own}.sum()\n1 np.count_nonzero({own})\n1 len({own})"),
    "matrix": table("""
        3 (round({own}.sum() * 64) if abs({own}.sum()) < 1e9 else 5)
        2 np.argmin({own})
        1 {own}.shape[0] * 10 + {own}.shape[1]
        1 int({own}[-1, -1])
    """),
    "list": table("2 sum({own})\n2 len({own})\n1 {own}[0]\n1 {own}[-1]"),
}
FOLDS = _joined(_FOLDS, MEMORY_FOLDS)
"""Expressions that make an integer of a variable, so that it shows in the answer."""

ODD_ANSWERS = table("""
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
