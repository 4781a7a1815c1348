"""Identify the kind of a file by its text, so that messages can name it."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from specahd.core.errors import FileError
from specahd.routing.formats.rows import STATED_DELIMITERS, lines_of


@dataclass(frozen=True, slots=True)
class FileKind:
    """A kind of file.

    Parameters
    ----------
    content
        Text that follows the file's name in messages.
    type
        The TYPE that TSPLIB and VRPLIB give such instances, as ``VRPTW`` with time windows; None if
        the file does not tell. A problem says in ``types`` which it reads.
    solution
        Whether it is a solution, else an instance.
    reader
        Text on the reader in messages, if ``type`` is None.
    """

    content: str
    type: str | None
    solution: bool = False
    reader: str = "any problem reads it"

    @property
    def option(self) -> str:
        """The option that chooses the problem of this TYPE, which has its name."""
        return f"problem={(self.type or '').lower()}"


SOLOMON = FileKind("this is Solomon's text of VRPTW", "VRPTW")
NUMBERS = FileKind("these are the plain numbers of an SDVRP set", "SDVRP")
ROUTES = FileKind("this is a solution", None, solution=True)
STOPS = FileKind("this is a table of stops", None, reader="specahd solve reads it")
MATRIX = FileKind("this is a distance matrix", None, reader="specahd solve reads it")
TYPES = {
    "TSP": FileKind("TYPE is 'TSP'", "TSP"),
    "ATSP": FileKind("TYPE is 'ATSP'", "TSP"),
    "CVRP": FileKind("TYPE is 'CVRP'", "CVRP"),
    "SDVRP": FileKind("TYPE is 'SDVRP'", "SDVRP"),
    "VRPTW": FileKind("TYPE is 'VRPTW'", "VRPTW"),
    "CVRPTW": FileKind("TYPE is 'CVRPTW'", "VRPTW"),
    "TOUR": FileKind("TYPE is 'TOUR'", "TSP", solution=True),
}
"""Kinds of files by the first word of TYPE."""
STOP_COLUMNS = {
    "name": "anything, each once; the stop called depot is the depot, else the first one is",
    "x": "a place in a plane, with y; distances are straight, in the unit of both",
    "y": "as x",
    "lon": "degrees, with lat; distances are metres along great circles",
    "lat": "as lon",
    "demand": "a number in the unit of capacity=; nothing or 0 at the depot",
    "ready": "the earliest start of the service: 30, 08:30, 2026-12-01 08:30, or none",
    "due": "the latest one; at the depot: when vehicles are back",
    "service": "how long it takes: 5, or 00:05; at the depot: loading before each route",
    "prize": "what leaving the stop out costs; nothing: it must be served",
}
"""The columns of a table of stops, and their meaning."""
_OTHER_NAMES = {
    "id": "name",
    "longitude": "lon",
    "lng": "lon",
    "latitude": "lat",
    "ready_time": "ready",
    "due_time": "due",
    "due_date": "due",
    "service_time": "service",
    # Pandas' name for a column without a heading.
    "unnamed:_0": "",
}

_LONGEST_LINE = 1 << 20
"""Most characters of a table's first line; a distance matrix of 20,000 stops has fewer."""
# No repetition directly follows another: backtracking on a long line would take very long.
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?|nan|[+-]?inf", re.IGNORECASE)
# The bound keeps a line of millions of letters from being tried from each of its ends.
_FIELD = re.compile(r"(?!unnamed)[a-z_]{1,100}\s*:", re.IGNORECASE)
_ROUTE = re.compile(r"route\s*(#\s*)?\d+\s*:", re.IGNORECASE)


def identify(text: str) -> FileKind | None:
    """Return the kind of a text; None if it is of no known kind."""
    lines = filter(None, map(str.strip, text.splitlines()))
    first = list(islice(lines, 2))
    # Some files lack the line with the name.
    if "VEHICLE" in map(str.upper, first):
        return SOLOMON
    if first and not begins_with_field(first[0]):
        if table := _table(text):
            return table
        if all(map(_NUMBER.fullmatch, first[0].split())):
            return NUMBERS
    for line in chain(first, lines):
        if _ROUTE.match(line):
            return ROUTES
        key, colon, value = line.upper().partition(":")
        if colon and key.strip() == "TYPE":
            return TYPES.get(next(iter(value.split()), ""))
        if key == "EOF":
            return None
    return None


