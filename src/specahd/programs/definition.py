"""Definition of the function that a child calls, from guarded source, in its own namespace.

Sets become checked sets, and strings labels. The new
names have double underscores, which a program must not contain. A call of ``argsort`` sorts
stably, as in compiled programs, unless the program sets the kind.

The order of a set follows from the hashes of its present and former elements.
Numbers and text have the same hash in every process (``PYTHONHASHSEED`` is fixed); NaN,
None, functions and iterators hash by their address. So every element is checked before it
enters a set. Everything else about sets is unchanged, their order as well.

NumPy writes any object into an array of text, address included, and reads types
from text, those of the clock included. So a program's strings are :class:`Label` objects,
which NumPy does not take for text. The exceptions are literals that are options of NumPy
(:func:`numpy_options`): they remain strings. So no variable ever holds a string, and no array type
can be given by a variable with a string. A type given as a literal is checked completely. Any other
expression for a type can only be a class (``np.float64``, ``float``) or the type of an array, and
all arrays hold numbers or objects.
"""

import ast
import builtins
import functools
import math
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, TypeGuard

import numpy as np

from specahd.core.sums import sequential_sum
from specahd.core.syntax import parse
from specahd.programs.language import BUILTINS, OPTIONS, POSITIONS, GuardRefusal


@functools.total_ordering
class Label:
    """A string constant of a program, which compares, sorts and hashes as its text does."""

    __slots__ = ("_hash", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._hash = hash(text)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, Label) else NotImplemented

    def __lt__(self, other: object) -> bool:
        return self._text < other._text if isinstance(other, Label) else NotImplemented

    def __bool__(self) -> bool:
        return bool(self._text)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return repr(self._text)


Label.__name__ = "str"

_EXACT = frozenset({bool, int, Label, np.bool_, np.int64})
"""Types that need no further check."""
_INEXACT = (float, complex, np.inexact)


def _admit(element: Any) -> None:
    """Refuse an element whose hash may differ from run to run."""
    kind = type(element)
    if kind in _EXACT or kind is frozenset or issubclass(kind, np.integer):
        return
    if kind is tuple:
        for part in element:
            _admit(part)
    elif not issubclass(kind, _INEXACT):
        # Python itself refuses unhashable elements.
        hash(element)
        raise TypeError(f"a set holds numbers, strings and tuples of them, not {kind.__name__}")
    elif element != element:
        raise TypeError("a set cannot hold nan")


def _admitted(elements: Iterable[Any]) -> Iterable[Any]:
    """Check the elements of a set and return them; sets and dicts are returned as they are."""
    if isinstance(elements, set | frozenset):
        return elements
    kept = elements if isinstance(elements, dict) else list(elements)
    if not _EXACT.issuperset(map(type, kept)):
        for element in kept:
            _admit(element)
    return kept


class _Maker(type):
    """Metaclass of the replacement of a set class: constructor, isinstance checks, methods."""

    made: type[Any]

    def __call__(cls, *elements: Iterable[Any]) -> Any:
        return cls.made(*map(_admitted, elements))

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.made)

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls.made, name)


Set = _Maker("set", (), {"made": set})
"""The replacement of ``set`` in programs."""
FrozenSet = _Maker("frozenset", (), {"made": frozenset})
"""The replacement of ``frozenset`` in programs."""


def _add(owner: Any, *elements: Any) -> None:
    for element in elements[-1:]:
        if type(element) not in _EXACT:
            _admit(element)
    owner.add(*elements)


def _update(owner: Any, *others: Iterable[Any]) -> None:
    if isinstance(owner, set) or owner is Set:
        others = tuple(map(_admitted, others))
    owner.update(*others)


def extend_set(made: set[Any], elements: Iterable[Any]) -> set[Any]:
    """Add elements to a set and return it, as a display with stars does for each part."""
    made.update(_admitted(elements))
    return made


def _union(owner: Any, *others: Iterable[Any]) -> Any:
    return owner.union(*map(_admitted, others))


def _symmetric_difference(owner: Any, *others: Iterable[Any]) -> Any:
    return owner.symmetric_difference(*map(_admitted, others))


