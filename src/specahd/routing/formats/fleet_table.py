"""Tables of types of vehicles (CSV): a row for each.

::

    name,count,capacity,fixed_cost,cost_per_distance
    van,3,800,40,0.5
    truck,,2400,110,0.9
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from specahd.core.errors import FileError
from specahd.routing.formats.ranges import Range
from specahd.routing.formats.rows import DecimalCommas, Row, read_rows
from specahd.routing.formats.times import duration_of, expected_duration, time_of
from specahd.routing.formats.vrplib import (
    LARGEST,
    LIMIT,
    PRIZE,
    TIME,
    VehicleType,
    VRPLIBData,
)

_CAPACITY = Range(1e-6, LARGEST)
COLUMNS: Mapping[str, Range | None] = {
    "name": None,
    "count": Range(1, LARGEST, integer=True),
    "capacity": _CAPACITY,
    "fixed_cost": PRIZE,
    "cost_per_distance": Range(0, 1e6),
    "cost_per_duration": Range(0, 1e6),
    "max_distance": LIMIT,
    "max_duration": LIMIT,
    "shift_start": None,
    "shift_end": None,
    "start": None,
    "end": None,
}
"""The columns, and the ranges of those that hold numbers."""
MOST_TYPES = 100
_DURATION = "max_duration"


def read(path: Path, text: str) -> list[Row]:
    """Return the rows of a table, with a cell for each column, empty if the table has none.

    Raises
    ------
    FileError
        A column is unknown, a number is out of its range, or a name is missing or comes twice.
    """
    header, *rows = read_rows(path, text) or [Row(path, 1, {})]
    columns = ["_".join(word.lower().split()) for word in header.cells.values()]
    for column in columns:
        if column not in COLUMNS or columns.count(column) > 1:
            what = "twice" if column in COLUMNS else "which types of vehicles do not have"
            raise header.error(f"the column {column[:40]!r}, {what}", f"only {', '.join(COLUMNS)}")
    if not 1 <= len(rows) <= MOST_TYPES:
        raise FileError(f"{path}: holds {len(rows)} types of vehicles, expected 1 to {MOST_TYPES}.")
    numbers = {column: accepted for column, accepted in COLUMNS.items() if accepted}
    commas, found, names = DecimalCommas(), [], set()
    for row in rows:
        if len(row.cells) != len(columns):
            raise row.error(f"{len(row.cells)} cells", f"{len(columns)} as the first line has")
        cells = dict.fromkeys(COLUMNS, "") | dict(zip(columns, row.cells.values(), strict=True))
        for column in numbers:
            cells[column] = commas.read(row, column, cells[column])
        row = Row(path, row.line, cells)
        for column, accepted in numbers.items():
            # The form of a duration depends on the stops.
            if cells[column] and column != _DURATION:
                row.number(column, accepted)
        if not cells["name"].isprintable() or not cells["name"] or cells["name"] in names:
            expected = "a name in one line, another one for each type"
            raise row.error(row.raw_value("name"), expected)
        names.add(cells["name"])
        found.append(row)
    commas.check_consistent()
    return found


def largest_capacity(rows: Sequence[Row]) -> float | None:
    """Return the largest capacity, which a table of stops takes for its own; None without one.

    Raises
    ------
    FileError
        Some types have a capacity, and others have none.
    """
    if not any(row.cells["capacity"] for row in rows):
        return None
    return max(row.number("capacity", _CAPACITY) for row in rows)


def types_of(rows: Sequence[Row], data: VRPLIBData) -> tuple[VehicleType, ...]:
    """Return the types of vehicles for an instance, whose values empty cells have.

    Raises
    ------
    FileError
        A shift has times of another form than the instance, or it has none. A longest duration is
        out of its range, or a clock time and the instance has none. There is a start or an end, and
        the instance is of no table of stops, or its routes are open.
    """
    return tuple(_type_of(row, data) for row in rows)


def _type_of(row: Row, data: VRPLIBData) -> VehicleType:
    cells = row.cells

    def number(column: str, otherwise: Any) -> Any:
        return float(cells[column]) if cells[column] else otherwise

    shift = {}
    for name in ("shift_start", "shift_end"):
        if cells[name] and data.windows is None:
            raise row.error(row.raw_value(name), f"none: {data.name} has no times (ready, due)")
        if cells[name] and data.windows is not None:
            latest = TIME.high / data.windows.speed
            shift[name] = time_of(row, name, data.labels.times, latest)
    if len(shift) == 2 and shift["shift_end"] < shift["shift_start"]:
        raise row.error(row.raw_value("shift_end"), f"at least {cells['shift_start']}")
    if cells["end"] and data.open:
        raise row.error(row.raw_value("end"), "none with open=true: vehicles stay at the last stop")
    max_duration, times = data.max_duration, data.labels.times
    if cells[_DURATION]:
        max_duration = duration_of(cells[_DURATION], times)
        if max_duration not in LIMIT:
            known = LIMIT if max_duration == max_duration else expected_duration(times)
            raise row.error(row.raw_value(_DURATION), str(known))
    count, capacity = number("count", None), data.capacity
    if cells["capacity"]:
        # Loads are whole parts of a unit.
        capacity = int(Decimal(cells["capacity"]).scaleb(data.labels.decimals))
    return VehicleType(
        name=cells["name"],
        count=count if count is None else int(count),
        capacity=capacity,
        fixed_cost=number("fixed_cost", data.fixed_cost),
        cost_per_distance=number("cost_per_distance", 1.0),
        cost_per_duration=number("cost_per_duration", 0.0),
        max_distance=number("max_distance", data.max_distance),
        max_duration=max_duration,
        **shift,
        start=_place(row, "start", data),
        end=_place(row, "end", data),
    )


def _place(row: Row, column: str, data: VRPLIBData) -> int:
    """Return the depot or the place that a cell names."""
    if not (name := row.cells[column]):
        return 0
    names = data.labels.names
    if names is None:
        raise row.error(row.raw_value(column), f"none: {data.name} is no table of stops")
    return names.index(name)
