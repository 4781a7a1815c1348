"""Tables of stops (CSV), for users without VRPLIB files.

::

    name,lon,lat,demand,ready,due,service
    depot,13.40,52.52,,0,28800,
    north,13.41,52.59,4,3600,14400,300

The first line names the columns. Stops have ``x,y``, with straight unrounded distances, or
``lon,lat`` in degrees, with great-circle distances in whole metres, or a distance matrix. The depot
is the row named depot, else the first. Customers are numbered from 1 in the order of the file,
without the depot. A TSP has no depot: its nodes are the rows in the order of the file. Times are
numbers, Unix seconds, clock times or dates; the last three become seconds from one time on.
"""

import re
import unicodedata
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specahd.core.errors import ConfigError, FileError, FileWarning
from specahd.core.settings import TableOptions
from specahd.routing.base import FloatArray, IntArray
from specahd.routing.distances import LARGEST_MATRIX
from specahd.routing.formats import kinds, matrix
from specahd.routing.formats.ranges import Range, number_of
from specahd.routing.formats.road_services import DISTANCES, DURATIONS, NO_WAY
from specahd.routing.formats.rows import DecimalCommas, Row, lines_of, read_rows
from specahd.routing.formats.times import read_times
from specahd.routing.formats.vrplib import (
    COORDINATE,
    LARGEST,
    PRIZE,
    TIME,
    Places,
    TimeWindows,
    VRPLIBData,
)
from specahd.routing.geometry import Convention, distances, great_circles, projected
from specahd.routing.labels import Labels

_PLACES = (("x", "y"), ("lon", "lat"))
_WITH_DURATIONS = ("CVRP", "VRPTW")
"""Types whose ways may take other times than their distances."""
_MOST_DECIMALS = 6
NamedArray = tuple[NDArray[Any], Sequence[str] | None]
_FURTHER_WINDOW = re.compile(r"((ready|due)(_time|_date)?_?[2-9]|(time_)?windows)", re.ASCII)
"""Pattern of the columns of further windows of a stop."""
_ROUNDING = 1e-9
"""Upper bound on the relative error of times multiplied by the speed, and of their sums."""
_FASTEST = 25.0
"""Most metres that a vehicle plausibly comes in a second on roads: 90 km/h."""
_QUICK = 1e-3
"""Least usual duration of a trip from the depot, as a share of the day."""


@dataclass(frozen=True, slots=True)
class _Travel:
    """Distances of the stops, and the speed of vehicles.

    Parameters
    ----------
    depot, back
        The distance of each stop from the depot or the nearest place where vehicles start, and that
        back; 0 for the depot itself.
    farthest
        Upper bound on the distance between two stops.
    speed
        The distance travelled in one unit of time, None if unknown.
    metres
        Whether distances are metres.
    stated
        Whether these are not distances, but the times that ways take.
    """

    depot: FloatArray
    back: FloatArray
    farthest: float
    speed: float | None
    metres: bool
    stated: bool = False


