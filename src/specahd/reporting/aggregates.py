"""Groups of rows, counts of programs, and curves of runs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from statistics import fmean, stdev

from specahd.core.program import Level, Outcome
from specahd.runs.kinds import name_kinds
from specahd.runs.reading import Run
from specahd.runs.rows import Row, mean_or_nan

EARLY = 50
"""Programs before which curves rise too steeply to be compared (the paper's appendix F)."""
# Up to _FEW different sizes are groups of their own; more sizes are grouped into these ranges.
_FEW = 8
_ENDS = (50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000_000)


def group_by_kind(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Group runs that differ only in their seed; return the groups by the names of their kinds."""
    names = name_kinds(run.kind for run in runs)
    ordered = sorted(runs, key=lambda run: (run.kind, run.seed))
    return {names[kind]: list(group) for kind, group in groupby(ordered, key=lambda run: run.kind)}


def group_by_size(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Group rows by size, or by ranges of sizes if there are many sizes."""
    ordered = sorted(rows, key=lambda row: (row.size, row.instance))
    exact = len({row.size for row in ordered}) <= _FEW

    def label(row: Row) -> str:
        if exact:
            return f"{row.size:,}"
        end = next(end for end in _ENDS if row.size <= end)
        start = max((other for other in _ENDS if other < end), default=0) + 1
        return f"{start:,}–{end:,}" if end != _ENDS[-1] else f"above {start - 1:,}"

    return {name: list(group) for name, group in groupby(ordered, key=label)}


def count_outcomes(runs: Iterable[Run]) -> dict[Level, Counter[Outcome]]:
    """Count the outcomes of each level's programs."""
    counts: dict[Level, Counter[Outcome]] = {level: Counter() for level in Level}
    for run in runs:
        for sample in run.samples:
            counts[sample.level][sample.outcome] += 1
    return counts


def best_score_curve(run: Run, level: Level) -> Iterator[list[tuple[int, float]]]:
    """Yield a level's best scores by number of programs (of both levels), one list per round.

    Scores of different rounds are not comparable, because each round has tasks of its own.
    """
    numbered = [(place, sample) for place, sample in enumerate(run.samples, start=1)]
    mine = [(place, sample) for place, sample in numbered if sample.level is level]
    for _, group in groupby(mine, key=lambda item: item[1].round):
        points = [(place, sample.best) for place, sample in group if sample.best is not None]
        if points:
            yield points


def convergence_band(runs: Sequence[Run], level: Level) -> Iterator[list[tuple[int, float, float]]]:
    """Yield mean and sample deviation of the best scores over complete runs, one list per round.

    A point is a number of requested programs that all these runs have. There must be two runs or
    more. The first ``EARLY`` programs are left out if all runs requested more than twice as many.
    """
    complete = [run for run in runs if run.complete]
    if len(complete) < 2:
        return
    first = EARLY if min(len(run.samples) for run in complete) > 2 * EARLY else 0
    for rounds in zip(*(best_score_curve(run, level) for run in complete), strict=False):
        points = [dict(each) for each in rounds]
        places = sorted(place for place in set.intersection(*map(set, points)) if place > first)
        values = [[each[place] for each in points] for place in places]
        if places:
            yield [(place, fmean(v), stdev(v)) for place, v in zip(places, values, strict=True)]


def mean_convergence(runs: Sequence[Run], level: Level) -> list[tuple[int, float]]:
    """Return the mean best score of a level over complete runs, by number of programs so far."""
    known = [
        {place: best for points in best_score_curve(run, level) for place, best in points}
        for run in runs
        if run.complete
    ]
    places = sorted({place for points in known for place in points})
    return [
        (place, mean_or_nan(points[place] for points in known if place in points))
        for place in places
    ]
