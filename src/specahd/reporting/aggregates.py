"""Runs and rows before they are averaged: labels, kinds, common seeds and instances, sizes.

Counts of programs, curves of scores and lower bounds of instances are here too.
"""

import csv
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import isfinite
from pathlib import Path
from statistics import fmean, stdev

from specahd.core.errors import FileError
from specahd.core.plain import read_bytes
from specahd.core.program import Level, Outcome
from specahd.core.settings import LEVELS
from specahd.evaluation.rows import Row, mean_or_nan
from specahd.reporting.document import Section, Table
from specahd.runs.configuration import name_kinds
from specahd.runs.files import POOLS
from specahd.runs.reading import Run

EARLY = 50
"""Programs before which curves rise too steeply to be compared (the paper's appendix F)."""
# Up to _FEW different sizes are groups of their own; more sizes are grouped into these ranges.
_FEW = 8
_ENDS = (50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000_000)
_NAMED = 3
"""Largest number of instances that a remark lists by name."""
BOUND = "2 Σ q d / Q"
HOW_TO_READ_BOUNDS = (
    f"{BOUND} is a lower bound on the cost with split deliveries: a vehicle of capacity Q that "
    "brings q to a customer at distance d from the depot drives there and back, of which that "
    "customer's part is q / Q. No method can gain more, but for the rounding of distances."
)
_LABEL_COLUMNS = ("level", "problem", "source", "label", "note")
_NAMING = ("method", "ablation")
"""The options whose value may have another label."""
_LIMIT = 1 << 20

Label = tuple[str, str, str, str, str]


def read_labels(path: Path) -> list[Label]:
    """Read a mapping of labels, in the order of its columns.

    Raises
    ------
    FileError
        The file is not a CSV file with these columns, or maps the same source twice.
    """
    try:
        lines = list(csv.reader(read_bytes(path, _LIMIT).decode("utf-8-sig").splitlines()))
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileError(f"{path} is not a CSV file ({error}).") from None
    if not lines or tuple(lines[0]) != _LABEL_COLUMNS:
        raise FileError(
            f"{path}: expected the columns {', '.join(_LABEL_COLUMNS)} in its first line."
        )
    found: dict[tuple[str, str, str], Label] = {}
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(_LABEL_COLUMNS) or not all(line[:4]):
            raise FileError(f"{path}: line {number} lacks one of {', '.join(_LABEL_COLUMNS)}.")
        level, problem, source, label, note = line
        if level not in LEVELS:
            raise FileError(
                f"{path}: line {number} has the level {level}, expected {', '.join(LEVELS)}."
            )
        if (level, problem, source) in found:
            raise FileError(f"{path}: line {number} maps {level}, {problem}, {source} again.")
        found[level, problem, source] = (level, problem, source, label, note)
    return list(found.values())


def apply_labels(runs: Sequence[Run], labels: Sequence[Label]) -> tuple[list[Run], Section | None]:
    """Rename runs by level, problem and source only; their rows are not read.

    The section lists both labels of each renamed run; None if no run was renamed.
    """
    known = {tuple(each[:3]): each[3:] for each in labels}
    renamed, rows = [], []
    for run in runs:
        options = dict(run.kind.options)
        level = options.get("search.levels", "both")
        for option in _NAMING:
            source = options.get(option, "")
            if (level, run.kind.problem, source) in known:
                label, note = known[level, run.kind.problem, source]
                rows.append([run.name, str(run.seed), level, run.kind.problem, source, label, note])
                options[option] = label
        method = options.get("method", run.kind.method)
        kind = replace(run.kind, method=method, options=tuple(sorted(options.items())))
        renamed.append(replace(run, kind=kind))
    if not rows:
        return renamed, None
    text = "Labels were assigned by level, problem and source label alone, before any score."
    columns = ("run", "seed", "level", "problem", "source label", "label", "note")
    return renamed, Section("Labels", [text, Table(columns, rows, words=7, name="labels")])


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


def count_cheaper(rows: Iterable[Row]) -> str:
    """Return how many of the solutions are cheaper than the baseline's, as ``2/3``."""
    solved = [row for row in rows if not row.failed]
    return f"{sum(row.beats_baseline for row in solved)}/{len(solved)}"


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


