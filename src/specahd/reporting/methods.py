"""Methods side by side: which is better, what they cost by size, and what they take."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import isfinite, nan
from statistics import stdev

from specahd.reporting import ranking
from specahd.reporting.aggregates import group_by_kind, group_by_size
from specahd.reporting.common import Common, restrict_to_common
from specahd.reporting.document import Document, Part, Section, Strong, Table, format_number
from specahd.reporting.ranking import Entry
from specahd.runs.reading import Run, Spending, choose_runs
from specahd.runs.rows import Row, average_rows, mean_or_nan

_TEXT = (
    "Mean costs on the validation pool by size, lower is better (in bold the cheapest method), "
    "over the seeds and instances that the complete runs have in common. Improvement is over the "
    "baseline solutions, a mean over the seeds with its sample standard deviation. Seconds are "
    "those of one pass over an instance, the baseline's own and compilation left out; that of a "
    "reference is its whole time. Tokens and money are those of a run's requests. Failed are "
    "rebuilds without a feasible result (of a complete instance, or of a region), of all; T "
    "counts instances on which an upper program failed, which enter into no mean."
)


@dataclass(frozen=True, slots=True)
class Reference:
    """An untrained reference solver on the same instances."""

    name: str
    rows: Sequence[Row]
    seconds: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the table: a method or a reference, before it is written."""

    name: str
    rows: Sequence[Row]
    improvements: Sequence[float]
    seconds: float
    complete: str
    spending: Spending

    def cells(self, cheapest: Mapping[str, float], paid: bool) -> list[str]:
        """Return its cells; in bold the costs of a size that no method is below."""
        costs = {size: average_rows(group).cost for size, group in group_by_size(self.rows).items()}
        written = [format_number(costs.get(size, nan), 1) for size in cheapest]
        least = [costs.get(size) == cost for size, cost in cheapest.items()]
        used = (
            (format_number(self.spending.tokens, 0), format_number(self.spending.cost, 2))
            if paid
            else ()
        )
        return [
            self.name,
            *(Strong(cell) if bold else cell for cell, bold in zip(written, least, strict=True)),
            _improvement(self.improvements),
            format_number(self.seconds, 3),
            self.complete,
            *used,
            *_failures(self.rows),
        ]


def is_comparison(runs: Sequence[Run]) -> bool:
    """Say whether runs are of more than one method."""
    return len({run.kind.method for run in runs}) > 1


def comparison_tables(
    found: Sequence[Run],
    seconds: Mapping[str, Mapping[str, float]],
    references: Mapping[str, Sequence[Reference]],
    spending: Mapping[str, Spending],
) -> Document:
    """Return for each problem which method is better, and a table of all.

    Parameters
    ----------
    seconds
        By the name of a run, what a pass took by instance of its validation pool, as far as
        that is known.
    references
        By problem.
    spending
        By the name of a run, what its requests used.
    """
    kinds = group_by_kind(choose_runs(found)).items()
    sections: list[Section] = []
    for problem, group in groupby(kinds, key=lambda item: item[1][0].kind.problem):
        groups = {name.removeprefix(f"{problem}-"): runs for name, runs in group}
        others = references.get(problem, ())
        common = restrict_to_common(groups, ["validation"])
        answer = _ranking(problem, common.groups, others)
        table = _table(problem, groups, common.groups, seconds, others, spending)
        parts = [*answer, "Mean costs by size.", table, *_left_out(groups, common, others)]
        sections.append(Section(problem, parts))
    sections.append(Section("How to read the tables of methods", [ranking.HOW_TO_READ, _TEXT]))
    return Document("Comparison of methods", sections)


def _ranking(
    problem: str, groups: Mapping[str, Sequence[Run]], references: Sequence[Reference]
) -> list[Part]:
    entries = [
        *(Entry(name, [_costs(run.validation) for run in runs]) for name, runs in groups.items()),
        *(Entry(each.name, [_costs(each.rows)], reference=True) for each in references),
    ]
    runs = [run for each in groups.values() for run in each]
    rows = {row.instance: row for run in runs for row in run.validation}
    sizes = {
        size: [row.instance for row in each] for size, each in group_by_size(rows.values()).items()
    }
    programs = sorted({run.programs for run in runs})
    return ranking.compare(problem, entries, sizes, f"{' or '.join(map(str, programs))} programs")


def _costs(rows: Sequence[Row]) -> dict[str, float]:
    return {row.instance: row.cost for row in rows if not row.failed}


def _table(
    problem: str,
    groups: Mapping[str, Sequence[Run]],
    counted: Mapping[str, Sequence[Run]],
    seconds: Mapping[str, Mapping[str, float]],
    references: Sequence[Reference],
    spending: Mapping[str, Spending],
) -> Table:
    instances = _instances(counted)
    lines = []
    for name, runs in counted.items():
        used = [spending[run.name] for run in runs]
        lines.append(
            _Line(
                name,
                [row for run in runs for row in run.validation],
                [average_rows(run.validation).improvement for run in runs],
                mean_or_nan(_seconds(seconds[run.name], instances) for run in runs),
                f"{sum(run.complete for run in groups[name])}/{len(groups[name])}",
                Spending(
                    mean_or_nan(each.tokens for each in used),
                    mean_or_nan(each.cost for each in used),
                ),
            )
        )
    sizes = group_by_size([row for line in lines for row in line.rows])
    grouped = [group_by_size(line.rows) for line in lines]
    cheapest = {
        size: min(average_rows(group[size]).cost for group in grouped if size in group)
        for size in sizes
    }
    for solver in references:
        rows = [row for row in solver.rows if row.instance in instances]
        took = _seconds(solver.seconds, instances)
        lines.append(
            _Line(
                solver.name, rows, [average_rows(rows).improvement], took, "reference", Spending()
            )
        )
    # Replies that were recorded or composed offline are free.
    paid = any(line.spending.tokens > 0 for line in lines)
    columns = (
        "method", *sizes, "improvement", "s", "complete", *(("tokens", "money") if paid else ()),
        "failed", "T",
    )  # fmt: skip
    return Table(columns, [line.cells(cheapest, paid) for line in lines], name=f"{problem}-methods")


def _instances(counted: Mapping[str, Sequence[Run]]) -> set[str]:
    return {row.instance for runs in counted.values() for run in runs for row in run.validation}


def _seconds(took: Mapping[str, float], instances: set[str]) -> float:
    return mean_or_nan(seconds for instance, seconds in took.items() if instance in instances)


def _improvement(shares: Sequence[float]) -> str:
    known = [100 * share for share in shares if isfinite(share)]
    if not known:
        return "–"
    spread = f" ± {stdev(known):.2f}" if len(known) > 1 else ""
    return f"{mean_or_nan(known):+.2f}%{spread}"


def _failures(rows: Sequence[Row]) -> list[str]:
    found = average_rows(rows)
    return [f"{found.rollbacks}/{found.steps}" if found.steps else "–", str(found.failed)]


def _left_out(
    groups: Mapping[str, Sequence[Run]], common: Common, references: Sequence[Reference]
) -> list[str]:
    partial = [run.name for runs in groups.values() for run in runs if not run.complete]
    said = [f"Partial, counted in no mean: {', '.join(partial)}."] if partial else []
    instances = _instances(common.groups)
    for solver in references:
        held = instances & {row.instance for row in solver.rows}
        if held != instances:
            said.append(f"{solver.name} has rows of {len(held)} of {len(instances)} instances.")
    return [*said, *common.remarks]
