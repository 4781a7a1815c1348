"""Text files of vehicle routing with time windows, in the format of Solomon and Homberger.

References: M. M. Solomon, Operations Research 35(2), 1987; H. Gehring and
J. Homberger, Proceedings of EUROGEN99, 1999.
"""

import re
import warnings
from math import isnan
from pathlib import Path

import numpy as np

from specahd.core.errors import FileError, FileWarning
from specahd.routing.base import FloatArray
from specahd.routing.formats import kinds
from specahd.routing.formats.ranges import Range, number_of
from specahd.routing.formats.text import read_text
from specahd.routing.formats.vrplib import (
    COORDINATE,
    DEMAND,
    LARGEST,
    OPTION,
    TIME,
    TimeWindows,
    VRPLIBData,
    expected_times,
    warn_of_rounding,
)
from specahd.routing.geometry import Convention

_COLUMNS = ("CUST NO.", "XCOORD.", "YCOORD.", "DEMAND", "READY TIME", "DUE DATE", "SERVICE TIME")
_SETS = {
    # Solomon's smaller instances consist of the first customers of the large ones.
    re.compile(r"(C|R|RC)[12]\d\d"): (25, 50, 100),
} | {re.compile(rf"(C|R|RC)[12]_{size}_\d+"): (100 * size,) for size in (2, 4, 6, 8, 10)}
"""Numbers of customers by a pattern of the instance's name, to detect truncated files."""
_NUMBER, _X, _Y, _DEMAND, _READY, _DUE, _SERVICE = range(7)
_RANGES = {_X: COORDINATE, _Y: COORDINATE, _DEMAND: DEMAND} | dict.fromkeys(
    (_READY, _DUE, _SERVICE), TIME
)


def is_solomon(path: Path) -> bool:
    """Return whether a text file has Solomon's layout: VEHICLE after a line with the name, if any.

    Raises
    ------
    FileError
        The file cannot be read, or is not text.
    """
    return kinds.identify(read_text(path)) is kinds.SOLOMON


def read(path: Path, convention: Convention, customers: int | None = None) -> VRPLIBData:
    """Read a file; the format does not define how distances are measured.

    Without a line for the name, the file's name is taken.

    NUMBER, the size of the fleet, is not a limit here, as for VRPLIB files.

    Parameters
    ----------
    convention
        How distances are measured.
    customers
        Number of customers of the instance, the first ones of the file. 25 or
        50 give Solomon's smaller instances, with names like ``C101.25``. None
        takes all.

    Raises
    ------
    FileError
        The file is missing, truncated, not text, violates the format, or has
        fewer customers.

    Warns
    -----
    FileWarning
        The name is of no known set, so that a truncated file cannot be detected; or rounding
        changes distances much.
    """
    lines = _lines(path)
    if lines and lines[0][1].upper() == "VEHICLE":
        lines.insert(0, (0, path.stem))
    name, vehicles, capacity = _header(path, lines)
    table = _table(path, lines[6:])
    _check(path, table)
    _check_complete(path, name, len(table) - 1)
    if customers is not None:
        if not 1 <= customers < len(table):
            raise FileError(
                f"{path}: CUSTOMER holds {len(table) - 1} customers, "
                f"expected at least the {customers} asked for."
            )
        if customers < len(table) - 1:
            table = table[: customers + 1]
            name = f"{name}.{customers}"
    coords = table[:, [_X, _Y]]
    warn_of_rounding(path, coords, convention, OPTION)
    return VRPLIBData(
        name=name,
        capacity=capacity,
        convention=convention,
        coords=coords,
        demands=table[:, _DEMAND].astype(np.int64),
        windows=TimeWindows(
            *(np.ascontiguousarray(table[:, column]) for column in (_READY, _DUE, _SERVICE))
        ),
        vehicles=vehicles,
    )


def _lines(path: Path) -> list[tuple[int, str]]:
    """Return the lines that are not blank, with their numbers from 1."""
    lines = enumerate(read_text(path).splitlines(), start=1)
    return [(number, line.strip()) for number, line in lines if line.strip()]


def _header(path: Path, lines: list[tuple[int, str]]) -> tuple[str, int | None, int]:
    """Return the name, the number of vehicles unless it is 0, and the capacity."""
    words = [line.upper().split() for _, line in lines[:6]]
    if [row[:1] for row in words[1:6:3]] != [["VEHICLE"], ["CUSTOMER"]] or words[2:3] != [
        ["NUMBER", "CAPACITY"]
    ]:
        raise FileError(
            f"{path}: expected the lines NAME, VEHICLE, NUMBER CAPACITY, two numbers, CUSTOMER "
            "and the names of its columns."
        )
    counts = _floats(path, lines[3], 2)
    for field, value, least in zip(words[2], counts, (0, 1), strict=True):
        if value not in (accepted := Range(least, LARGEST, integer=True)):
            raise FileError(f"{path}: {field} is {value:g}, expected {accepted}.")
    return lines[0][1], int(counts[0]) or None, int(counts[1])


def _table(path: Path, lines: list[tuple[int, str]]) -> FloatArray:
    """Return the rows of CUSTOMER, one per node and in order."""
    rows = [_floats(path, line, len(_COLUMNS)) for line in lines]
    if len(rows) < 2:
        raise FileError(
            f"{path}: CUSTOMER holds {len(rows)} rows, "
            "expected at least 2 (a depot and a customer)."
        )
    table = np.array(rows)
    wrong = np.flatnonzero(table[:, _NUMBER] != np.arange(len(rows)))
    if wrong.size:
        raise FileError(
            f"{path}: line {lines[wrong[0]][0]} holds CUST NO. {table[wrong[0], _NUMBER]:g}, "
            f"expected {wrong[0]}."
        )
    return table


def _check_complete(path: Path, name: str, customers: int) -> None:
    """Refuse a truncated file of a known set; warn if the name is of no known set."""
    for pattern, sizes in _SETS.items():
        if pattern.fullmatch(name.upper()):
            if customers not in sizes:
                expected = " or ".join(map(str, sizes))
                raise FileError(
                    f"{path}: CUSTOMER holds {customers} customers, expected {expected} in {name}."
                )
            return
    warnings.warn(
        f"{path}: CUSTOMER holds {customers} customers, and nothing else says how many there "
        "should be: a file that was cut looks the same.",
        FileWarning,
        stacklevel=3,
    )


def _floats(path: Path, line: tuple[int, str], count: int) -> list[float]:
    place, text = line
    values = list(map(number_of, text.split()))
    if len(values) != count or any(map(isnan, values)):
        raise FileError(f"{path}: line {place} is {text[:40]!r}, expected {count} numbers.")
    return values


def _check(path: Path, table: FloatArray) -> None:
    """Refuse numbers that are out of range."""
    wrong = [
        (place, column, str(accepted))
        for column, accepted in _RANGES.items()
        for place in accepted.outside(table[:, column])
    ]
    late = np.flatnonzero(table[:, _DUE] < table[:, _READY]).tolist()
    wrong += [(place, _DUE, f"a number in [READY TIME, {TIME.high:g}]") for place in late]
    for place, column, expected in wrong:
        if column in (_READY, _DUE):
            expected = expected_times(table[place, column], expected)
        raise FileError(
            f"{path}: {_COLUMNS[column]} of customer {place} is {table[place, column]:.10g}, "
            f"expected {expected}."
        )
    for column in (_DEMAND, _SERVICE):
        if table[0, column] != 0:
            raise FileError(
                f"{path}: {_COLUMNS[column]} of the depot is {table[0, column]:g}, expected 0."
            )