def read(
    path: Path,
    text: str,
    options: TableOptions,
    array: NamedArray | None = None,
    durations: NamedArray | None = None,
    *,
    open_routes: bool = False,
    capacity: float | None = None,
    fleet: Sequence[Row] = (),
) -> tuple[str, VRPLIBData]:
    """Read a table of stops, or a distance matrix alone, which is a TSP.

    Parameters
    ----------
    text
        Content of the file.
    array, durations
        Distances and travel times among the stops, and their names or None, used instead of the
        files that ``options`` name.
    open_routes
        Whether vehicles do not return to the depot.
    capacity
        That of the largest vehicle, for a table with demands whose ``options`` state none.
    fleet
        The types of vehicles. A row that one of them names as its start or end is no customer,
        unless it is the depot.

    Returns
    -------
    The TYPE of the instance (``due`` or ``ready`` make it VRPTW, ``split`` SDVRP, no ``demand``
    TSP), and the content of the file.

    Raises
    ------
    FileError
        A file is missing, truncated, not text, or holds something that is not supported.
    ConfigError
        An option is missing, or does not apply to the file.
    """
    if kinds.identify(text) is kinds.MATRIX:
        return "TSP", _matrix_alone(path, options)
    columns, rows = _rows(path, text, options)
    if "demand" in columns and options.capacity is None:
        options = replace(options, capacity=capacity)
    _expect_options(path, columns, options)
    timed = "ready" in columns or "due" in columns
    has_depot = timed or "demand" in columns
    kind = "VRPTW" if timed else "SDVRP" if options.split else "CVRP" if has_depot else "TSP"
    depot, first = _depot(rows) if has_depot else 0, int(not has_depot)
    ends = _ends(path, rows, fleet) if has_depot else []
    order, count = _order(rows, depot, ends)
    rows = [rows[place] for place in order]
    if count < 2:
        raise FileError(f"{path}: holds no stop beside the depot and the ends of routes.")
    names = _names(rows, first) if "name" in columns else None
    known = {row.cells.get("name", ""): node for node, row in enumerate(rows)} | {"": 0}
    starts, homes = ([known[both[end]] for both in ends] or [0] for end in (0, 1))
    degrees, coords, weights = _places(path, rows, columns, options)
    lasting = None
    if options.matrix is not None:
        weights, lasting = _matrix_of(options.matrix, array, path, rows, order)
        if kind not in _WITH_DURATIONS:
            lasting = None
        if options.durations is not None:
            given = options.durations, durations, path, rows, order, DURATIONS
            lasting, _ = _matrix_of(*given)
        elif lasting is not None and options.speed is not None:
            raise ConfigError(f"Expected no speed: {options.matrix} holds durations.")
        needed = None
        if kind != "TSP":
            needed = np.zeros(weights.shape, bool)
            needed[starts, 1:count] = True
            needed[1:count, homes] |= not open_routes
        _refuse_missing(rows, weights, lasting, needed)
    places = None
    if count < len(rows):
        places = Places(coords, weights, lasting)
        rows = rows[:count]
    windows, labels = None, Labels()
    if timed:
        measured = degrees is not None and options.matrix is None
        if lasting is None:
            travel = _travel(coords, weights, starts, homes, options.speed, metres=measured)
        else:
            travel = _travel(None, lasting, starts, homes, 1.0, metres=False)
        travel = replace(
            travel,
            depot=travel.depot[:count],
            back=travel.back[:count] * (not open_routes),
            stated=lasting is not None,
        )
        windows, labels = _read_times(rows, travel)
    demands, capacity, decimals = _demands(path, rows, columns, options)
    prizes = _prizes(rows) if "prize" in columns else None
    data = VRPLIBData(
        name=path.stem,
        comment="",
        capacity=capacity,
        convention=Convention.EXACT_2D if weights is None else Convention.EXPLICIT,
        coords=None if coords is None else coords[:count],
        matrix=_among(weights, count),
        durations=_among(lasting, count),
        open=open_routes,
        demands=demands,
        windows=windows,
        splits=options.split,
        prizes=prizes,
        places=places,
        labels=replace(
            labels,
            names=names,
            first=first,
            degrees=degrees,
            decimals=decimals,
            semicolons=lines_of(text)[1] == ";",
        ),
    )
    return kind, data


def _matrix_alone(path: Path, options: TableOptions) -> VRPLIBData:
    if options.given:
        raise ConfigError(
            f"Expected {options.given[0]} with a table of stops, and {path} is a distance matrix "
            f"alone; a table with the demands takes it as matrix={path}."
        )
    weights, names = matrix.read(path)
    return VRPLIBData(
        name=path.stem,
        comment="",
        capacity=1,
        convention=Convention.EXPLICIT,
        coords=None,
        matrix=weights,
        demands=np.zeros(len(weights), np.int64),
        labels=Labels(names=None if names is None else tuple(names), first=1),
    )


