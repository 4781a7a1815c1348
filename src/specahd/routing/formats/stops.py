"""Tables of stops (CSV): what users have who have no VRPLIB files.

::

    name,lon,lat,demand,ready,due,service
    depot,13.40,52.52,,0,28800,
    north,13.41,52.59,4,3600,14400,300

The first line names the columns. A stop lies at ``x,y``, measured straight and unrounded, or at
``lon,lat`` in degrees, measured along great circles in whole metres, or where a distance matrix
has it. The depot is the row of that name, else the first; customers count from 1 in the order of
the file, without it. A TSP has no depot: its nodes are the rows in the order of the file.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from specahd.core.errors import ConfigError, FileError
from specahd.core.memory_limit import require_memory
from specahd.core.settings import TableOptions
from specahd.routing.base import FloatArray, IntArray
from specahd.routing.distances import LARGEST_MATRIX
from specahd.routing.formats import heading, kinds, matrix
from specahd.routing.formats.rows import Row, read_rows
from specahd.routing.formats.text import read_text
from specahd.routing.formats.vrplib import FARTHEST, LARGEST, LATEST, TimeWindows, VRPLIBData
from specahd.routing.geometry import Convention, distances

MEAN_RADIUS = 6_371_008.8
"""Of the earth, in metres (IUGG)."""

_PLACES = (("x", "y"), ("lon", "lat"))
_TIMES = ("ready", "due", "service")
_ROUNDING = 1e-9
"""Above the relative error of times that were multiplied by the speed, and of their sums."""


def read(path: Path, options: TableOptions) -> tuple[str, VRPLIBData]:
    """Read a table of stops, or a distance matrix alone, which is a TSP.

    Returns
    -------
    The name of the problem that the columns describe (``due`` or ``ready`` make it VRPTW, no
    ``demand`` a TSP), and what the file says.

    Raises
    ------
    FileError
        The file is missing, torn, not text, or holds what is not supported.
    ConfigError
        An option is missing, or says what the file has no use for.
    """
    if kinds.identify(read_text(path)) is kinds.MATRIX:
        return "tsp", _matrix_alone(path, options)
    columns, rows = _rows(path)
    _expect_options(path, columns, options)
    timed = "ready" in columns or "due" in columns
    problem = "vrptw" if timed else "sdvrp" if options.split else "cvrp"
    problem = problem if timed or "demand" in columns else "tsp"
    depot = _depot(rows) if problem != "tsp" else 0
    rows.insert(0, rows.pop(depot))
    coords, weights = _places(path, rows, columns, options.matrix, depot)
    data = VRPLIBData(
        name=path.stem,
        comment="",
        capacity=options.capacity or 1,
        convention=Convention.EXACT_2D if weights is None else Convention.EXPLICIT,
        coords=coords,
        weights=weights,
        demands=_demands(rows, columns, options),
        windows=_windows(rows, coords, weights, options.speed or 1.0) if timed else None,
    )
    return problem, data


def _matrix_alone(path: Path, options: TableOptions) -> VRPLIBData:
    if options.given:
        raise ConfigError(
            f"Expected {options.given[0]} with a table of stops, and {path} is a distance matrix "
            f"alone; a table with the demands takes it as matrix={path}."
        )
    weights, _ = matrix.read(path)
    return VRPLIBData(
        name=path.stem,
        comment="",
        capacity=1,
        convention=Convention.EXPLICIT,
        coords=None,
        weights=weights,
        demands=np.zeros(len(weights), np.int64),
    )


def _rows(path: Path) -> tuple[Sequence[str], list[Row]]:
    """Return the names of the columns, and the rows below them."""
    text = read_text(path)
    kinds.refuse_other(path, text, [kinds.STOPS], "a table of stops")
    header, *rows = read_rows(path, text) or [Row(path, 1, {})]
    columns = heading.columns_of(header, rows)
    found = []
    for row in rows:
        if len(row.cells) != len(columns):
            raise row.error(f"{len(row.cells)} cells", f"{len(columns)} as the first line has")
        found.append(Row(path, row.line, dict(zip(columns, row.cells.values(), strict=True))))
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
    if "service" in columns and not timed:
        raise FileError(f"{path}: expected the column due or ready beside service.")
    if options.speed is not None and not timed:
        raise ConfigError(f"{path} has no column ready or due, expected no speed.")
    if options.split and (timed or "demand" not in columns):
        raise ConfigError(
            f"{path} has {'time windows' if timed else 'no column demand'}, expected split=false."
        )


def _depot(rows: Sequence[Row]) -> int:
    """Return which row is the depot."""
    names = [row.cells.get("name", "").lower() for row in rows]
    named = [place for place, name in enumerate(names) if name == "depot"]
    if len(named) > 1:
        raise rows[named[1]].error("a second depot", "one")
    return named[0] if named else 0


def _places(
    path: Path, rows: Sequence[Row], columns: Sequence[str], given: str | None, depot: int
) -> tuple[FloatArray | None, FloatArray | None]:
    """Return where the stops lie, in a plane, and their distances, where they do not follow."""
    coords = weights = None
    if "x" in columns:
        coords = _columns(rows, {"x": (-FARTHEST, FARTHEST), "y": (-FARTHEST, FARTHEST)})
    elif "lon" in columns:
        degrees = _columns(rows, {"lon": (-180.0, 180.0), "lat": (-90.0, 90.0)})
        if given is None:
            if len(rows) > LARGEST_MATRIX:
                raise FileError(
                    f"{path}: holds {len(rows)} stops at lon, lat, expected at most "
                    f"{LARGEST_MATRIX}; project them to x, y."
                )
            weights = great_circles(degrees, path.name)
        coords = _projected(degrees)
    if given is not None:
        weights = _matrix_of(Path(given), path, rows, depot)
    return coords, weights


def _matrix_of(file: Path, path: Path, rows: Sequence[Row], depot: int) -> FloatArray:
    """Return the distances in a file, its rows in the order of ``rows``: the depot first."""
    weights, names = matrix.read(file)
    if len(weights) != len(rows):
        raise FileError(
            f"{file}: holds the distances of {len(weights)} stops, "
            f"expected {len(rows)} as {path} has."
        )
    order = np.concatenate(([depot], np.delete(np.arange(len(rows)), depot)))
    if names is not None and "name" in rows[0].cells:
        for row, place in zip(rows, order, strict=True):
            if names[place] != row.cells["name"]:
                raise FileError(
                    f"{file}: row {place + 1} is named {names[place][:40]!r}, expected "
                    f"{row.cells['name'][:40]!r} as line {row.line} of {path}."
                )
    return np.ascontiguousarray(weights[np.ix_(order, order)])


def _columns(rows: Sequence[Row], ranges: Mapping[str, tuple[float, float]]) -> FloatArray:
    return np.array([[row.number(name, *ranges[name]) for name in ranges] for row in rows])


def great_circles(degrees: FloatArray, name: str) -> FloatArray:
    """Return the distances among points on the earth in whole metres, by the haversine formula.

    Parameters
    ----------
    degrees
        Longitude and latitude, shape (n, 2).
    name
        Begins the sentence where memory does not suffice.

    Raises
    ------
    NotEnoughMemory
        The matrix would not fit.
    """
    size = len(degrees)
    require_memory(8 * size * size, f"The distance matrix of {name} needs")
    longitude, latitude = np.radians(degrees).T
    metres = np.empty((size, size))
    for start in range(size):
        across = np.sin((longitude - longitude[start]) / 2) ** 2
        half = np.sin((latitude - latitude[start]) / 2) ** 2
        half += np.cos(latitude) * np.cos(latitude[start]) * across
        metres[start] = np.rint(2 * MEAN_RADIUS * np.arcsin(np.sqrt(np.minimum(half, 1.0))))
    # The two ways may differ by the last bit, and so by a metre.
    for start in range(size):
        metres[start:, start] = metres[start, start:]
    return metres


def _projected(degrees: FloatArray) -> FloatArray:
    """Return points of a plane, in metres around the depot, for drawings and neighbourhoods."""
    longitude = (degrees[:, 0] - degrees[0, 0] + 180.0) % 360.0 - 180.0
    scale = np.radians(1.0) * MEAN_RADIUS
    across = scale * np.cos(np.radians(degrees[:, 1].mean())) * longitude
    return np.stack((across, scale * degrees[:, 1]), axis=1)


def _demands(rows: Sequence[Row], columns: Sequence[str], options: TableOptions) -> IntArray:
    demands = np.zeros(len(rows), np.int64)
    if "demand" not in columns:
        return demands
    rows[0].zero("demand")
    least = 1 if options.split else 0
    for place, row in enumerate(rows[1:], start=1):
        demand = row.number("demand", least, LARGEST, integer=True)
        if demand > (options.capacity or LARGEST) and not options.split:
            raise row.error(
                f"the demand {demand:g}",
                f"at most the capacity {options.capacity} (split=true delivers it in parts)",
            )
        demands[place] = demand
    return demands


def _windows(
    rows: Sequence[Row], coords: FloatArray | None, weights: FloatArray | None, speed: float
) -> TimeWindows:
    """Return ready, due and service times in the unit of distances, which are travelled alike.

    Raises
    ------
    FileError
        A time is out of its range, or a vehicle that serves nothing else is late.
    """
    latest = LATEST / speed
    rows[0].zero("service")
    ready, due, service = (
        speed * np.array([row.optional(name, 0.0, latest, otherwise) for row in rows])
        for name, otherwise in zip(_TIMES, (0.0, np.nan, 0.0), strict=True)
    )
    for place in np.flatnonzero(due < ready).tolist():
        raise rows[place].error(
            f"the due time {rows[place].cells['due']}",
            f"at least the ready time {rows[place].cells['ready']}",
        )
    if speed != 1:
        due *= 1 + _ROUNDING
    if weights is not None:
        farthest = float(weights.max())
    else:
        assert coords is not None  # one of both is given
        farthest = float(np.hypot(*(coords.max(axis=0) - coords.min(axis=0))))
    # No route can take longer, so that who names no time is never late.
    horizon = ready.max() + service.sum() + farthest * (len(rows) + 1)
    due = np.where(np.isnan(due), max(horizon, np.nanmax(due, initial=0.0)), due)
    windows = TimeWindows(ready, due, service, speed=speed)
    if weights is not None:
        travel = weights[0]
    else:
        assert coords is not None  # as above
        travel = distances(coords[0], coords, Convention.EXACT_2D)
    _expect_in_time(rows, windows, travel, speed)
    return windows


def _expect_in_time(
    rows: Sequence[Row], windows: TimeWindows, travel: FloatArray, speed: float
) -> None:
    """Refuse a stop that no vehicle serves in time; ``travel`` is from the depot and back."""
    arrival = windows.ready[0] + travel
    for place in np.flatnonzero(arrival > windows.due).tolist():
        raise rows[place].error(
            f"the due time {rows[place].cells['due']}",
            f"at least {arrival[place] / speed:.10g}, when a vehicle from the depot arrives",
        )
    back = np.maximum(arrival, windows.ready) + windows.service + travel
    for place in np.flatnonzero(back > windows.due[0]).tolist():
        start = max(arrival[place], windows.ready[place]) / speed
        raise rows[place].error(
            f"a stop that is served at {start:.10g} at the earliest, its vehicle back at the "
            f"depot at {back[place] / speed:.10g}",
            f"at most the depot's due time {rows[0].cells['due']} in line {rows[0].line}",
        )