@dataclass(frozen=True, slots=True)
class Common:
    """The runs that are counted in means, with their rows of the common instances.

    Parameters
    ----------
    groups
        The counted runs by the name of their group; a group may have none.
    remarks
        One line for each exclusion, with the reason; empty if nothing was left out.
    """

    groups: Mapping[str, Sequence[Run]]
    remarks: Sequence[str]


def restrict_to_common(groups: Mapping[str, Sequence[Run]], pools: Sequence[str] = POOLS) -> Common:
    """Keep the instances and seeds that all complete runs of a problem share.

    Parameters
    ----------
    groups
        Runs that differ only in their seeds, by name.
    pools
        The pools whose instances are compared.
    """
    counted: dict[str, Sequence[Run]] = {}
    remarks: list[str] = []
    problems: dict[str, dict[str, list[Run]]] = defaultdict(dict)
    for name, runs in groups.items():
        problems[runs[0].kind.problem][name] = [run for run in runs if run.complete]
    for problem, done in problems.items():
        alike, new_remarks = _of_common_seeds(problem, done)
        remarks += new_remarks
        for pool in pools:
            alike, new_remarks = _on_common_instances(problem, pool, alike)
            remarks += new_remarks
        counted |= alike
    return Common({name: counted[name] for name in groups}, remarks)


def _of_common_seeds(
    problem: str, groups: Mapping[str, Sequence[Run]]
) -> tuple[Mapping[str, Sequence[Run]], list[str]]:
    seeds = [{run.seed for run in runs} for runs in groups.values() if runs]
    common = set.intersection(*seeds) if seeds else set()
    left = [
        f"{run.name} (seed {run.seed})"
        for runs in groups.values()
        for run in runs
        if run.seed not in common
    ]
    if not left:
        return groups, []
    if not common:
        return groups, [f"{problem}: no seed is common to all; each mean is over its own seeds."]
    kept = {name: [run for run in runs if run.seed in common] for name, runs in groups.items()}
    return kept, [f"{problem}: left out, since not all have that seed: {', '.join(left)}."]


def _on_common_instances(
    problem: str, pool: str, groups: Mapping[str, Sequence[Run]]
) -> tuple[Mapping[str, Sequence[Run]], list[str]]:
    present = [{row.instance for row in run.rows(pool)} for runs in groups.values() for run in runs]
    common = set.intersection(*present) if present else set()
    remarks = list(_remarks(problem, pool, groups, common))
    if not remarks:
        return groups, []
    kept = {name: [_only(run, pool, common) for run in runs] for name, runs in groups.items()}
    return kept, remarks


def _only(run: Run, pool: str, instances: set[str]) -> Run:
    rows = tuple(row for row in run.rows(pool) if row.instance in instances)
    return replace(run, validation=rows) if pool == "validation" else replace(run, selection=rows)


def _remarks(
    problem: str, pool: str, groups: Mapping[str, Sequence[Run]], common: set[str]
) -> Iterator[str]:
    """Yield one line on the excluded instances for all runs that exclude the same ones."""
    left: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for runs in groups.values():
        for run in runs:
            left[tuple(sorted({row.instance for row in run.rows(pool)} - common))].append(run.name)
    for instances, names in left.items():
        if instances:
            more = len(instances) - _NAMED
            listed = ", ".join(instances[:_NAMED]) + (f" and {more} more" if more > 0 else "")
            yield (
                f"{problem}, {pool}: {len(common)} instances are common to all; "
                f"left out of {', '.join(names)}: {listed}."
            )


def lower_bounds(rows: Iterable[Row], instances: Collection[str]) -> list[Row]:
    """Return a row at the bound of each instance; no rows unless every instance has a bound."""
    known = {
        row.instance: replace(
            row, cost=row.lower_bound, improvement=1 - row.lower_bound / row.baseline_cost,
            failed=False, steps=0, rollbacks=0,
        )
        for row in rows if row.instance in instances and isfinite(row.lower_bound)
    }  # fmt: skip
    return list(known.values()) if len(known) == len(instances) else []
