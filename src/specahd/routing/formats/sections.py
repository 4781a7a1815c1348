"""The common shape of VRPLIB and TSPLIB files: ``KEY : value`` lines, then sections of numbers.

Reference: G. Reinelt, TSPLIB 95, University of Heidelberg, 1995.
"""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TypeVar

import numpy as np

from specahd.core.errors import FileError
from specahd.routing.base import FloatArray

T = TypeVar("T")

_NUMBER_STARTS = frozenset("0123456789+-.")


def read_text(path: Path) -> str:
    """Return the text of a file.

    Raises
    ------
    FileError
        The file cannot be read, or is not UTF-8 text.
    """
    try:
        text = path.read_bytes().decode()
    except OSError as error:
        raise FileError(f"Cannot read {path}: {error.strerror}.") from error
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise FileError(f"{path}: expected a text file, got binary data.")
    return text


class Sections:
    """The header fields and the sections of one file, as text.

    Parameters
    ----------
    path
        The file; every message names it.
    accepted
        The section names that the format has.

    Raises
    ------
    FileError
        From the constructor and every method; :meth:`error` makes them all.
    """

    def __init__(self, path: Path, accepted: Collection[str]) -> None:
        self.path = path
        self.fields: dict[str, str] = {}
        self._tokens: dict[str, list[str]] = {}
        tokens: list[str] | None = None
        for number, line in enumerate(read_text(path).splitlines(), start=1):
            words = line.split()
            if not words:
                continue
            if tokens is not None and words[0][0] in _NUMBER_STARTS:
                tokens.extend(words)
                continue
            word = words[0].rstrip(":").upper()
            if word == "EOF":
                break
            if word.endswith("_SECTION"):
                tokens = self._open(word, accepted)
            else:
                tokens = None
                self._add_field(number, line)

    def _open(self, name: str, accepted: Collection[str]) -> list[str]:
        if name not in accepted:
            raise self.error(f"{name} is not supported, expected one of {', '.join(accepted)}")
        if name in self._tokens:
            raise self.error(f"{name} occurs twice, expected one")
        return self._tokens.setdefault(name, [])

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
        """Return what a field's value stands for."""
        value = self._field(key).upper()
        if value not in accepted:
            raise self.error(f"{key} is {value[:40]!r}, expected {' or '.join(accepted)}")
        return accepted[value]

    def integer(self, key: str, low: int, high: int) -> int:
        """Return a field's value, an integer in [low, high]."""
        text = self._field(key)
        try:
            value = float(text)
        except ValueError:
            value = np.nan
        if not (low <= value <= high and value.is_integer()):
            raise self.error(f"{key} is {text[:40]!r}, expected an integer in [{low}, {high}]")
        return int(value)

    def _field(self, key: str) -> str:
        if key not in self.fields:
            raise self.error(f"{key} is missing")
        return self.fields[key]

    def numbers(self, section: str) -> FloatArray:
        """Return a section's numbers in reading order."""
        if section not in self._tokens:
            raise self.error(f"{section} is missing")
        tokens = self._tokens[section]
        try:
            return np.array(tokens, dtype=np.float64)
        except ValueError:
            wrong = next(token for token in tokens if not _is_number(token))
            raise self.error(f"{section} holds {wrong[:40]!r}, expected numbers") from None

    def table(self, section: str, rows: int, columns: int) -> FloatArray:
        """Return a section of numbered rows, ordered by node, without the numbers.

        Returns
        -------
        Array of shape (rows, columns); row i belongs to node i + 1.
        """
        numbers = self.numbers(section)
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


def _is_number(token: str) -> bool:
    try:
        float(token)
    except ValueError:
        return False
    return True
