"""What a file is, told by its text: so that a file for another problem is named as what it is."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from specahd.core.errors import FileError
from specahd.routing.formats.rows import delimiter_of


@dataclass(frozen=True, slots=True)
class FileKind:
    """A kind of file.

    Parameters
    ----------
    content
        Completes a sentence that begins with the file's name.
    problem
        Which problem reads it, as ``problem=`` names it; None where its instance decides.
    solution
        Whether it is a solution, else an instance.
    reader
        What reads it, where that is no problem.
    """

    content: str
    problem: str | None
    solution: bool = False
    reader: str = "any problem reads it"


SOLOMON = FileKind("this is Solomon's text of VRPTW", "vrptw")
NUMBERS = FileKind("these are the plain numbers of an SDVRP set", "sdvrp")
ROUTES = FileKind("this is a solution", None, solution=True)
STOPS = FileKind("this is a table of stops", None, reader="specahd solve reads it")
MATRIX = FileKind("this is a distance matrix", None, reader="specahd solve reads it")
TYPES = {
    "TSP": FileKind("TYPE is 'TSP'", "tsp"),
    "CVRP": FileKind("TYPE is 'CVRP'", "cvrp"),
    "SDVRP": FileKind("TYPE is 'SDVRP'", "sdvrp"),
    "VRPTW": FileKind("TYPE is 'VRPTW'", "vrptw"),
    "CVRPTW": FileKind("TYPE is 'CVRPTW'", "vrptw"),
    "TOUR": FileKind("TYPE is 'TOUR'", "tsp", solution=True),
}
"""By the first word of TYPE."""
STOP_COLUMNS = ("name", "x", "y", "lon", "lat", "demand", "ready", "due", "service")
"""What a table of stops may hold."""
_OTHER_NAMES = {
    "id": "name",
    "longitude": "lon",
    "lng": "lon",
    "latitude": "lat",
    "ready_time": "ready",
    "due_time": "due",
    "due_date": "due",
    "service_time": "service",
}

# No two repetitions meet here: on a long line they would take for ever to fail.
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|nan|[+-]?inf", re.IGNORECASE)
_ROUTE = re.compile(r"route\s*(#\s*)?\d+\s*:", re.IGNORECASE)


def identify(text: str) -> FileKind | None:
    """Return what a text is; None for anything that no problem reads."""
    for number, line in enumerate(filter(None, map(str.strip, text.splitlines()))):
        if number == 0 and (table := _table(line)):
            return table
        if number == 0 and all(map(_NUMBER.fullmatch, line.split())):
            return NUMBERS
        if number == 1 and line.upper() == "VEHICLE":
            return SOLOMON
        if _ROUTE.match(line):
            return ROUTES
        key, colon, value = line.upper().partition(":")
        if colon and key.strip() == "TYPE":
            return TYPES.get(next(iter(value.split()), ""))
        if line.upper().endswith("_SECTION"):
            return None
    return None


def _table(line: str) -> FileKind | None:
    """Return which CSV file begins with a line, None if none does."""
    sign = delimiter_of(line)
    if sign is None:
        return None
    cells = [cell.strip().strip('"') for cell in line.split(sign)]
    # The sets of SDVRP separate their numbers by tabs.
    if sign != "\t" and (not cells[0] or all(map(_NUMBER.fullmatch, cells))):
        return MATRIX
    return STOPS if any(column_of(cell) in STOP_COLUMNS for cell in cells) else None


def column_of(word: str) -> str:
    """Return which column of a table of stops a word of its first line names."""
    name = "_".join(word.lower().split())
    return _OTHER_NAMES.get(name, name)


def refuse_other(path: Path, text: str, expected: Collection[FileKind], what: str) -> None:
    """Refuse a file that is of a known kind, and of none of those that are expected.

    Parameters
    ----------
    what
        What is expected, in words.

    Raises
    ------
    FileError
        The sentence says what the file is, and what reads it.
    """
    kind = identify(text)
    if kind is None or kind in expected:
        return
    reader = f"problem={kind.problem} reads it" if kind.problem else kind.reader
    role = "incumbent" if kind.solution else "instance"
    raise FileError(f"{path}: {kind.content}, expected {what} ({reader}, as {role}=FILE).")
