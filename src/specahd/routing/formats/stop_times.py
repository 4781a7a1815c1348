"""The times in a table of stops: numbers, or clock times, which are converted to seconds."""

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, nan
from statistics import median

import numpy as np

from specahd.core.errors import FileWarning
from specahd.routing.base import FloatArray
from specahd.routing.formats.ranges import Range, number_of
from specahd.routing.formats.rows import Row
from specahd.routing.formats.vrplib import TIME, TimeWindows, expected_times
from specahd.routing.labels import Labels

COLUMNS = ("ready", "due", "service")
_CLOCK = re.compile(r"(\d{1,3}):([0-5]\d)(?::([0-5]\d))?", re.ASCII)
_FORMS = "08:30, 20:30 for 8.30 pm, 32:30 on the next day, or 00:05 for five minutes"
_ROUNDING = 1e-9
"""Upper bound on the relative error of times multiplied by the speed, and of their sums."""
_FASTEST = 25.0
"""Most metres that a vehicle plausibly comes in a second on roads: 90 km/h."""
_QUICK = 1e-3
"""Least usual duration of a trip from the depot, as a share of the day."""


@dataclass(frozen=True, slots=True)
class Travel:
    """Distances of the stops, and the speed of vehicles.

    Parameters
    ----------
    depot
        The distance of each stop from the depot; 0 for the depot itself.
    farthest
        Upper bound on the distance between two stops.
    speed
        The distance travelled in one unit of time, None if unknown.
    metres
        Whether distances are metres.
    """

    depot: FloatArray
    farthest: float
    speed: float | None
    metres: bool


def read(rows: Sequence[Row], travel: Travel) -> tuple[TimeWindows, Labels]:
    """Return ready, due and service times, multiplied by the speed into the unit of distances.

    Parameters
    ----------
    rows
        Rows of the stops, the depot's first.

    Returns
    -------
    The times, and the format of the file's times.

    Raises
    ------
    FileError
        A time is out of its range, or a vehicle that serves this stop only is late.

    Warns
    -----
    FileWarning
        The speed that follows from the file is implausible.
    """
    speed = travel.speed or 1.0
    clock = any(_CLOCK.fullmatch(row.cells.get(name, "")) for row in rows for name in COLUMNS)
    ready, due, service = (
        np.array([_time(row, name, clock, TIME.high / speed) for row in rows]) for name in COLUMNS
    )
    labels = Labels(clock=clock, loading=float(np.nan_to_num(service[0])))
    for place in np.flatnonzero(due < np.nan_to_num(ready)).tolist():
        raise rows[place].error(
            f"the due time {rows[place].cells['due']}",
            f"at least the ready time {rows[place].cells['ready']}",
        )
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


def _time(row: Row, column: str, clock: bool, latest: float) -> float:
    """Return the time in a column, nan if it is empty."""
    word = row.cells.get(column)
    if not word:
        return nan
    if not clock or word == "0":
        accepted = Range(0, latest)
        time = number_of(word)
        if isnan(time):
            expected = f"{accepted}, or clock times in all cells: {_FORMS}"
            raise row.error(row.raw_value(column), expected)
        if time not in accepted and column != "service":
            raise row.error(row.raw_value(column), expected_times(time, str(accepted)))
        return row.number(column, accepted)
    parts = _CLOCK.fullmatch(word)
    seconds = nan
    if parts is not None:
        hours, minutes, rest = (int(part or 0) for part in parts.groups())
        seconds = 3600 * hours + 60 * minutes + rest
    if not seconds <= latest:
        expected = f"a clock time as in other cells: {_FORMS}"
        raise row.error(row.raw_value(column), expected)
    return seconds


def _warn_of_speed(
    depot: Row, ready: FloatArray, due: FloatArray, travel: Travel, labels: Labels
) -> None:
    """Warn of an implausible speed, which is most likely a mistake."""
    speed = travel.speed or 1.0
    unit = "second" if labels.clock else "unit of time"
    cure = f"speed= says how far a vehicle comes in one {unit}"
    begin = min(_stated(ready), default=0.0)
    # Some files give a due time that is never reached, for some stops or for the depot.
    ends = [(end - begin, "the depot closes after") for end in _stated(due[:1])]
    if closes := _stated(due[1:]):
        ends.append((median(closes) - begin, "half of them close within"))
    day, closing = min(ends, default=(0.0, ""))
    # A day of more than 1,440 is hardly one of minutes, nor is a speed below 200 one of them.
    seconds = labels.clock or day > 1440
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
            f"half of the stops are at most {labels.time(trip)} from the depot, and {closing} "
            f"{labels.time(day)}"
        )
    warnings.warn(f"{depot.path}: {meaning}; {cure}.", FileWarning, stacklevel=2)


def _stated(times: FloatArray) -> list[float]:
    stated: list[float] = times[~np.isnan(times)].tolist()
    return stated


def _expect_in_time(
    rows: Sequence[Row], windows: TimeWindows, travel: Travel, labels: Labels
) -> None:
    """Refuse a stop that no vehicle can serve in time."""
    cure = "" if travel.speed else "; speed= says how far it comes in one unit of time"

    def format_time(time: float) -> str:
        return labels.time(time / windows.speed, digits=10)

    arrival = windows.ready[0] + travel.depot
    for place in np.flatnonzero(arrival > windows.due).tolist():
        raise rows[place].error(
            f"the due time {rows[place].cells['due']}",
            f"at least {format_time(arrival[place])}, when a vehicle from the depot arrives{cure}",
        )
    returns = np.maximum(arrival, windows.ready) + windows.service + travel.depot
    for place in np.flatnonzero(returns > windows.due[0]).tolist():
        start = max(arrival[place], windows.ready[place])
        raise rows[place].error(
            f"a stop that is served at {format_time(start)} at the earliest, its vehicle back "
            f"at the depot at {format_time(returns[place])}",
            f"at most the depot's due time {rows[0].cells['due']} in line {rows[0].line}{cure}",
        )
