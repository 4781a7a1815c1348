"""The rows of a frozen evaluation: one instance each, and their means."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, isfinite, nan
from pathlib import Path

from msgspec import Struct

from specahd.core import journal

_NO_PASS = ("instance", "baseline")
_TIE = 1e-9
"""Relative difference below which two costs count as equal."""
_FIGURES = ("improvement", "baseline_cost", "cost")


class _Step(Struct):
    outcome: str


class RowRecord(Struct, frozen=True):
    """A line of an evaluation; one that failed has neither a cost nor an improvement."""

    instance: str
    size: int
    baseline: str
    baseline_cost: float
    status: str
    steps: list[_Step]
    cost: float | None = None
    improvement: float | None = None
    best_known: float | None = None
    lower_bound: float | None = None

    def __post_init__(self) -> None:
        for name in ("cost", "improvement"):
            if not self.failed and getattr(self, name) is None:
                raise ValueError(f"Object missing required field `{name}`")

    @property
    def failed(self) -> bool:
        """Whether the upper program failed."""
        return self.status != "ok"


@dataclass(frozen=True, slots=True)
class Row:
    """One instance; ``cost`` and ``improvement`` are nan if the upper program failed (``T``).

    Parameters
    ----------
    steps, rollbacks
        Number of regions that were rebuilt, and of those without a feasible merge.
    best_known
        The cost of the best known solution; nan if unknown.
    lower_bound
        A lower bound of the cost of every solution; nan if there is no formula for it.
    """

    instance: str
    size: int
    baseline: str
    baseline_cost: float
    cost: float
    improvement: float
    failed: bool
    steps: int
    rollbacks: int
    best_known: float = nan
    lower_bound: float = nan

    @property
    def beats_baseline(self) -> bool:
        """Whether the solution is cheaper than the baseline solution, by more than rounding."""
        return self.cost < self.baseline_cost * (1 - _TIE)

    @classmethod
    def of(cls, record: RowRecord) -> "Row":
        """Return the row that a record states."""
        outcomes = [step.outcome for step in record.steps]
        return cls(
            instance=record.instance,
            size=record.size,
            baseline=record.baseline,
            baseline_cost=record.baseline_cost,
            cost=nan if record.cost is None else record.cost,
            improvement=nan if record.improvement is None else record.improvement,
            failed=record.failed,
            steps=len(outcomes),
            rollbacks=sum(outcome != "ok" for outcome in outcomes),
            best_known=record.best_known or nan,
            lower_bound=record.lower_bound or nan,
        )


@dataclass(frozen=True, slots=True)
class Means:
    """Means over rows that did not fail; nan if all failed."""

    rows: int
    failed: int
    steps: int
    rollbacks: int
    baseline_cost: float
    cost: float
    improvement: float

    def measures(self) -> dict[str, float]:
        """Return the means by name, none of them if every row failed."""
        figures = {name: getattr(self, name) for name in _FIGURES}
        return {name: value for name, value in figures.items() if isfinite(value)}


def average_rows(rows: Sequence[Row]) -> Means:
    """Average rows. A failed instance is counted, never imputed."""
    done = [row for row in rows if not row.failed]
    return Means(
        rows=len(rows),
        failed=len(rows) - len(done),
        steps=sum(row.steps for row in rows),
        rollbacks=sum(row.rollbacks for row in rows),
        baseline_cost=mean_or_nan(row.baseline_cost for row in done),
        cost=mean_or_nan(row.cost for row in done),
        improvement=mean_or_nan(row.improvement for row in done),
    )


def mean_or_nan(values: Iterable[float]) -> float:
    """Return the mean; nan if there are no values."""
    listed = list(values)
    return fsum(listed) / len(listed) if listed else nan


def read_rows(path: Path) -> tuple[Row, ...]:
    """Read the rows of an evaluation; none if the file does not exist.

    Raises
    ------
    FileError
        A line does not have the format of an evaluation.
    """
    return tuple(map(Row.of, journal.read_records(path, RowRecord)))


def read_seconds(path: Path) -> dict[str, float]:
    """Return the seconds of all passes by instance; none if the file does not exist.

    The seconds of the baseline solver are not included.

    Raises
    ------
    FileError
        A line does not have the format of an evaluation.
    """
    return {
        str(record["instance"]): pass_seconds(record)
        for record in journal.read_records(path, dict[str, str | float])
        if "instance" in record
    }


def pass_seconds(timings: Mapping[str, str | float]) -> float:
    """Return the seconds of all passes of a line of timings, without those of the baseline."""
    return fsum(float(value) for name, value in timings.items() if name not in _NO_PASS)


def read_baseline_seconds(path: Path) -> dict[str, float]:
    """Return the seconds of the baseline solver for each instance that has them.

    Raises
    ------
    FileError
        A line does not have the format of an evaluation.
    """
    return {
        str(record["instance"]): float(record["baseline"])
        for record in journal.read_records(path, dict[str, str | float])
        if "instance" in record and "baseline" in record
    }
