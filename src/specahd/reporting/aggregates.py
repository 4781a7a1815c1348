"""Means and counts over rows and runs. A failed instance is counted, never imputed."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import fsum, nan

from specahd.core.program import Level, Outcome
from specahd.reporting.runs import Row, Run

# Sizes stand for themselves where there are few; else they share these ranges.
_FEW = 8
_ENDS = (50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000_000)
_DECIMALS = 6
"""Decimals of stored figures: enough to compare, too few for a processor's last bits."""


@dataclass(frozen=True, slots=True)
class Means:
    """What rows come to; the means are over those that did not fail, nan if there are none."""

    rows: int
    failed: int
    infeasible: int
    baseline_cost: float
    cost: float
    improvement: float


def means(rows: Sequence[Row]) -> Means:
    """Average rows."""
    done = [row for row in rows if not row.failed]
    return Means(
        rows=len(rows),
        failed=len(rows) - len(done),
        infeasible=sum(not row.feasible for row in rows),
        baseline_cost=mean(row.baseline_cost for row in done),
        cost=mean(row.cost for row in done),
        improvement=mean(row.improvement for row in done),
    )


def mean(values: Iterable[float]) -> float:
    """Return the mean, nan of nothing."""
    listed = list(values)
    return fsum(listed) / len(listed) if listed else nan


def by_size(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Sort rows under their sizes, or under ranges of sizes where there are many."""
    ordered = sorted(rows, key=lambda row: (row.size, row.instance))
    exact = len({row.size for row in ordered}) <= _FEW

    def label(row: Row) -> str:
        if exact:
            return f"{row.size:,}"
        end = next(end for end in _ENDS if row.size <= end)
        start = max((other for other in _ENDS if other < end), default=0) + 1
        return f"{start:,}–{end:,}" if end != _ENDS[-1] else f"above {start - 1:,}"

    return {name: list(group) for name, group in groupby(ordered, key=label)}


def outcomes(runs: Iterable[Run]) -> dict[Level, Counter[Outcome]]:
    """Count what became of the programs of each level."""
    counts: dict[Level, Counter[Outcome]] = {level: Counter() for level in Level}
    for run in runs:
        for sample in run.samples:
            counts[sample.level][sample.outcome] += 1
    return counts


def curve(run: Run, level: Level) -> Iterator[list[tuple[int, float]]]:
    """Yield a level's best scores by programs asked so far (both levels'), one list a round.

    Scores of different rounds are not of one kind: each round has tasks of its own.
    """
    numbered = [(place, sample) for place, sample in enumerate(run.samples, start=1)]
    mine = [(place, sample) for place, sample in numbered if sample.level is level]
    for _, group in groupby(mine, key=lambda item: item[1].round):
        points = [(place, sample.best) for place, sample in group if sample.best is not None]
        if points:
            yield points


def convergence(runs: Sequence[Run], level: Level) -> list[tuple[int, float]]:
    """Return the mean over seeds of a level's best score, by programs asked so far."""
    known = [
        {place: best for points in curve(run, level) for place, best in points} for run in runs
    ]
    places = sorted({place for points in known for place in points})
    return [(place, mean(points[place] for points in known if place in points)) for place in places]


def stored(value: float) -> float:
    """Round a figure that is written to a file."""
    return round(value, _DECIMALS)
