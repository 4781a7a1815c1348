"""Named instances: gaps to best known costs (the paper's App. D) by set (Table 4), over time."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite, log, nan
from pathlib import Path
from statistics import fmean

import numpy as np
from msgspec import Struct

from specahd.core import journal
from specahd.core.errors import FileError
from specahd.core.plain import read_json
from specahd.evaluation.files import row_timings_file, rows_file
from specahd.evaluation.rows import RowRecord, mean_or_nan, read_seconds
from specahd.reporting.document import Figure, Part, Section, Strong, Table, format_percent
from specahd.reporting.figures import draw_anytime, render
from specahd.reporting.ranking import Entry, against

ANYTIME = "anytime.svg"
_PEERS = ("PyVRP", "OR-Tools", "LKH")
"""Names of untrained solvers, as benchmarks/solve.py writes them."""
_OTHERS = "other instances"
_POINTS = 80
"""Number of points of a curve, evenly spaced on a logarithmic scale."""
_LIMIT = 1 << 26
_TEXT = (
    "Gap is the mean excess over the best known costs, over the solved instances that have one. B "
    "is the baseline solver whose solutions a method repairs; its gap stands beside it. Feasible "
    "is the share of solutions that the checker accepts. T counts instances on which an upper "
    "program failed; they enter no other column. Wins, ties and losses count instances, by the "
    "mean cost over the seeds: against the cheapest other method on each instance, and against "
    "each untrained solver. s is the mean number of seconds per instance."
)
_CAPTION = (
    "Mean excess over the best known cost (without one, over the lowest cost of all rows) against "
    "the seconds of the search, over the instances that all these solvers have. A line begins "
    "where its solver has a first solution of each instance."
)


class _Record(RowRecord, frozen=True):
    """A row of an evaluation, of ``solve``, or of another solver on a named instance."""

    feasible: bool = True
    set: str | None = None
    gap: float | None = None
    baseline_gap: float | None = None
    solver: str | None = None
    seed: int = 0
    seconds: float = nan
    history: Sequence[tuple[float, float, float]] = ()


class _Solved(Struct):
    """The cost over time in a row of ``solve``: seconds, cost and repairs so far."""

    history: list[tuple[float, float, float]]


@dataclass(frozen=True, slots=True)
class _Method:
    """All rows of a method on the instances of a set."""

    name: str
    rows: Sequence[_Record]
    seconds: float

    @property
    def peer(self) -> bool:
        """Whether the method is a solver that was not trained."""
        return self.name.startswith(_PEERS)

    @property
    def entry(self) -> Entry:
        """The costs of the method by seed and instance."""
        seeds: dict[int, dict[str, float]] = defaultdict(dict)
        for row in self.rows:
            if row.cost is not None:
                seeds[row.seed][row.instance] = row.cost
        return Entry(self.name, list(seeds.values()), self.peer)

    def failures(self) -> int:
        """Count the rows without a solution."""
        return sum(row.failed for row in self.rows)


def named_sections(folder: Path | None) -> Iterator[Section]:
    """Yield the tables of all rows below a folder, and curves for the rows with a history.

    A method has the name of the folder of its rows, or the name of the solver in the rows with
    its seconds.

    Raises
    ------
    FileError
        There is no row, or a file is not what an evaluation writes.
    """
    if folder is None:
        return
    sets = _read(folder)
    references = sorted({each.name for group in sets.values() for each in group if each.peer})
    lines = [line for name, group in sets.items() for line in _lines(name, group, references)]
    columns = (
        "set", "method", "instances", "gap", "other methods", *references, "feasible", "T", "s",
        "B", "B's gap",
    )  # fmt: skip
    parts: list[Part] = [_TEXT, Table(columns, lines, words=2, name="sets")]
    panels = {name: curves for name, group in sets.items() if (curves := _curves(group))}
    if panels:
        parts.append(Figure(ANYTIME, _CAPTION, *render(draw_anytime, panels)))
    yield Section("Public sets", parts)
    for name, group in sets.items():
        yield Section(f"Instances of {name}", [_instances(name, group)])


def _read(folder: Path) -> dict[str, list[_Method]]:
    """Return the methods of each set, both in the order of their names."""
    rows: dict[tuple[str, str], list[_Record]] = defaultdict(list)
    took: dict[tuple[str, str], list[float]] = defaultdict(list)
    for path in sorted([*folder.rglob(rows_file()), *folder.rglob("*.json")]):
        seconds = read_seconds(path.with_name(row_timings_file()))
        for row in _records(path):
            group = row.set or _OTHERS
            key = group, _called(path.parent.relative_to(folder).parts, row)
            rows[key].append(row)
            took[key].append(seconds.get(row.instance, row.seconds))
    if not rows:
        raise FileError(f"{folder} holds no row of a named instance: no {rows_file('rows')}.")
    found: dict[str, list[_Method]] = defaultdict(list)
    for key in sorted(rows):
        known = filter(isfinite, took[key])
        found[key[0]].append(_Method(key[1], rows[key], mean_or_nan(known)))
    return found


def _records(path: Path) -> Iterator[_Record]:
    if path.suffix == ".jsonl":
        yield from journal.read_records(path, _Record)
    elif read_json(path, _LIMIT, _Solved) is not None:
        # ``solve`` writes one row per file; other files have no history.
        row = read_json(path, _LIMIT, _Record)
        if row is None:
            raise FileError(f"{path} has a history, and is no row of solve.")
        yield row


def _called(parts: Sequence[str], row: _Record) -> str:
    if row.solver is not None:
        return row.solver + (f", {row.seconds:g} s" if isfinite(row.seconds) else "")
    # The name of a set's folder is not part of the method's name.
    of_set = {row.set, (row.set or "").replace("/", "-")}
    return "/".join(part for part in parts if part not in of_set) or "evaluated"


def _lines(name: str, methods: Sequence[_Method], references: Sequence[str]) -> Iterator[list[str]]:
    for method in methods:
        done = [row for row in method.rows if not row.failed]
        rivals = [each for each in methods if each is not method and not each.peer]
        peers = [[each for each in methods if each.name == peer] for peer in references]
        yield [
            name,
            method.name,
            str(len({row.instance for row in method.rows})),
            _mean_gap([row.gap for row in done]),
            *(_outcomes(method, each) for each in (rivals, *peers)),
            f"{sum(row.feasible for row in method.rows) / len(method.rows):.0%}",
            str(method.failures()),
            f"{method.seconds:.3g}" if isfinite(method.seconds) else "–",
            ", ".join(sorted({row.baseline for row in method.rows})),
            _mean_gap([row.baseline_gap for row in done]),
        ]


def _mean_gap(gaps: Sequence[float | None]) -> str:
    return format_percent(mean_or_nan(gap for gap in gaps if gap is not None))


def _outcomes(method: _Method, rivals: Sequence[_Method]) -> str:
    """Return wins, ties and losses against the cheapest rival on each instance."""
    if not rivals or rivals == [method]:
        return "–"
    mine, theirs = method.entry, [each.entry for each in rivals]
    solved = [each.solved() for each in theirs]
    counts = [0, 0, 0]
    for name in mine.solved():
        solvers = [each for each, names in zip(theirs, solved, strict=True) if name in names]
        if solvers:
            found = against(mine, solvers, [name])
            counts = [a + b for a, b in zip(counts, found, strict=True)]
    return " / ".join(map(str, counts))


def _instances(name: str, methods: Sequence[_Method]) -> Table:
    """Return a table of all instances: costs, and gaps for those with a best known cost."""
    known: dict[str, _Record] = {}
    for row in (row for method in methods for row in method.rows):
        if row.instance not in known or known[row.instance].gap is None:
            known[row.instance] = row
    entries = [method.entry for method in methods]
    solved = [entry.solved() for entry in entries]
    rows = []
    for instance, record in sorted(known.items(), key=lambda each: (each[1].size, each[0])):
        best = record.best_known if record.gap is not None else None
        costs = [
            entry.cost(instance) if instance in names else nan
            for entry, names in zip(entries, solved, strict=True)
        ]
        cheapest = min(filter(isfinite, costs), default=nan)
        cells = [_cost(cost, best) for cost in costs]
        for place, method in enumerate(methods):
            if all(row.instance != instance for row in method.rows):
                cells[place] = "–"
        rows.append(
            [
                instance,
                str(record.size),
                "–" if best is None else f"{best:,.10g}",
                *(
                    Strong(c) if cost == cheapest else c
                    for c, cost in zip(cells, costs, strict=True)
                ),
            ]
        )
    columns = ("instance", "size", "best known", *(method.name for method in methods))
    return Table(columns, rows, name=f"instances-{name.replace('/', '-').replace(' ', '-')}")


def _cost(cost: float, best: float | None) -> str:
    if not isfinite(cost):
        return "T"
    return f"{cost:,.1f}" + ("" if best is None else f" ({format_percent(cost / best - 1)})")


def _curves(methods: Sequence[_Method]) -> Mapping[str, list[tuple[float, float]]]:
    """Return the mean excess over time on common instances, for each solver with a history."""
    recorded = {
        method.name: [row for row in method.rows if row.history and row.cost is not None]
        for method in methods
    }
    recorded = {name: rows for name, rows in recorded.items() if rows}
    if not recorded:
        return {}
    common = set.intersection(*({row.instance for row in rows} for rows in recorded.values()))
    if not common:
        return {}
    least: dict[str, float] = {}
    for row in (row for rows in recorded.values() for row in rows):
        least[row.instance] = min(row.cost or nan, least.get(row.instance, inf))
    return {
        name: _curve([row for row in rows if row.instance in common], least)
        for name, rows in recorded.items()
    }


def _curve(rows: Sequence[_Record], least: Mapping[str, float]) -> list[tuple[float, float]]:
    begin = max(1e-3, *(row.history[0][0] for row in rows))
    end = max(begin, *(max(row.history[-1][0], row.seconds) for row in rows))
    moments = np.exp(np.linspace(log(begin), log(end), _POINTS)).tolist()
    steps = [
        (
            [at for at, *_ in row.history],
            [cost for _, cost, *_ in row.history],
            _reference(row, least),
        )
        for row in rows
    ]
    return [
        (
            moment,
            fmean(
                costs[max(0, bisect_right(times, moment) - 1)] / best - 1
                for times, costs, best in steps
            ),
        )
        for moment in moments
    ]


def _reference(row: _Record, least: Mapping[str, float]) -> float:
    """Return the best known cost of a row's instance, or else the lowest cost of all rows."""
    known = row.best_known if row.gap is not None else None
    return known or least[row.instance]
