"""The rows of CSV files, each with its line in the file for what is said of it."""

import csv
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from specahd.core.errors import FileError

DELIMITERS = ",;\t"


@dataclass(frozen=True, slots=True)
class Row:
    """One row that is not blank.

    Parameters
    ----------
    path, line
        The file, and the row's line in it, from 1.
    cells
        Without the blanks around them, by column: its name, or its place before one is known.
    """

    path: Path
    line: int
    cells: Mapping[str, str]

    def error(self, holds: str, expected: str) -> FileError:
        """Return an error that names the file and the line."""
        return FileError(f"{self.path}: line {self.line} holds {holds}, expected {expected}.")

    def number(self, column: str, low: float, high: float, *, integer: bool = False) -> float:
        """Return what a column says, a number in [low, high].

        Raises
        ------
        FileError
            It is something else.
        """
        word = self.cells[column]
        value = number(word)
        if not low <= value <= high or (integer and not value.is_integer()):
            kind = "an integer" if integer else "a number"
            held = f"the {column} {word[:40]}" if word else f"no {column}"
            raise self.error(held, f"{kind} in [{low:.12g}, {high:.12g}]")
        return value

    def optional(self, column: str, low: float, high: float, otherwise: float) -> float:
        """Return the same, or ``otherwise`` where the column is missing or says nothing."""
        return self.number(column, low, high) if self.cells.get(column) else otherwise

    def zero(self, column: str) -> None:
        """Refuse a depot's number that is neither missing nor 0."""
        if self.cells.get(column) and number(self.cells[column]) != 0:
            raise self.error(f"the {column} {self.cells[column][:40]} of the depot", "0 or nothing")


def number(word: str) -> float:
    """Return the number that a word is; not a number if it is none."""
    try:
        # Python reads 1_000 as a number.
        return math.nan if "_" in word else float(word)
    except ValueError:
        return math.nan


def delimiter_of(line: str) -> str | None:
    """Return what separates the cells of a line, None where nothing does."""
    found = [sign for sign in DELIMITERS if sign in line]
    return max(found, key=line.count) if found else None


def read_rows(path: Path, text: str) -> list[Row]:
    """Return the rows that are not blank, the cells of each by their places.

    Raises
    ------
    FileError
        A quotation mark is not closed, or a cell is too long.
    """
    lines = text.splitlines()
    first = next(filter(None, map(str.strip, lines)), "")
    reader = csv.reader(io.StringIO(text), delimiter=delimiter_of(first) or ",", strict=True)
    rows = []
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                named = {str(place): cell.strip() for place, cell in enumerate(cells)}
                rows.append(Row(path, reader.line_num, named))
    except csv.Error as error:
        raise FileError(f"{path}: line {reader.line_num} cannot be read: {error}.") from None
    return rows