def _rows(path: Path, text: str, options: TableOptions) -> tuple[Sequence[str], list[Row]]:
    """Return the names of the columns, and the rows below them."""
    kinds.refuse_other(path, text, [kinds.STOPS], "a table of stops")
    header, *rows = read_rows(path, text) or [Row(path, 1, {})]
    ignored = [name for name in (options.ignore or "").split(",") if name.strip()]
    columns = _read_heading(header, rows, ignored)
    commas = DecimalCommas()
    found = []
    for row in rows:
        if len(row.cells) != len(columns):
            cure = " (decimal commas want semicolons between cells)"
            raise row.error(
                f"{len(row.cells)} cells",
                f"{len(columns)} as the first line has{cure * (len(row.cells) > len(columns))}",
            )
        cells = dict(zip(columns, row.cells.values(), strict=True))
        for name in cells.keys() - {"", "name"}:
            cells[name] = commas.read(row, name, cells[name])
        found.append(Row(path, row.line, cells))
    commas.check_consistent()
    if len(found) < 2:
        raise FileError(f"{path}: holds {len(found)} stops, expected at least 2.")
    return columns, found


def _expect_options(path: Path, columns: Sequence[str], options: TableOptions) -> None:
    """Refuse a table and options that do not fit together."""
    places = [pair for pair in _PLACES if set(pair) & set(columns)]
    if len(places) > 1 or any(not set(pair) <= set(columns) for pair in places):
        raise FileError(f"{path}: expected the columns x and y, or lon and lat, not parts of both.")
    if not places and options.matrix is None:
        raise FileError(f"{path}: expected the columns x and y, or lon and lat, or matrix=FILE.")
    if "demand" in columns and options.capacity is None:
        raise ConfigError(f"{path} has demands, expected capacity=NUMBER.")
    if "demand" not in columns and options.capacity is not None:
        raise ConfigError(f"{path} has no column demand, expected no capacity.")
    timed = "ready" in columns or "due" in columns
    if options.durations is not None and options.matrix is None:
        raise ConfigError(f"Expected durations with matrix=FILE, the distances of {path}.")
    if options.durations is not None and options.speed is not None:
        raise ConfigError("Expected speed or durations, not both.")
    if options.durations is not None and (options.split or not (timed or "demand" in columns)):
        who = "split deliveries" if options.split else "a tour"
        raise ConfigError(f"Expected no durations for {path}, which has {who}.")
    if "prize" in columns and (options.split or not (timed or "demand" in columns)):
        raise FileError(
            f"{path}: expected the column demand, ready or due beside prize, and split=false."
        )
    if "service" in columns and not timed:
        raise FileError(f"{path}: expected the column due or ready beside service.")
    if options.speed is not None and not timed:
        raise ConfigError(f"{path} has no column ready or due, expected no speed.")
    if options.split and (timed or "demand" not in columns):
        raise ConfigError(
            f"{path} has {'time windows' if timed else 'no column demand'}, expected split=false "
            "(docs/limits.md)."
        )


def _depot(rows: Sequence[Row]) -> int:
    """Return the index of the depot's row; case and accents of its name do not matter."""
    names = [unicodedata.normalize("NFKD", row.cells.get("name", "")) for row in rows]
    depots = [
        place
        for place, name in enumerate(names)
        if "".join(sign for sign in name if not unicodedata.combining(sign)).lower() == "depot"
    ]
    if len(depots) > 1:
        raise rows[depots[1]].error("a second depot", "one")
    return depots[0] if depots else 0