def _at(owner: Any, *operands: Any) -> None:
    # It is the only function of NumPy that writes to read-only arrays.
    if any(isinstance(array, np.ndarray) and not array.flags.writeable for array in operands[:1]):
        raise ValueError("output array is read-only")
    owner.at(*operands)


CHECKED: Mapping[str, Callable[..., Any]] = {
    "add": _add,
    "update": _update,
    "union": _union,
    "symmetric_difference": _symmetric_difference,
    "at": _at,
}
"""Replacements of methods in programs, by name; the owner is their first argument.

Through all but ``at``, elements enter a set.
"""


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


_SUBSCRIPTS = re.compile(r"[A-Za-z,.> -]*")
_PASSES_ON = "apply_along_axis"
"""A function that passes its keywords to the program; ``dict`` and ``update`` store theirs."""


def numpy_options(nodes: Iterable[ast.AST], bound: frozenset[str]) -> frozenset[ast.Constant]:
    """Return the string constants of a program that remain strings.

    Parameters
    ----------
    nodes
        All nodes of the program.
    bound
        Every name that the program binds anywhere.

    Raises
    ------
    GuardRefusal
        An option of NumPy is unknown, a type is not one of numbers, or a keyword
        would become a string of the program.
    """
    calls = (node for node in nodes if isinstance(node, ast.Call))
    return frozenset(option for call in calls for option in _options_of(call, bound))


def _options_of(call: ast.Call, bound: frozenset[str]) -> Iterator[ast.Constant]:
    callee = call.func
    if isinstance(callee, ast.Attribute):
        name, of_numpy = callee.attr, is_module(callee.value)
        if call.keywords and (name in ("update", _PASSES_ON)):
            raise GuardRefusal(f"{name} takes no keywords", call)
    elif isinstance(callee, ast.Name) and callee.id not in bound:
        name, of_numpy = callee.id, False
        if call.keywords and name == "dict":
            raise GuardRefusal("dict takes no keywords", call)
        if name == "float" and len(call.args) == 1 and _is_text(call.args[0]):
            yield call.args[0]
        return
    elif call.keywords:
        raise GuardRefusal("keywords are for builtins, methods and functions of NumPy", call)
    else:
        return
    known, *places = POSITIONS.get(name, ("", None, None))
    place = places[0 if of_numpy else 1]
    strange = []
    for position, argument in enumerate(call.args):
        for value in _texts(argument):
            if position == place:
                yield _checked(known, value)
            elif of_numpy:
                strange.append(value)
    for keyword in call.keywords:
        for value in _texts(keyword.value):
            yield _checked(keyword.arg or "", value)
    for value in strange:
        raise GuardRefusal(f"the string {value.value!r} is no option of {name}", value)


def is_module(node: ast.expr) -> bool:
    """Return whether an expression is a module that programs can use, rather than an object."""
    if isinstance(node, ast.Attribute):
        return node.attr == "linalg"
    return isinstance(node, ast.Name) and node.id in ("np", "math")


def _texts(node: ast.expr) -> Iterator[ast.Constant]:
    if isinstance(node, ast.IfExp):
        yield from (*_texts(node.body), *_texts(node.orelse))
    elif _is_text(node):
        yield node


def _is_text(node: ast.AST) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _checked(option: str, node: ast.Constant) -> ast.Constant:
    value = node.value
    assert isinstance(value, str)
    if option == "dtype":
        if not _holds_numbers(value):
            raise GuardRefusal(f"the array type {value!r} is not allowed", node)
    elif option == "subscripts":
        if not _SUBSCRIPTS.fullmatch(value):
            raise GuardRefusal(f"the subscripts {value!r} are not allowed", node)
    elif value not in OPTIONS.get(option, ()):
        raise GuardRefusal(f"the option {value!r} is not allowed", node)
    return node


def _holds_numbers(name: str) -> bool:
    """Return whether a string names a NumPy type of numbers, as a whole and so in every part."""
    with warnings.catch_warnings(action="ignore"):
        try:
            return np.dtype(name).kind in "biufc"
        except (TypeError, ValueError, SyntaxError):
            return False


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
