"""Methods side by side: what they cost on unseen instances by size, and what a pass takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import isfinite
from statistics import stdev

from specahd.reporting.aggregates import group_by_kind, group_by_size
from specahd.reporting.common import Common, restrict_to_common
from specahd.reporting.document import Document, Section, Table, format_number
from specahd.runs.reading import Run, choose_runs
from specahd.runs.rows import Row, average_rows, mean_or_nan

_TEXT = (
    "Mean costs on the validation pool by size, lower is better, over the seeds and instances "
    "that the complete runs have in common. Improvement is over the baseline solutions, a mean "
    "over the seeds with its sample standard deviation. Seconds are those of one pass over an "
    "instance, the baseline's own and compilation left out; that of a reference is its whole time. "
    "Failed are rebuilds without a feasible result (of a complete instance, or of a region), of "
    "all; T counts instances on which an upper program failed, which enter into no mean."
)


@dataclass(frozen=True, slots=True)
class Reference:
    """An untrained reference solver on the same instances."""

    name: str
    rows: Sequence[Row]
    seconds: Mapping[str, float]


def is_comparison(runs: Sequence[Run]) -> bool:
    """Say whether runs are of more than one method."""
    return len({run.kind.method for run in runs}) > 1


def comparison_tables(
    found: Sequence[Run],
    seconds: Mapping[str, Mapping[str, float]],
    references: Mapping[str, Sequence[Reference]],
) -> Document:
    """Return one table a problem.

    Parameters
    ----------
    seconds
        By the name of a run, what a pass took by instance of its validation pool, as far as
        that is known.
    references
        By problem.
    """
    kinds = group_by_kind(choose_runs(found)).items()
    sections = [Section("How to read it", [_TEXT])]
    for problem, group in groupby(kinds, key=lambda item: item[1][0].kind.problem):
        groups = {name.removeprefix(f"{problem}-"): runs for name, runs in group}
        others = references.get(problem, ())
        common = restrict_to_common(groups, ["validation"])
        table = _table(groups, common.groups, seconds, others)
        sections.append(Section(problem, [table, *_left_out(groups, common, others)]))
    return Document("Comparison of methods", sections)


def _table(
    groups: Mapping[str, Sequence[Run]],
    counted: Mapping[str, Sequence[Run]],
    seconds: Mapping[str, Mapping[str, float]],
    references: Sequence[Reference],
) -> Table:
    instances = _instances(counted)
    every = [row for runs in counted.values() for run in runs for row in run.validation]
    sizes = list(group_by_size(every))
    lines = []
    for name, runs in counted.items():
        held = [row for run in runs for row in run.validation]
        shares = [average_rows(run.validation).improvement for run in runs]
        took = mean_or_nan(_seconds(seconds[run.name], instances) for run in runs)
        complete = sum(run.complete for run in groups[name])
        lines.append((name, held, shares, took, f"{complete}/{len(groups[name])}"))
    for solver in references:
        held = [row for row in solver.rows if row.instance in instances]
        shares = [average_rows(held).improvement]
        lines.append((solver.name, held, shares, _seconds(solver.seconds, instances), "reference"))
    rows = [
        [
            name,
            *_costs(held, sizes),
            _improvement(shares),
            format_number(took, 3),
            said,
            *_failures(held),
        ]
        for name, held, shares, took, said in lines
    ]
    columns = ("method", *sizes, "improvement", "s", "complete", "failed", "T")
    return Table(columns, rows)


def _instances(counted: Mapping[str, Sequence[Run]]) -> set[str]:
    return {row.instance for runs in counted.values() for run in runs for row in run.validation}


def _seconds(took: Mapping[str, float], instances: set[str]) -> float:
    return mean_or_nan(seconds for instance, seconds in took.items() if instance in instances)


def _costs(rows: Sequence[Row], sizes: Sequence[str]) -> list[str]:
    costs = {size: average_rows(group).cost for size, group in group_by_size(rows).items()}
    return [format_number(costs[size], 1) if size in costs else "–" for size in sizes]


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