def _ends(path: Path, rows: Sequence[Row], fleet: Sequence[Row]) -> list[tuple[str, str]]:
    """Return the names of the rows where vehicles of each type start and end, "" for the depot."""
    names = {row.cells.get("name", "") for row in rows} | {""}
    for kind in fleet:
        for column in ("start", "end"):
            if kind.cells[column] not in names:
                raise kind.error(kind.raw_value(column), f"the name of a row of {path}")
    return [(kind.cells["start"], kind.cells["end"]) for kind in fleet]


def _order(
    rows: Sequence[Row], depot: int, ends: Sequence[tuple[str, str]]
) -> tuple[list[int], int]:
    """Return the order of the rows, and the number of nodes.

    The depot comes first, and the places where vehicles start or end come last.
    """
    named = {name for both in ends for name in both if name}
    others = [place for place in range(len(rows)) if place != depot]
    apart = {place for place in others if rows[place].cells.get("name") in named}
    for row in (rows[place] for place in sorted(apart)):
        for column in ("demand", "ready", "due", "service", "prize"):
            word = row.cells.get(column)
            if word and (column in ("ready", "due") or number_of(word) != 0):
                raise row.error(
                    f"the {column} {word[:40]} of {row.cells['name'][:40]!r}, where vehicles start "
                    "or end",
                    "nothing (a stop there has a row of its own)",
                )
    nodes = [depot, *(place for place in others if place not in apart)]
    return [*nodes, *sorted(apart)], len(nodes)


def _names(rows: Sequence[Row], first: int) -> tuple[str, ...]:
    """Return the names of the nodes; a node without a name gets its number."""
    numbers = Labels(first=first)
    lines: dict[str, int] = {}
    for node, row in enumerate(rows):
        name = row.cells["name"] or numbers.name(node)
        if name in lines:
            both = sorted((lines[name], row.line))
            raise FileError(
                f"{row.path}: lines {both[0]} and {both[1]} both hold the name {name[:40]!r}, "
                "expected each name once."
            )
        lines[name] = row.line
    return tuple(lines)


def _places(
    path: Path, rows: Sequence[Row], columns: Sequence[str], options: TableOptions
) -> tuple[FloatArray | None, FloatArray | None, FloatArray | None]:
    """Return the stops' coordinates in degrees and in a plane, and their distances in metres."""
    degrees = coords = weights = None
    if "x" in columns:
        coords = _columns(rows, {"x": COORDINATE, "y": COORDINATE})
    elif "lon" in columns:
        degrees = _columns(rows, {"lon": Range(-180, 180), "lat": Range(-90, 90)})
        if options.matrix is None:
            if len(rows) > LARGEST_MATRIX:
                raise FileError(
                    f"{path}: holds {len(rows)} stops at lon, lat, expected at most "
                    f"{LARGEST_MATRIX}; project them to x, y."
                )
            weights = great_circles(degrees, path.name)
        coords = projected(degrees)
    return degrees, coords, weights


def _matrix_of(
    file: str,
    array: NamedArray | None,
    path: Path,
    rows: Sequence[Row],
    order: Sequence[int],
    wanted: str = DISTANCES,
) -> tuple[FloatArray, FloatArray | None]:
    """Return the distances in a file, reordered like ``rows``: row i is the ``order[i]``th there.

    The second array has the durations of a road service's answer, if it has them beside distances.
    """
    weights, names, beside = (
        matrix.read_ways(Path(file), wanted)
        if array is None
        else (matrix.matrix_from_array(array[0], file), array[1], None)
    )
    if len(weights) != len(rows):
        raise FileError(
            f"{file}: holds the {wanted} of {len(weights)} stops, "
            f"expected {len(rows)} as {path} has."
        )
    if names is not None and "name" in rows[0].cells:
        for row, place in zip(rows, order, strict=True):
            if names[place] != row.cells["name"]:
                raise FileError(
                    f"{file}: row {place + 1} is named {names[place][:40]!r}, expected "
                    f"{row.cells['name'][:40]!r} as line {row.line} of {path}."
                )
    places = np.ix_(order, order)
    return np.ascontiguousarray(weights[places]), None if beside is None else beside[places]


