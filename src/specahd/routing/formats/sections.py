"""The common shape of VRPLIB and TSPLIB files: ``KEY : value`` lines, then sections of numbers.

Reference: G. Reinelt, TSPLIB 95, University of Heidelberg, 1995.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from specahd.core.errors import FileError
from specahd.routing.base import FloatArray
from specahd.routing.formats import kinds
from specahd.routing.formats.ranges import Range, number_of
from specahd.routing.formats.text import read_text

T = TypeVar("T")

_NUMBER_STARTS = frozenset("0123456789+-.")
_FIELDS = (
    "NAME",
    "COMMENT",
    "TYPE",
    "DIMENSION",
    "EDGE_WEIGHT_TYPE",
    "EDGE_WEIGHT_FORMAT",
    "NODE_COORD_TYPE",
    "DISPLAY_DATA_TYPE",
)
"""Header fields that every format allows."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The allowed fields and sections of one kind of file.

    Any other field or section raises an error that names it. It may be a constraint, and
    without that constraint another problem would be solved.

    Parameters
    ----------
    types
        Accepted values of TYPE; files are written with the first one.
    sections
        Names of the allowed sections.
    fields
        Allowed header fields besides those of every format.
    """

    types: tuple[str, ...]
    sections: tuple[str, ...]
    fields: tuple[str, ...] = ()


class Sections:
    """The header fields and the sections of one file, as text.

    Parameters
    ----------
    path
        The file; every message names it.
    layout
        The allowed fields and sections.

    Attributes
    ----------
    kind
        The TYPE, one of the layout's.

    Raises
    ------
    FileError
        In the constructor and every method; :meth:`error` creates all of these errors.
    """

    def __init__(self, path: Path, layout: Layout) -> None:
        self.path = path
        self.fields: dict[str, str] = {}
        self._tokens: dict[str, list[str]] = {}
        text = read_text(path)
        own = [kinds.TYPES[name] for name in layout.types]
        kinds.refuse_other(path, text, own, layout.types[0])
        self._parse(text)
        # In some files, a person's name follows the type: "TSP (M.~Hofmeister)".
        kind = next(iter(self._field("TYPE").split()), "")
        self.kind = kind.upper()
        if self.kind not in layout.types:
            raise self.error(f"TYPE is {kind[:40]!r}, expected {layout.types[0]}")
        self._refuse_unknown("the fields", self.fields, (*_FIELDS, *layout.fields))
        self._refuse_unknown("the sections", self._tokens, layout.sections)
        if "NODE_COORD_TYPE" in self.fields:
            self.choice("NODE_COORD_TYPE", dict.fromkeys(("TWOD_COORDS", "NO_COORDS")))

    def _parse(self, text: str) -> None:
        tokens: list[str] | None = None
        for number, line in enumerate(text.splitlines(), start=1):
            words = line.split()
            # A line that begins with # is a comment, as for vrplib and PyVRP.
            if not words or words[0].startswith("#"):
                continue
            if tokens is not None and words[0][0] in _NUMBER_STARTS:
                tokens.extend(words)
                continue
            word = words[0].rstrip(":").upper()
            if word == "EOF":
                break
            if word.endswith("_SECTION"):
                if word in self._tokens:
                    raise self.error(f"{word} occurs twice, expected one")
                tokens = self._tokens.setdefault(word, [])
                tokens.extend(word for word in words[1:] if word != ":")
            else:
                tokens = None
                self._add_field(number, line)

    def _refuse_unknown(self, what: str, found: Mapping[str, object], known: Sequence[str]) -> None:
        for name in found:
            if name not in known:
                raise self.error(
                    f"{name[:40]} is not supported (docs/limits.md), "
                    f"expected {what} {', '.join(known)}"
                )

    def _add_field(self, number: int, line: str) -> None:
        key, colon, value = line.partition(":")
        key = key.strip().upper()
        if not colon or not key:
            raise self.error(
                f"line {number} is {line.strip()[:40]!r}, expected 'KEY : value' or a section"
            )
        if key == "COMMENT" and key in self.fields:
            value = f"{self.fields[key]} {value}"
        elif key in self.fields:
            raise self.error(f"{key} occurs twice, expected one")
        self.fields[key] = value.strip()

    def __contains__(self, section: str) -> bool:
        return section in self._tokens

    def error(self, sentence: str) -> FileError:
        """Return an error that names the file."""
        return FileError(f"{self.path}: {sentence}.")

    def choice(self, key: str, accepted: Mapping[str, T]) -> T:
        """Return the object that ``accepted`` holds for a field's value."""
        value = self._field(key).upper()
        if value not in accepted:
            raise self.error(f"{key} is {value[:40]!r}, expected {' or '.join(accepted)}")
        return accepted[value]

    def integer(self, key: str, low: int, high: int) -> int:
        """Return a field's value, an integer in [low, high]."""
        return int(self.number(key, Range(low, high, integer=True)))

    def number(self, key: str, accepted: Range) -> float:
        """Return a field's value, a number in a range."""
        word = self._field(key)
        value = number_of(word)
        if value not in accepted:
            raise self.error(f"{key} is {word[:40]!r}, expected {accepted}")
        return value

    def _field(self, key: str) -> str:
        if key not in self.fields:
            raise self.error(f"{key} is missing")
        return self.fields[key]

    def read_numbers(self, section: str) -> FloatArray:
        """Return a section's numbers in reading order."""
        if section not in self._tokens:
            raise self.error(f"{section} is missing")
        tokens = self._tokens[section]
        numbers = np.fromiter(map(number_of, tokens), np.float64, len(tokens))
        for place in np.flatnonzero(np.isnan(numbers)).tolist():
            raise self.error(f"{section} holds {tokens[place][:40]!r}, expected numbers")
        return numbers

    def table(self, section: str, rows: int, columns: int) -> FloatArray:
        """Return a section of numbered rows, ordered by node, without the numbers.

        Returns
        -------
        Array of shape (rows, columns); row i belongs to node i + 1.
        """
        numbers = self.read_numbers(section)
        if numbers.size != rows * (columns + 1):
            raise self.error(
                f"{section} holds {numbers.size} numbers, expected {rows * (columns + 1)} "
                f"(DIMENSION {rows}, {columns + 1} to a row)"
            )
        lines = numbers.reshape(rows, columns + 1)
        order = np.argsort(lines[:, 0], kind="stable")
        nodes = lines[order, 0]
        wrong = np.flatnonzero(nodes != np.arange(1, rows + 1))
        if wrong.size:
            node = nodes[wrong[0]]
            what = "twice" if (nodes == node).sum() > 1 else "out of order"
            raise self.error(
                f"{section} holds node {node:g} {what}, expected 1 to {rows}, each once"
            )
        return np.ascontiguousarray(lines[order, 1:])
