"""The rows of CSV files, each with its line number for messages."""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from specahd.core.errors import FileError
from specahd.routing.formats.ranges import Range, number_of

DELIMITERS = ",;\t"
STATED_DELIMITERS = (*DELIMITERS, "|")
"""Delimiters that a line ``sep=;`` may name."""
_STATED = re.compile(r'"?sep=(.*)', re.IGNORECASE)
_COMMA = re.compile(r"[+-]?\d*,\d+(e[+-]?\d+)?", re.IGNORECASE)
_DOUBTFUL = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
"""Pattern of a number with a comma that may be a thousands separator."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row that is not blank.

    Parameters
    ----------
    path, line
        The file, and the row's line in it, from 1.
    cells
        Texts without surrounding blanks, by the column's name, or by its place if not yet named.
    """

    path: Path
    line: int
    cells: Mapping[str, str]

    def error(self, holds: str, expected: str) -> FileError:
        """Return an error that names the file and the line."""
        # Cells may have several lines, a message has one.
        holds = holds.replace("\n", " ")
        return FileError(f"{self.path}: line {self.line} holds {holds}, expected {expected}.")

    def number(self, column: str, accepted: Range) -> float:
        """Return a column's value, a number in a range.

        Raises
        ------
        FileError
            The value is not a number in the range.
        """
        value = number_of(self.cells[column])
        if value not in accepted:
            raise self.error(self.raw_value(column), str(accepted))
        return value

    def raw_value(self, column: str) -> str:
        """Return a column's text, for an error."""
        word = self.cells[column]
        return f"the {column} {word[:40]}" if word else f"no {column}"

    def zero(self, column: str) -> None:
        """Refuse a depot's number that is neither missing nor 0."""
        if self.cells.get(column) and number_of(self.cells[column]) != 0:
            raise self.error(f"the {column} {self.cells[column][:40]} of the depot", "0 or nothing")


class DecimalCommas:
    """Reader of the numbers of a file in which a comma may stand for the decimal point."""

    def __init__(self) -> None:
        self._sure = False
        self._doubtful: FileError | None = None
        self._pointed: FileError | None = None

    def read(self, row: Row, column: str, cell: str) -> str:
        """Return a cell with a point in place of its decimal comma."""
        if "." in cell and self._pointed is None:
            self._pointed = row.error(
                f"the {column} {cell[:40]} beside decimal commas", "one decimal sign in all rows"
            )
        if _COMMA.fullmatch(cell) is None:
            return cell
        if _DOUBTFUL.fullmatch(cell) is None:
            self._sure = True
        elif self._doubtful is None:
            whole = cell.replace(",", "")
            self._doubtful = row.error(
                f"the {column} {cell}, which may be {whole} or a decimal",
                f"{whole} or {cell.replace(',', '.')}",
            )
        return cell.replace(",", ".")

    def check_consistent(self) -> None:
        """Refuse a file with ambiguous commas, or with decimal points and decimal commas.

        Raises
        ------
        FileError
            The message names the first of these numbers.
        """
        if self._doubtful is not None and not self._sure:
            raise self._doubtful
        if self._pointed is not None and self._sure:
            raise self._pointed


def delimiter_of(line: str) -> str | None:
    """Return the delimiter of a line; None if it has none."""
    found = [sign for sign in DELIMITERS if sign in line]
    # Beside other separators, commas are decimal commas, unless the line has letters.
    if len(found) > 1 and "," in found and not any(map(str.isalpha, line)):
        found.remove(",")
    return max(found, key=line.count) if found else None


def lines_of(text: str) -> tuple[Iterator[tuple[int, str]], str | None, bool]:
    """Return the lines of a table, their delimiter, and whether the file states it.

    Returns
    -------
    The lines that are not blank, with their numbers from 1 and without the line ``sep=;`` that
    Excel writes first; the separator of that line, else the one found in the first line, None if
    it has none; and whether the file has a line ``sep=;``.
    """
    lines = ((number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip())
    first = next(lines, None)
    if first is None:
        return lines, None, False
    if stated := _STATED.match(first[1].lstrip()):
        return lines, stated[1].rstrip(" ").removesuffix('"'), True
    return chain([first], lines), delimiter_of(first[1]), False


def cells_of(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the cells of each row that is not blank.

    Raises
    ------
    FileError
        A quotation mark is not closed, a cell is too long, or the file states a separator that
        is not supported.
    """
    _, sign, stated = lines_of(text)
    sign = "," if sign is None else sign
    if stated and sign not in STATED_DELIMITERS:
        raise FileError(
            f"{path}: sep= names the separator {sign[:40]!r}, "
            "expected a comma, a semicolon, a tab or '|'."
        )
    # Spreadsheets of a Mac may end lines by a carriage return alone.
    lines = io.StringIO(text, newline=None)
    reader = csv.reader(lines, delimiter=sign, strict=True)
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                if not stated:
                    yield reader.line_num, [cell.strip() for cell in cells]
                stated = False
    except csv.Error as error:
        raise FileError(f"{path}: line {reader.line_num} cannot be read: {error}.") from None


def read_rows(path: Path, text: str) -> list[Row]:
    """Return the rows that are not blank, with cells by their places.

    Empty columns at the end, as Excel writes them, are left out.

    Raises
    ------
    FileError
        As :func:`cells_of` does.
    """
    table = list(cells_of(path, text))
    width = max(
        (place + 1 for _, cells in table for place, cell in enumerate(cells) if cell), default=0
    )
    return [
        Row(path, line, {str(place): cell for place, cell in enumerate(cells[:width])})
        for line, cells in table
    ]
