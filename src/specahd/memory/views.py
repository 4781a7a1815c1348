"""Three deterministic views of a program: its syntax, its tokens, the words of its idea.

A view is a multiset of features: short texts with their counts. They are read only from
the program's canonical source or from its design sentence. No view depends on the
names of local variables. A number is replaced with its bin, so a small change of a
constant rarely changes a view, and a large one does.

The normal form of a syntax tree leaves out details that do not change a program's meaning.
It ignores the names of local variables, the order of operands that commute, the order of
statements in a block, and small differences between constants. A difference has the form of a
sum, ``a > b`` that of ``b < a``, and ``x.min()`` that of ``np.min(x)``.
The form is for comparison only: different programs may share it.
"""

import ast
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import NamedTuple

from specahd.core.program import Program
from specahd.programs.parsed import function_of

PREFERRED = (1.0, 1.25, 1.6, 2.0, 2.5, 3.15, 4.0, 5.0, 6.3, 8.0)
"""The lower bounds of a decade's bins: the R10 series of ISO 3, about 26% apart."""
EXACT = 10
"""Largest magnitude of integers with a bin of their own: axes and powers belong to the form."""

_LARGEST = 1e300
_LIBRARIES = ("np", "math")
_ORDERED = ("args", "elts", "comparators", "keys", "values")
_MIRRORED: Mapping[type[ast.AST], str] = {ast.Gt: "Lt", ast.GtE: "LtE"}
_SYMMETRIC = (ast.Eq, ast.NotEq)
_BINDING = (ast.Assign, ast.NamedExpr, ast.AugAssign, ast.For, ast.comprehension, ast.Lambda)
_Bindings = Mapping[str, list[tuple[str, ast.AST]]]


class Node(NamedTuple):
    """A node of a normal form.

    Parameters
    ----------
    edge
        The relation to the parent; children with equal edges have no order.
    label
        The kind of the node and the name in it; for a number, its bin.
    """

    edge: str
    label: str
    children: tuple["Node", ...] = ()

    @property
    def text(self) -> str:
        """The tree as one line of text; equal trees have equal texts."""
        below = sorted(child.text for child in self.children)
        return f"{self.edge}:{self.label}({','.join(below)})"


def normal_form(source: str) -> tuple[Node, ...]:
    """Return the statements of a function in normal form.

    The label of a local variable is a digest of all values assigned to it. In the
    digest all local variables have the same name: one step of colour refinement
    (Weisfeiler and Leman 1968).
    """
    function, bound = _read(source)
    alike = dict.fromkeys(bound, "$")
    labels = {name: _digest(values, alike) for name, values in bound.items()}
    return tuple(_node("body", statement, labels) for statement in function.body)


def local_names(source: str) -> frozenset[str]:
    """Return the names that a function assigns; arguments that it never assigns are left out."""
    return frozenset(_read(source)[1])


def bin_number(value: float) -> str:
    """Return the bin of a number: a small integer itself, else the preferred number below."""
    if not abs(value) <= _LARGEST:
        return "beyond"
    if isinstance(value, int) and abs(value) <= EXACT:
        return str(value)
    if not value:
        return "0"
    # Logarithms differ in the last bit between machines; decimal digits do not.
    mantissa, _, exponent = f"{abs(value):e}".partition("e")
    start = PREFERRED[bisect_right(PREFERRED, float(mantissa)) - 1]
    return f"{'-' * (value < 0)}{start}e{int(exponent)}"


# Cached, because several views of a program call it; the result is never changed.
@lru_cache(maxsize=1)
def _read(source: str) -> tuple[ast.FunctionDef, _Bindings]:
    function = function_of(source)
    return function, _bindings(function)


def _bindings(function: ast.FunctionDef) -> _Bindings:
    """Return the definitions of each local variable."""
    bound: dict[str, list[tuple[str, ast.AST]]] = {}
    for node in ast.walk(function):
        for how, target, value in _assignments(node) if isinstance(node, _BINDING) else ():
            names = [part for part in ast.walk(target) if isinstance(part, ast.Name | ast.arg)]
            for position, name in enumerate(names):
                # An assignment to an index or an attribute binds no variable.
                if isinstance(name, ast.arg):
                    bound.setdefault(name.arg, []).append((f"{how}{position}", value))
                elif isinstance(name.ctx, ast.Store):
                    bound.setdefault(name.id, []).append((f"{how}{position}", value))
    return bound


def _assignments(node: ast.AST) -> Iterator[tuple[str, ast.AST, ast.AST]]:
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from (("=", target, value) for target in targets)
        case ast.NamedExpr(target=target, value=value):
            yield "=", target, value
        case ast.AugAssign(target=target, op=op, value=value):
            yield type(op).__name__, target, value
        case ast.For(target=target, iter=values) | ast.comprehension(target=target, iter=values):
            yield "in", target, values
        case ast.Lambda(args=arguments, body=value):
            yield from (("lambda", argument, value) for argument in arguments.args)


def _digest(values: Iterable[tuple[str, ast.AST]], labels: Mapping[str, str]) -> str:
    texts = sorted(_node(how, value, labels).text for how, value in values)
    return "$" + blake2b("\n".join(texts).encode(), digest_size=6).hexdigest()


