"""Definition of the function that a child calls, from guarded source, in its own namespace.

Sets become checked sets, and strings labels (reasons: :mod:`specahd.sandbox.objects`). The new
names have double underscores, which a program must not contain. A call of ``argsort`` sorts
stably, as in compiled programs, unless the program sets the kind.
"""

import ast
import builtins
import math
import re
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from specahd.core.sums import sequential_sum
from specahd.core.syntax import parse
from specahd.sandbox.allowed import BUILTINS
from specahd.sandbox.objects import CHECKED, FrozenSet, Label, Set, extend_set
from specahd.sandbox.options import is_module, numpy_options

_OWN = "__{}"
"""Form of the names that are inserted into a program; the guard refuses programs that use it."""


# A cheap check: programs without any of these are compiled unchanged.
_SUSPECT = re.compile(rf"""['"{{]|\b({"|".join(CHECKED)}|argsort)\b""")


def define(source: str, name: str) -> Callable[..., Any]:
    """Define a program and return its function."""
    tree = parse(source) if _SUSPECT.search(source) else None
    labels = {} if tree is None else _replace(tree)
    own = {"set": Set, "extended": extend_set, **CHECKED, **labels}
    namespace: dict[str, Any] = {
        "np": np,
        "math": math,
        **{_OWN.format(word): value for word, value in own.items()},
        "__builtins__": {
            **{allowed: getattr(builtins, allowed) for allowed in BUILTINS},
            "set": Set,
            "frozenset": FrozenSet,
            "sum": sequential_sum,
            "__import__": _loaded_numpy,
        },
    }
    exec(compile(source if tree is None else tree, "<program>", "exec"), namespace)
    function: Callable[..., Any] = namespace[name]
    return function


def _replace(tree: ast.Module) -> dict[str, Label]:
    """Replace sets, strings and methods in a program, and return its labels by name."""
    nodes = list(ast.walk(tree))
    replacement = _Replacement(numpy_options(nodes, bound_names(nodes)))
    replacement.visit(tree)
    ast.fix_missing_locations(tree)
    return replacement.labels


class _Replacement(ast.NodeTransformer):
    """A transformer that replaces strings by labels, and inserts checks where sets get elements."""

    def __init__(self, kept: frozenset[ast.Constant]) -> None:
        self._kept = kept
        self._labels: dict[str, str] = {}

    @property
    def labels(self) -> dict[str, Label]:
        return {word: Label(text) for text, word in self._labels.items()}

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if not isinstance(node.value, str) or node in self._kept:
            return node
        return _own(self._labels.setdefault(node.value, f"label_{len(self._labels)}"))

    def visit_Set(self, node: ast.Set) -> ast.expr:
        # Python builds a set of constants at once, with an order of its own.
        if all(map(_is_number, node.elts)):
            return node
        self.generic_visit(node)
        # Python makes a set of the elements before the first star, then extends it part by part.
        # So does this: a set merged into an empty one keeps its order, its single elements do not.
        first = next((i for i, e in enumerate(node.elts) if isinstance(e, ast.Starred)), None)
        call = ast.Call(_own("set"), [ast.List(node.elts[:first], ast.Load())], [])
        for element in [] if first is None else node.elts[first:]:
            if isinstance(element, ast.Starred):
                element = element.value
            else:
                element = ast.List([element], ast.Load())
            call = ast.Call(_own("extended"), [call, element], [])
        return call

    def visit_SetComp(self, node: ast.SetComp) -> ast.expr:
        self.generic_visit(node)
        return ast.Call(_own("set"), [ast.ListComp(node.elt, node.generators)], [])

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        # The order of a set has no effect if the set is only searched.
        [operator, *more], [right, *_] = node.ops, node.comparators
        if isinstance(operator, ast.In | ast.NotIn) and isinstance(right, ast.Set) and not more:
            node.left = self.visit(node.left)
            self.generic_visit(right)
            return node
        self.generic_visit(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and is_checked(node.func):
            return ast.Call(_own(node.func.attr), [node.func.value, *node.args], node.keywords)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "argsort":
            # NumPy's default orders equal values differently on different processors.
            positions = 2 if is_module(node.func.value) else 1
            has_kind = any(keyword.arg in ("kind", "stable", None) for keyword in node.keywords)
            starred = any(isinstance(argument, ast.Starred) for argument in node.args)
            if len(node.args) <= positions and not has_kind and not starred:
                node.keywords.append(ast.keyword("kind", ast.Constant("stable")))
        return node


def bound_names(nodes: Sequence[ast.AST]) -> frozenset[str]:
    """Return every name that a program binds anywhere; ``nodes`` are all of its nodes."""
    stored = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return frozenset(stored | {n.arg for n in nodes if isinstance(n, ast.arg)})


def is_checked(node: ast.Attribute) -> bool:
    """Return whether an attribute is a method in ``CHECKED``, not a function such as ``np.add``."""
    return node.attr in CHECKED and not is_module(node.value)


def _own(word: str) -> ast.Name:
    return ast.Name(_OWN.format(word), ast.Load())


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def _loaded_numpy(name: str, *_: Any) -> ModuleType:
    """Return a module of NumPy that is loaded already; refuse every other import.

    NumPy's C functions (``np.mean``, ``np.sort`` …) import their Python parts
    through the caller's ``__import__``; the guard refuses the name in programs.
    """
    if name.partition(".")[0] != "numpy" or name not in sys.modules:
        raise ImportError("Imports are refused.")
    return sys.modules[name]
