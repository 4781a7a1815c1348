"""Times in tables of stops: numbers, Unix seconds, clock times, or dates with times."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import floor, isnan, nan

import numpy as np

from specahd.routing.base import FloatArray
from specahd.routing.formats.ranges import Range, number_of
from specahd.routing.formats.rows import Row
from specahd.routing.formats.vrplib import TIME, expected_times
from specahd.routing.labels import ClockTimes, Dates, TimeForm, UnixTimes

_COLUMNS = ("ready", "due", "service")
_POINTS = _COLUMNS[:2]
"""The columns that hold points in time; the other holds durations."""
# pandas writes a duration as 0 days 00:05:00.
_CLOCK = re.compile(r"(?:(\d{1,2}) days? )?(\d{1,3}):([0-5]\d)(?::([0-5]\d)(?:\.0+)?)?", re.ASCII)
_CLOCKS = "08:30, 20:30 for 8.30 pm, 32:30 on the next day, or 00:05 for five minutes"
_DATE = re.compile(
    r"([12]\d{3}-\d\d-\d\d)([T ])(\d\d:\d\d(?::\d\d)?)(?:\.\d{1,9})?( ?(?:Z|[+-]\d\d:?\d\d))?",
    re.ASCII,
)
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_LIKE_A_DATE = re.compile(r"\d{1,4}[-./]\d\d?[-./]\d", re.ASCII)
_UNIX = Range(1e9, 1e10)
"""The Unix seconds of 2001 to 2286."""


@dataclass(frozen=True, slots=True)
class Times:
    """The times of a table, in its unit; nan for an empty cell.

    Parameters
    ----------
    ready, due, service
        Shape (n + 1,), from time 0 of the instance.
    form
        How the table writes them.
    """

    ready: FloatArray
    due: FloatArray
    service: FloatArray
    form: TimeForm


def read_times(rows: Sequence[Row], latest: float, before: float) -> Times:
    """Read the times of a table's rows, the depot's first.

    The first date, else the first clock time, decides the form of all. Without either the first
    number does, which may be Unix seconds.

    Parameters
    ----------
    latest
        The latest time, from time 0 of the instance.
    before
        The longest trip from the depot. Dates and Unix seconds have no midnight that vehicles wait
        for: where the depot states no opening, a vehicle can be anywhere at the first of them.

    Raises
    ------
    FileError
        A time has another form than the others, or is out of range. The message says what to
        write.
    """
    cells = [(row, row.cells.get(name, "")) for row in rows for name in _POINTS]
    first = next(((row, date) for row, word in cells if (date := _DATE.fullmatch(word))), None)
    if first is not None:
        return _dates(rows, *first, latest, before)
    if any(_CLOCK.fullmatch(row.cells.get(name, "")) for row in rows for name in _COLUMNS):
        ready, due, service = (
            np.array([_clock(row, name, latest) for row in rows]) for name in _COLUMNS
        )
        return Times(ready, due, service, ClockTimes())
    stated = next((each for each in cells if each[1] not in ("", "0")), None)
    if stated is not None and number_of(stated[1]) in _UNIX:
        return _unix_times(rows, *stated, latest, before)
    ready, due, service = (
        np.array([_number(row, name, Range(0, latest)) for row in rows]) for name in _COLUMNS
    )
    return Times(ready, due, service, TimeForm())


def time_of(row: Row, column: str, form: TimeForm, latest: float) -> float:
    """Return the time in a cell of another table, from time 0 of the instance on.

    Parameters
    ----------
    form
        The form that it must have.
    latest
        As for :func:`read_times`.

    Raises
    ------
    FileError
        The time has another form, or is out of range.
    """
    if isinstance(form, Dates):
        shown = str(form.time(0.0))
        found, start = _DATE.fullmatch(row.cells[column]), _DATE.fullmatch(shown)
        assert start is not None  # the form of a table
        if found is None or (found[4] is None) != (start[4] is None):
            expected = f"a date and a time as those of the stops: {shown}"
            raise row.error(row.raw_value(column), expected)
        moments = [_moment(row, column, each) for each in (found, start)]
        return (moments[0] - moments[1]).total_seconds()
    if isinstance(form, ClockTimes):
        return _clock(row, column, latest)
    if isinstance(form, UnixTimes):
        return _number(row, column, _UNIX) - form.start
    return _number(row, column, Range(0, latest))


def duration_of(word: str, form: TimeForm) -> float:
    """Return a duration in the unit of an instance: a number, or a clock time; nan if it is none.

    Clock times are durations where that unit is known to be a second.
    """
    number = number_of(word)
    return _clock_seconds(word) if isnan(number) and form.seconds else number


def expected_duration(form: TimeForm) -> str:
    """Return what is expected instead of a duration, for a message."""
    if form.seconds:
        return "a number of seconds, or hours and minutes as 08:00"
    return "a number (hours and minutes need stops with clock times or dates)"


def _dates(
    rows: Sequence[Row], first: Row, shown: re.Match[str], latest: float, before: float
) -> Times:
    """Read dates; ``shown`` is the first one, in the row ``first``, and results have its zone."""
    zone = re.sub(r"(\d\d)(\d\d)$", r"\1:\2", shown[4] or "")
    ready, due = ([_date(row, name, first, shown) for row in rows] for name in _POINTS)
    service = [_clock(row, "service", latest) for row in rows]
    start = _start(ready, due, before + float(np.nan_to_num(service[0])))
    opens, closes = _from_start(rows, ready, due, start, latest)
    # The time of the zone, which is then written behind it.
    offset = datetime.fromisoformat(_isoformat(shown)).utcoffset() or timedelta()
    moment = datetime.fromtimestamp(start, UTC).replace(tzinfo=None) + offset
    return Times(opens, closes, np.array(service), Dates(moment, shown[2], zone))


def _date(row: Row, column: str, first: Row, shown: re.Match[str]) -> float:
    """Return the seconds since 1970 of a date with time, nan if the cell is empty."""
    word = row.cells.get(column, "")
    if not word:
        return nan
    as_there = f"as line {first.line} has"
    if (found := _DATE.fullmatch(word)) is None:
        expected = f"a date and a time {as_there}: {shown[0]}"
        if _CLOCK.fullmatch(word):
            expected = f"the date before it {as_there}: {shown[1]}{shown[2]}{word}"
        elif _DAY.fullmatch(word):
            expected = f"a time behind it {as_there}: {word}{shown[2]}00:00 is when it begins"
        raise row.error(row.raw_value(column), expected)
    if (found[4] is None) != (shown[4] is None):
        bare = f"{found[1]}{found[2]}{found[3]}"
        cure = f"no zone, {as_there} none: {bare}"
        if found[4] is None:
            cure = f"a zone behind it, {as_there} one: {bare}{shown[4]}"
        raise row.error(row.raw_value(column), cure)
    return _moment(row, column, found).timestamp()


def _moment(row: Row, column: str, date: re.Match[str]) -> datetime:
    """Return the moment of a date; without a zone it is in UTC."""
    try:
        moment = datetime.fromisoformat(_isoformat(date))
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    except ValueError:
        expected = "a day and a time that exist, as 2028-02-29 23:59"
        raise row.error(row.raw_value(column), expected) from None


def _isoformat(date: re.Match[str]) -> str:
    return date[0].replace(" +", "+").replace(" -", "-").replace(" Z", "Z")


def _start(ready: Sequence[float], due: Sequence[float], before: float) -> int:
    """Return the seconds since 1970 of time 0: those of the first point in time, or before it."""
    early = min(before, TIME.high) if isnan(ready[0]) else 0.0
    return floor(float(np.nanmin([*ready, *due])) - early)


def _from_start(
    rows: Sequence[Row],
    ready: Sequence[float],
    due: Sequence[float],
    start: int,
    latest: float,
) -> tuple[FloatArray, FloatArray]:
    """Return ready and due times from ``start`` on."""
    found = []
    for name, times in zip(_POINTS, (ready, due), strict=True):
        since = np.array(times) - start
        for place in np.flatnonzero(since > latest).tolist():
            raise rows[place].error(
                rows[place].raw_value(name),
                f"at most {latest / 86_400:,.0f} days after the first time of the table",
            )
        found.append(since)
    return found[0], found[1]


def _unix_times(rows: Sequence[Row], first: Row, shown: str, latest: float, before: float) -> Times:
    """Read Unix seconds; ``shown`` are the first ones, in the row ``first``."""
    for row in rows:
        for name in _POINTS:
            word = row.cells.get(name)
            if word and number_of(word) not in _UNIX:
                expected = f"Unix seconds as line {first.line} has ({shown}), or nothing"
                raise row.error(row.raw_value(name), expected)
    ready, due = ([_number(row, name, _UNIX) for row in rows] for name in _POINTS)
    service = [_number(row, "service", Range(0, latest)) for row in rows]
    start = _start(ready, due, before + float(np.nan_to_num(service[0])))
    opens, closes = _from_start(rows, ready, due, start, latest)
    return Times(opens, closes, np.array(service), UnixTimes(start))


def _number(row: Row, column: str, accepted: Range) -> float:
    """Return the number in a column, nan if it is empty."""
    word = row.cells.get(column)
    if not word:
        return nan
    time = number_of(word)
    if isnan(time):
        expected = f"{accepted}, or clock times in all cells: {_CLOCKS}"
        if _LIKE_A_DATE.match(word):
            expected = "a date and a time written 2026-12-01 08:30, in all cells"
        raise row.error(row.raw_value(column), expected)
    if time not in accepted and column != "service":
        raise row.error(row.raw_value(column), expected_times(time, str(accepted)))
    return row.number(column, accepted)


def _clock(row: Row, column: str, latest: float) -> float:
    """Return the seconds of the clock time in a column, nan if it is empty."""
    word = row.cells.get(column)
    if not word:
        return nan
    if word == "0":
        return 0.0
    seconds = _clock_seconds(word)
    if not seconds <= latest:
        expected = f"a clock time as in other cells: {_CLOCKS}"
        if column == "service":
            expected = "a clock time as its duration: 00:05 for five minutes"
        raise row.error(row.raw_value(column), expected)
    return seconds


def _clock_seconds(word: str) -> float:
    """Return the seconds of a clock time, nan if it is none."""
    parts = _CLOCK.fullmatch(word)
    if parts is None:
        return nan
    days, hours, minutes, rest = (float(part or 0) for part in parts.groups())
    return 86_400 * days + 3600 * hours + 60 * minutes + rest