def _among(ways: FloatArray | None, count: int) -> FloatArray | None:
    """Return the ways among the first nodes."""
    return None if ways is None else np.ascontiguousarray(ways[:count, :count])


def _refuse_missing(
    rows: Sequence[Row],
    weights: FloatArray,
    durations: FloatArray | None,
    needed: NDArray[np.bool_] | None,
) -> None:
    """Refuse a stop without a way that is needed; None: all are.

    Needed are those from where vehicles start and to where they end. A way without a duration is
    then missing in ``weights``, too.
    """
    if durations is not None:
        weights[durations >= NO_WAY] = NO_WAY
    missing = weights >= NO_WAY
    if needed is not None:
        missing &= needed
    for start, end in np.argwhere(missing).tolist():
        whence, where = (
            rows[node].cells.get("name") or f"stop {node + 1}" for node in (start, end)
        )
        from_end = start == 0 or (needed is not None and needed[start, 1])
        raise rows[end if from_end else start].error(
            f"a stop without a way from {whence[:40]} to {where[:40]}", "one"
        )


def _columns(rows: Sequence[Row], ranges: Mapping[str, Range]) -> FloatArray:
    return np.array([[row.number(name, ranges[name]) for name in ranges] for row in rows])


def _demands(
    path: Path, rows: Sequence[Row], columns: Sequence[str], options: TableOptions
) -> tuple[IntArray, int, int]:
    """Return demands and capacity as integers, and the number of decimals they are scaled by."""
    demands = np.zeros(len(rows), np.int64)
    if "demand" not in columns or options.capacity is None:
        return demands, 1, 0
    rows[0].zero("demand")
    accepted = Range(1 if options.split else 0, LARGEST, integer=options.split)
    exact = [Decimal(repr(float(options.capacity)))]
    for row in rows[1:]:
        row.number("demand", accepted)
        try:
            exact.append(Decimal(row.cells["demand"]).normalize())
        except InvalidOperation:  # an exponent beyond those of decimal
            raise row.error(row.raw_value("demand"), str(accepted)) from None
        if _decimals(exact[-1]) > _MOST_DECIMALS:
            raise row.error(row.raw_value("demand"), f"at most {_MOST_DECIMALS} decimals")
    decimals = max(map(_decimals, exact))
    if options.split and decimals:
        raise ConfigError(f"Expected a whole capacity with split=true, got {options.capacity:g}.")
    capacity, *scaled = (int(number.scaleb(decimals)) for number in exact)
    if capacity > LARGEST:
        raise ConfigError(
            f"Expected capacity of at most {LARGEST / 10**decimals:g} with the {decimals} decimals "
            f"of the demands in {path}, got {options.capacity:g}."
        )
    cure = "split=true delivers it in parts"
    if decimals or min(scaled) < 1 or {"ready", "due"} & set(columns):
        # There split=true would be refused.
        cure = "a stop may have several rows, each with a part"
    if min(scaled) > capacity and not options.split:
        raise rows[1].error(
            rows[1].raw_value("demand"), f"at most the capacity {options.capacity:g} ({cure})"
        )
    demands[1:] = scaled
    return demands, capacity, decimals


def _prizes(rows: Sequence[Row]) -> FloatArray:
    """Return what leaving each stop out costs, infinite where the cell is empty."""
    rows[0].zero("prize")
    stated = [row.number("prize", PRIZE) if row.cells["prize"] else np.inf for row in rows[1:]]
    return np.array([0.0, *stated])


def _decimals(number: Decimal) -> int:
    exponent = number.normalize().as_tuple().exponent
    assert isinstance(exponent, int)  # the number is finite
    return max(0, -exponent)


