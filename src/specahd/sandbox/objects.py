"""Sets and strings for programs that reveal neither addresses nor the clock.

The order of a set follows from the hashes of its present and former elements.
Numbers and text have the same hash in every process (``PYTHONHASHSEED`` is fixed); NaN,
None, functions and iterators hash by their address. So every element is checked before it
enters a set. Everything else about sets is unchanged, their order as well.

NumPy writes any object into an array of text, address included, and reads types
from text, those of the clock included. So a program's strings are :class:`Label` objects,
which NumPy does not take for text; :mod:`specahd.sandbox.options` has the exceptions.
"""

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np


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
    """Refuse an element whose hash may differ from run to run.

    Raises
    ------
    TypeError
        It is neither a number nor a string nor a tuple or frozenset of them, or it is NaN.
    """
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
    """Check the elements of a set and return them; sets and dicts are returned as they are.

    Raises
    ------
    TypeError
        One of them is refused by :func:`_admit`.
    """
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
