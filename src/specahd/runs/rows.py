"""The rows of a frozen evaluation: one instance each, and their means."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, isfinite, nan
from pathlib import Path
from typing import Any

from specahd.core import journal
from specahd.core.plain import Shape

_FIGURES = ("improvement", "baseline_cost", "cost")
_UNKNOWN = ("improvement", "cost")
"""Figures that a failed instance does not have."""
_ROW: Shape = {
    "instance": str,
    "size": int,
    "baseline": str,
    "baseline_cost": float,
    "status": str,
    "steps": [{"outcome": str}],
}


@dataclass(frozen=True, slots=True)
class Row:
    """One instance; ``cost`` and ``improvement`` are nan where the upper program failed (``T``).

    Parameters
    ----------
    steps, rollbacks
        How many regions were rebuilt, and how many of those did not end in a feasible merge.
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

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> "Row":
        """Return the row that a record states."""
        failed = record["status"] != "ok"
        outcomes = [step["outcome"] for step in record["steps"]]
        return cls(
            instance=record["instance"],
            size=record["size"],
            baseline=record["baseline"],
            baseline_cost=float(record["baseline_cost"]),
            cost=nan if failed else float(record["cost"]),
            improvement=nan if failed else float(record["improvement"]),
            failed=failed,
            steps=len(outcomes),
            rollbacks=sum(outcome != "ok" for outcome in outcomes),
        )


@dataclass(frozen=True, slots=True)
class Means:
    """What rows come to; the means are over those that did not fail, nan if there are none."""

    rows: int
    failed: int
    steps: int
    rollbacks: int
    baseline_cost: float
    cost: float
    improvement: float

    def measures(self) -> dict[str, float]:
        """Return the means by name, none of them if every row failed."""
        named = {name: getattr(self, name) for name in _FIGURES}
        return {name: value for name, value in named.items() if isfinite(value)}


def means(rows: Sequence[Row]) -> Means:
    """Average rows. A failed instance is counted, never imputed."""
    done = [row for row in rows if not row.failed]
    return Means(
        rows=len(rows),
        failed=len(rows) - len(done),
        steps=sum(row.steps for row in rows),
        rollbacks=sum(row.rollbacks for row in rows),
        baseline_cost=mean(row.baseline_cost for row in done),
        cost=mean(row.cost for row in done),
        improvement=mean(row.improvement for row in done),
    )


def mean(values: Iterable[float]) -> float:
    """Return the mean, nan of nothing."""
    listed = list(values)
    return fsum(listed) / len(listed) if listed else nan


def read_rows(path: Path) -> tuple[Row, ...]:
    """Read the rows of an evaluation, none if the file is not there.

    Raises
    ------
    FileError
        A line is not what an evaluation writes.
    """
    return tuple(Row.of(record) for record in journal.read(path, row_shape))


def read_seconds(path: Path) -> dict[str, float]:
    """Return by instance the seconds of one pass, none if the file is not there.

    Raises
    ------
    FileError
        A line is not what an evaluation writes.
    """
    shape = {"instance": str}
    records = journal.read(path, lambda record: {**dict.fromkeys(record, float), **shape})
    return {
        record["instance"]: fsum(record[stage] for stage in record if stage != "instance")
        for record in records
    }


def row_shape(record: Mapping[str, Any]) -> Shape:
    """Return what a row must be; a failed instance has neither a cost nor an improvement."""
    return {**_ROW, **(dict.fromkeys(_UNKNOWN, float) if record.get("status") == "ok" else {})}