def _travel(
    coords: FloatArray | None,
    weights: FloatArray | None,
    starts: Sequence[int],
    ends: Sequence[int],
    speed: float | None,
    *,
    metres: bool,
) -> _Travel:
    if weights is not None:
        farthest = float(weights[weights < NO_WAY].max())
        depot, back = weights[starts].min(axis=0), weights[:, ends].min(axis=1)
    else:
        assert coords is not None  # one of the two is given
        farthest = float(np.hypot(*(coords.max(axis=0) - coords.min(axis=0))))
        depot, back = (
            distances(coords[np.array(nodes)[:, None]], coords, Convention.EXACT_2D).min(axis=0)
            for nodes in (starts, ends)
        )
    depot[0] = back[0] = 0.0
    return _Travel(depot, back, farthest, speed, metres)


def _read_heading(header: Row, rows: Sequence[Row], ignored: Collection[str]) -> list[str]:
    """Return the columns that the first line names; ``""`` for one that is left out.

    pandas and R write a first column that has no heading and numbers the rows. It becomes the
    column ``name``, or is left out if there is a column of that name. Those of ``ignored`` are
    left out, too.
    """
    words = dict(enumerate(header.cells.values(), start=1))
    left_out = {_bare(name): name for name in ignored}
    for name, word in left_out.items():
        if name not in map(_bare, words.values()):
            raise ConfigError(
                f"Expected ignore to name columns of {header.path}, which has no {word[:40]!r}."
            )
    words = {place: word for place, word in words.items() if _bare(word) not in left_out}
    columns = [
        kinds.column_of(words[place]) if place in words else ""
        for place in range(1, len(header.cells) + 1)
    ]
    if 1 in words and not columns[0] and _number_the_rows(rows):
        columns[0] = "" if "name" in columns else "name"
        del words[1]
    known = ", ".join(kinds.STOP_COLUMNS)
    for place, word in words.items():
        name = columns[place - 1]
        if not name:
            raise header.error(
                f"no heading for column {place}",
                f"one of {known}, or no such column (pandas leaves it out with index=False)",
            )
        if _FURTHER_WINDOW.fullmatch(name):
            raise header.error(
                f"the column {name[:40]!r}; several windows of a stop are not supported",
                f"one window, in ready and due; {_cure(word)}",
            )
        if name not in kinds.STOP_COLUMNS:
            raise header.error(
                f"the column {name[:40]!r}, which may be a constraint",
                f"only {known}; {_cure(word)}",
            )
        same = [word for word in words.values() if kinds.column_of(word) == name]
        if len(set(map(str.lower, same))) > 1:
            both = " and ".join(word[:40] for word in same)
            raise header.error(f"the columns {both}, which both mean {name}", "one of them")
        if len(same) > 1:
            raise header.error(f"the column {name} twice", "it once")
    return columns


def _cure(word: str) -> str:
    # The names in ignore= are separated by commas.
    return "rename it" if "," in word or len(word) > 40 else f"ignore={word} leaves it out"


def _bare(word: str) -> str:
    return " ".join(word.casefold().split())


def _number_the_rows(rows: Sequence[Row]) -> bool:
    """Return whether the first column numbers the rows, from 0 or from 1."""
    cells = [row.cells["0"] for row in rows]
    return any(cells == [str(start + place) for place in range(len(rows))] for start in (0, 1))