def begins_with_field(line: str) -> bool:
    """Return whether a line is ``KEY : value``, as in VRPLIB and TSPLIB files."""
    return _FIELD.match(line) is not None


def _table(text: str) -> FileKind | None:
    """Return the kind of CSV file that a text is; None if it is none."""
    numbered, sign, stated = lines_of(text)
    lines = (line for _, line in numbered)
    first, second = next(lines, ""), next(lines, "")
    if stated and (sign not in STATED_DELIMITERS or not first):
        # Its reader reports the error.
        return STOPS
    if len(first) > _LONGEST_LINE:
        return None
    words = first.split()
    if sign in (None, "\t") and all(map(_NUMBER.fullmatch, words)):
        # SDVRP sets begin with the number of customers, which is not 0, and the capacity.
        return MATRIX if len(words) > 2 and float(words[0].replace(",", ".")) == 0 else None
    if sign is None:
        return None
    cells, below = _cells(first, sign), _cells(second, sign)
    if all(map(_NUMBER.fullmatch, cells)):
        return MATRIX
    known = [column_of(cell) in STOP_COLUMNS for cell in cells]
    # The names of the first line are in the first column too.
    if below[:1] == cells[1:2] != [""] and not all(known[1:]):
        return MATRIX
    if any(known):
        return STOPS
    square = all(map(_NUMBER.fullmatch, below)) and len(cells) == len(below) == 1 + _count(lines)
    return MATRIX if not column_of(cells[0]) or square else None


def _cells(line: str, sign: str) -> list[str]:
    return [cell.strip().strip('"') for cell in line.split(sign)]


def _count(lines: Iterator[str]) -> int:
    """Return the number of lines that hold more than separators."""
    return sum(1 for line in lines if line.strip(" ,;|\t"))


def column_of(word: str) -> str:
    """Return the column of a table of stops that a heading stands for."""
    name = "_".join(word.lower().split())
    return _OTHER_NAMES.get(name, name)


def refuse_other(path: Path, text: str, expected: Collection[FileKind], what: str) -> None:
    """Refuse a file of a known kind that is not one of the expected kinds.

    Parameters
    ----------
    what
        Text on the expected kind, for the message.

    Raises
    ------
    FileError
        The sentence names the file's kind and the problem that reads it.
    """
    kind = identify(text)
    if kind is None or kind in expected:
        return
    reader = f"{kind.option} reads it" if kind.type else kind.reader
    role = "incumbent" if kind.solution else "instance"
    raise FileError(f"{path}: {kind.content}, expected {what} ({reader}, as {role}=FILE).")


def unreadable_error(path: Path, text: str, problems: Collection[str]) -> FileError:
    """Return an error with the reason why no problem reads a text.

    Parameters
    ----------
    text
        Content of the file.
    problems
        Names of the problems that were tried.
    """
    lines, sign, _ = lines_of(text)
    number, first = next(lines, (0, ""))
    instance = f"expected an instance of {', '.join(problems)}"
    if not first:
        return FileError(f"{path} is empty, {instance}.")
    if field := _type(text):
        return FileError(f"{path}: {field}.")
    where, line = f"{path}: line {number}", first.strip()[:40]
    columns = ", ".join(STOP_COLUMNS)
    if sign is not None:
        return FileError(f"{where} is {line!r} and names none of the columns {columns}.")
    if sum(column_of(word) in STOP_COLUMNS for word in first.split()) > 1:
        return FileError(
            f"{where} separates its columns by blanks, expected commas, semicolons or tabs."
        )
    return FileError(f"{where} is {line!r}, {instance}, or a table with columns among {columns}.")


def _type(text: str) -> str | None:
    """Return the error in TYPE; None for a text without fields and sections."""
    expected = [name for name, kind in TYPES.items() if not kind.solution]
    accepted = f"expected {', '.join(expected[:-1])} or {expected[-1]} (docs/limits.md)"
    colonless = None
    has_fields = begins_with_field(text.lstrip())
    for number, line in enumerate(map(str.strip, text.splitlines()), start=1):
        key, colon, value = line.partition(":")
        word = next(iter(key.split()), "").upper()
        if word == "EOF":
            break
        if word == "TYPE" and colon:
            return f"TYPE is {value.strip()[:40]!r}, {accepted}"
        if word == "TYPE":
            colonless = f"line {number} is {line[:40]!r}, expected 'TYPE : value'"
        has_fields |= word.endswith("_SECTION")
    return (colonless or f"TYPE is missing, {accepted}") if has_fields else None
