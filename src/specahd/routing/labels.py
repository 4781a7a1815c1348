"""The labels of results: names of an instance's stops, and units of its file."""

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import ClassVar

from specahd.core.errors import ConfigError
from specahd.routing.base import FloatArray

_LONGEST = 3e10
"""Largest number of seconds between two dates, a millennium."""


@dataclass(frozen=True)
class TimeForm:
    """The form of a file's times, which results have too: numbers in a unit of its own.

    Times and durations are given in the file's unit, times since time 0 of the instance.
    """

    seconds: ClassVar[bool] = False
    """Whether the unit is known to be a second."""

    def time(self, value: float, digits: int = 10) -> str | int | float:
        """Return a point in time."""
        return self.duration(value, digits)

    def duration(self, value: float, digits: int = 10) -> str | int | float:
        """Return a duration; numbers are rounded, as later digits are errors of sums."""
        return rounded(value, digits)

    def day_and_time(self, value: float) -> tuple[str, str]:
        """Return a point in time for people: its day, empty if it is not known, and the time."""
        return "", str(self.time(value, 6))

    def short_duration(self, value: float) -> str:
        """Return a duration for people."""
        return str(self.duration(value, 6))

    @property
    def midnight(self) -> float:
        """Time of day of time 0, in the file's unit."""
        return 0.0


@dataclass(frozen=True)
class UnixTimes(TimeForm):
    """Seconds since 1970; time 0 of the instance is ``start``."""

    start: int
    seconds: ClassVar[bool] = True

    def time(self, value: float, digits: int = 10) -> str | int | float:
        return rounded(self.start + round(value, 3), 13)

    def day_and_time(self, value: float) -> tuple[str, str]:
        return _day_and_time(datetime.fromtimestamp(self.start, UTC), value)

    def short_duration(self, value: float) -> str:
        return _hours(value)

    @property
    def midnight(self) -> float:
        return self.start % 86_400


class ClockTimes(TimeForm):
    """Seconds of the day, written as 08:30:00."""

    seconds: ClassVar[bool] = True

    def duration(self, value: float, digits: int = 10) -> str | int | float:
        minutes, seconds = divmod(round(value), 60)
        return f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}"

    def day_and_time(self, value: float) -> tuple[str, str]:
        return "", _hours(value)

    def short_duration(self, value: float) -> str:
        return _hours(value)


@dataclass(frozen=True)
class Dates(ClockTimes):
    """Dates with times, written as 2026-12-01T08:30:00+01:00; durations are clock times.

    Parameters
    ----------
    start
        Time 0 of the instance, in the zone.
    between
        The sign between date and time.
    zone
        The zone behind the time, as the file writes it; empty if it states none.
    """

    start: datetime
    between: str
    zone: str

    def time(self, value: float, digits: int = 10) -> str | int | float:
        return _moment(self.start, value).isoformat(self.between) + self.zone

    def day_and_time(self, value: float) -> tuple[str, str]:
        return _day_and_time(self.start, value)

    @property
    def midnight(self) -> float:
        return (self.start - datetime.combine(self.start, time.min)).total_seconds()


def _hours(seconds: float) -> str:
    """Return hours and whole minutes."""
    return "{:02}:{:02}".format(*divmod(round(seconds) // 60, 60))


def _moment(start: datetime, seconds: float) -> datetime:
    # What takes longer is due to a speed that cannot be.
    return start + timedelta(seconds=round(min(seconds, _LONGEST)))


def _day_and_time(start: datetime, seconds: float) -> tuple[str, str]:
    moment = _moment(start, seconds)
    return f"{moment:%Y-%m-%d}", f"{moment:%H:%M}"


def rounded(value: float, digits: int = 10) -> int | float:
    """Return a number rounded to so many digits, an integer if it is whole."""
    number = float(f"{value:.{digits}g}")
    return int(number) if number.is_integer() else number


@dataclass(frozen=True, eq=False)
class Labels:
    """Names and units of a file, which do not affect the solution; most files have none.

    Parameters
    ----------
    names
        The names of the nodes, and behind them of the places where vehicles start or end; None if
        they have numbers only.
    first
        The number of node 0. If it is 0, node 0 is called depot.
    degrees
        Longitude and latitude of all that have names, shape (n, 2).
    decimals
        Demands and capacity are stored in parts of the file's unit; 10**decimals make one unit.
    times
        The form of times.
    loading
        Loading time before each route, in the file's unit of time.
    semicolons
        Whether the table separates cells by semicolons, as spreadsheets write and read them where
        the comma is the decimal sign.
    """

    names: tuple[str, ...] | None = None
    first: int = 0
    degrees: FloatArray | None = None
    decimals: int = 0
    times: TimeForm = TimeForm()
    loading: float = 0.0
    semicolons: bool = False

    def name(self, node: int) -> str:
        """Return the name of a node."""
        if self.names is not None:
            return self.names[node]
        return str(node + self.first) if node or self.first else "depot"

    def quoted_name(self, node: int) -> str:
        """Return the name of a node, quoted for a sentence; a number is not quoted."""
        return str(node + self.first) if self.names is None else repr(self.names[node])

    def amount(self, quantity: int) -> int | float:
        """Return a demand, a load or the capacity in the file's unit."""
        parts: int = 10**self.decimals
        return quantity / parts if quantity % parts else quantity // parts

    def time(self, value: float, digits: int = 6) -> str:
        """Return a point in time in the form of the file, for a sentence."""
        return str(self.times.time(value, digits))

    def duration(self, value: float) -> str:
        """Return a duration in the form of the file, for a sentence."""
        return str(self.times.duration(value, 6))

    def expect_degrees(self, path: Path) -> None:
        """Check that there are degrees, which the file at ``path`` needs for its positions.

        Raises
        ------
        ConfigError
            There are no degrees.
        """
        if self.degrees is None:
            raise ConfigError(f"Expected an instance with the columns lon and lat for {path}.")