def _read_times(rows: Sequence[Row], travel: _Travel) -> tuple[TimeWindows, Labels]:
    """Return ready, due and service times, multiplied by the speed into the unit of distances.

    The row of the depot is the first. The labels have the format of the file's times.
    """
    speed = travel.speed or 1.0
    times = read_times(rows, TIME.high / speed, float(travel.depot.max()) / speed)
    ready, due, service = times.ready, times.due, times.service
    labels = Labels(times=times.form, loading=float(np.nan_to_num(service[0])))
    for place in np.flatnonzero(due < np.nan_to_num(ready)).tolist():
        raise rows[place].error(
            f"the due time {rows[place].cells['due']}",
            f"at least the ready time {rows[place].cells['ready']}",
        )
    if not travel.stated:
        _warn_of_speed(rows[0], ready, due, travel, labels)
    ready, due, service = speed * np.nan_to_num(ready), speed * due, speed * np.nan_to_num(service)
    # Vehicles are loaded before they leave.
    ready[0] += service[0]
    service[0] = 0.0
    if speed != 1:
        due *= 1 + _ROUNDING
    # No route can take longer, so that service at a stop without a due time is never late.
    horizon = ready.max() + service.sum() + travel.farthest * (len(rows) + 1)
    due = np.where(np.isnan(due), max(horizon, np.nanmax(due, initial=0.0)), due)
    windows = TimeWindows(ready, due, service, speed=speed)
    _expect_in_time(rows, windows, travel, labels)
    return windows, labels


def _warn_of_speed(
    depot: Row, ready: FloatArray, due: FloatArray, travel: _Travel, labels: Labels
) -> None:
    """Warn of an implausible speed, which is most likely a mistake."""
    speed = travel.speed or 1.0
    unit = "second" if labels.times.seconds else "unit of time"
    cure = f"speed= says how far a vehicle comes in one {unit}"
    begin = min(_stated(ready), default=0.0)
    # Some files give a due time that is never reached, for some stops or for the depot.
    ends = [(end - begin, "the depot closes after") for end in _stated(due[:1])]
    if closes := _stated(due[1:]):
        ends.append((median(closes) - begin, "half of them close within"))
    day, closing = min(ends, default=(0.0, ""))
    # A day of more than 1,440 is hardly one of minutes, nor is a speed below 200 one of them.
    seconds = labels.times.seconds or day > 1440
    if travel.metres and travel.speed is None:
        meaning = f"a vehicle comes 1 metre in one {unit}"
    elif travel.metres and seconds and _FASTEST < speed < 200:
        meaning = f"a vehicle comes {3.6 * speed:.0f} km in an hour"
        cure = f"speed= is metres in one second, {speed / 3.6:.2f} for {speed:g} km/h"
    else:
        distances = travel.depot[travel.depot > 0]
        trip = float(np.median(distances)) / speed if distances.size else day
        if trip >= _QUICK * day:
            return
        meaning = (
            f"half of the stops are at most {labels.times.duration(trip, 6)} from the depot, and "
            f"{closing} {labels.times.duration(day, 6)}"
        )
    warnings.warn(f"{depot.path}: {meaning}; {cure}.", FileWarning, stacklevel=2)


def _stated(times: FloatArray) -> list[float]:
    stated: list[float] = times[~np.isnan(times)].tolist()
    return stated


def _expect_in_time(
    rows: Sequence[Row], windows: TimeWindows, travel: _Travel, labels: Labels
) -> None:
    """Refuse stops of which no vehicle can serve one in time."""
    cure = "" if travel.speed else "; speed= says how far it comes in one unit of time"

    def format_time(time: float) -> str:
        return labels.time(time / windows.speed, digits=10)

    arrival = windows.ready[0] + travel.depot
    returns = np.maximum(arrival, windows.ready) + windows.service + travel.back
    if not ((arrival > windows.due) | (returns > windows.due[0]))[1:].all():
        return
    for place in np.flatnonzero(arrival > windows.due).tolist():
        raise rows[place].error(
            f"the due time {rows[place].cells['due']}",
            f"at least {format_time(arrival[place])}, when a vehicle from the depot arrives{cure}",
        )
    for place in np.flatnonzero(returns > windows.due[0]).tolist():
        start = max(arrival[place], windows.ready[place])
        raise rows[place].error(
            f"a stop that is served at {format_time(start)} at the earliest, its vehicle back "
            f"at the depot at {format_time(returns[place])}",
            f"at most the depot's due time {rows[0].cells['due']} in line {rows[0].line}{cure}",
        )