def _node(edge: str, node: ast.AST, labels: Mapping[str, str]) -> Node:
    """Return the normal form of a tree; ``labels`` maps its local variables to their labels."""
    match node:
        case ast.Name(id=name):
            return Node(edge, labels.get(name, name))
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return Node(edge, bin_number(value))
        case ast.Constant(value=value):
            return Node(edge, repr(value))
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            return Node(edge, "Add", tuple(_terms(node, labels, negative=False)))
        case ast.BinOp(op=ast.Mult()):
            return _branch(edge, labels, "Mult", *(("", factor) for factor in _factors(node)))
        case ast.UnaryOp(op=op, operand=operand):
            return _branch(edge, labels, type(op).__name__, ("", operand))
        case ast.BinOp(left=left, op=op, right=right):
            return _branch(edge, labels, type(op).__name__, ("left", left), ("right", right))
        case ast.BoolOp(op=op, values=values):
            return _branch(edge, labels, type(op).__name__, *(("", value) for value in values))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            if isinstance(op, _SYMMETRIC):
                return _branch(edge, labels, type(op).__name__, ("", left), ("", right))
            if type(op) in _MIRRORED:
                return _branch(edge, labels, _MIRRORED[type(op)], ("left", right), ("right", left))
            return _branch(edge, labels, type(op).__name__, ("left", left), ("right", right))
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args, keywords=named):
            library = isinstance(owner, ast.Name) and owner.id in _LIBRARIES
            return _branch(
                edge, labels, f"{name}()", *_given(args if library else [owner, *args], named)
            )
        case ast.Call(func=ast.Name(id=name), args=args, keywords=named) if name not in labels:
            return _branch(edge, labels, f"{name}()", *_given(args, named))
    return _any(edge, labels, node)


def _branch(edge: str, labels: Mapping[str, str], label: str, *below: tuple[str, ast.AST]) -> Node:
    return Node(edge, label, tuple([_node(name, child, labels) for name, child in below]))


def _any(edge: str, labels: Mapping[str, str], node: ast.AST) -> Node:
    """Return the form of a node that has no special rule: its kind, its names and its parts."""
    label = type(node).__name__
    below: list[tuple[str, ast.AST]] = []
    for field in node._fields:
        value = getattr(node, field, None)
        for position, item in enumerate(value if isinstance(value, list) else (value,)):
            if isinstance(item, str | ast.operator | ast.cmpop):
                label += f" {item if isinstance(item, str) else type(item).__name__}"
            elif isinstance(item, ast.AST) and not isinstance(item, ast.expr_context):
                below.append((f"{field}{position}" if field in _ORDERED else field, item))
    return _branch(edge, labels, label, *below)


def _terms(node: ast.AST, labels: Mapping[str, str], *, negative: bool) -> Iterator[Node]:
    """Yield the terms of nested sums and differences; the edge of a subtracted term is ``-``."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            yield from _terms(left, labels, negative=negative)
            yield from _terms(right, labels, negative=negative != isinstance(op, ast.Sub))
        case _:
            yield _node("-" if negative else "+", node, labels)


def _factors(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            yield from _factors(left)
            yield from _factors(right)
        case _:
            yield node


def _given(args: Iterable[ast.AST], named: Iterable[ast.keyword]) -> Iterator[tuple[str, ast.AST]]:
    yield from ((str(position), value) for position, value in enumerate(args))
    yield from ((str(keyword.arg), keyword.value) for keyword in named)


Features = Counter[str]
View = Callable[[Program], Features]

LENGTH = 3
"""Largest number of nodes of a syntax path."""

_TOKEN = re.compile(r"[^\W\d]\w*|\d[\d.]*(?:e[+-]?\d+)?|[^\w\s()\[\]{},:.;]+")
_WORD = re.compile(r"[^\W\d_]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def syntax(program: Program) -> Features:
    """Return the downward paths of one to ``LENGTH`` nodes in the normal form of the source."""
    paths: Features = Counter()
    for statement in normal_form(program.source):
        _descend(statement, (), paths)
    return paths


def tokens(program: Program) -> Features:
    """Return the identifiers, operators and binned numbers of the source.

    Local variables, brackets and punctuation are left out; order does not count.
    """
    names = local_names(program.source)
    # The first line is the same for all programs of a contract.
    _, _, body = program.source.partition("\n")
    return Counter(_token(text) for text in _TOKEN.findall(body) if text not in names)


def idea(program: Program) -> Features:
    """Return the words and binned numbers of the design sentence, alone and in pairs."""
    words = [_token(word) for word in _WORD.findall(program.idea.lower())]
    return Counter([*words, *(f"{word} {after}" for word, after in pairwise(words))])


VIEWS: Mapping[str, View] = {"syntax": syntax, "tokens": tokens, "idea": idea}
"""Every view by its name; the fused similarity is the mean over them."""


def _descend(node: Node, above: tuple[str, ...], paths: Features) -> None:
    path = (*above[1 - LENGTH :], f"{node.edge}:{node.label}")
    for start in range(len(path)):
        paths["/".join(path[start:])] += 1
    for child in node.children:
        _descend(child, path, paths)


def _token(text: str) -> str:
    """Return the text; if it is a number, return its bin."""
    if not text[0].isdigit():
        return text
    try:
        return bin_number(int(text) if text.isdecimal() else float(text))
    except ValueError:
        # For example a version number in a sentence, such as 1.2.3.
        return text
