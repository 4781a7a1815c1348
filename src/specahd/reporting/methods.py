"""Methods side by side: what they cost on unseen instances by size, and what a pass takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import isfinite
from statistics import stdev

from specahd.reporting.aggregates import by_kind, by_size
from specahd.reporting.document import Document, Section, Table, number
from specahd.runs.reading import Run, choose
from specahd.runs.rows import Row, mean, means

_TEXT = (
    "Mean costs on the validation pool by size, lower is better, over the seeds of the complete "
    "runs. Improvement is over the baseline solutions, a mean over the seeds with its sample "
    "standard deviation. Seconds are those of one pass over an instance, the baseline's own and "
    "compilation left out; that of a reference is its whole time. Failed are rebuilds without a "
    "feasible result (of a complete instance, or of a region), of all; T counts instances on which "
    "an upper program failed, which enter into no mean."
)


@dataclass(frozen=True, slots=True)
class Reference:
    """A solver that nobody trained, on the same instances."""

    name: str
    rows: Sequence[Row]
    seconds: float


def is_comparison(runs: Sequence[Run]) -> bool:
    """Say whether runs are of more than one method."""
    return len({run.kind.method for run in runs}) > 1


def compare(
    found: Sequence[Run],
    seconds: Mapping[str, float],
    references: Mapping[str, Sequence[Reference]],
) -> Document:
    """Return one table a problem.

    Parameters
    ----------
    seconds
        By the name of a run, what a pass takes on average over its validation pool; nan where
        that is not known.
    references
        By problem.
    """
    kinds = by_kind(choose(found)).items()
    sections = [Section("How to read it", [_TEXT])]
    for problem, group in groupby(kinds, key=lambda item: item[1][0].kind.problem):
        groups = {name.removeprefix(f"{problem}-"): runs for name, runs in group}
        others = references.get(problem, ())
        sections.append(Section(problem, [_table(groups, seconds, others), *_left_out(groups)]))
    return Document("Comparison of methods", sections)


def _table(
    groups: Mapping[str, Sequence[Run]],
    seconds: Mapping[str, float],
    references: Sequence[Reference],
) -> Table:
    done = {name: [run for run in runs if run.complete] for name, runs in groups.items()}
    every = [row for runs in done.values() for run in runs for row in run.validation]
    sizes = list(by_size(every))
    lines = []
    for name, runs in done.items():
        held = [row for run in runs for row in run.validation]
        shares = [means(run.validation).improvement for run in runs]
        took = mean(seconds[run.name] for run in runs)
        lines.append((name, held, shares, took, f"{len(runs)}/{len(groups[name])}", held))
    most = max(done.values(), key=len)
    for solver in references:
        held = _as_often(solver.rows, most)
        shares = [means(held).improvement]
        lines.append((solver.name, held, shares, solver.seconds, "reference", [*solver.rows]))
    rows = [
        [name, *_costs(held, sizes), _improvement(shares), number(took, 3), counted, *_failures(of)]
        for name, held, shares, took, counted, of in lines
    ]
    columns = ("method", *sizes, "improvement", "s", "complete", "failed", "T")
    return Table(columns, rows)


def _as_often(rows: Sequence[Row], runs: Sequence[Run]) -> list[Row]:
    """Return the rows of the instances that runs had, as often: each seed may draw its own."""
    known = {row.instance: row for row in rows}
    names = [row.instance for run in runs for row in run.validation]
    return [known[name] for name in names if name in known]


def _costs(rows: Sequence[Row], sizes: Sequence[str]) -> list[str]:
    costs = {size: means(group).cost for size, group in by_size(rows).items()}
    return [number(costs[size], 1) if size in costs else "–" for size in sizes]


def _improvement(shares: Sequence[float]) -> str:
    known = [100 * share for share in shares if isfinite(share)]
    if not known:
        return "–"
    spread = f" ± {stdev(known):.2f}" if len(known) > 1 else ""
    return f"{mean(known):+.2f}%{spread}"


def _failures(rows: Sequence[Row]) -> list[str]:
    found = means(rows)
    return [f"{found.rollbacks}/{found.steps}" if found.steps else "–", str(found.failed)]


def _left_out(groups: Mapping[str, Sequence[Run]]) -> list[str]:
    partial = [run.name for runs in groups.values() for run in runs if not run.complete]
    return [f"Partial, counted in no mean: {', '.join(partial)}."] if partial else []
