"""The summary of a set of runs: its tables, its figures, and the numbers as data."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from types import MappingProxyType

from specahd.core.program import Outcome
from specahd.evaluation.rows import Row, average_rows, mean_or_nan
from specahd.reporting.aggregates import (
    BOUND,
    HOW_TO_READ_BOUNDS,
    Common,
    count_cheaper,
    count_outcomes,
    group_by_kind,
    group_by_size,
    mean_convergence,
    restrict_to_common,
)
from specahd.reporting.document import (
    Document,
    Figure,
    Part,
    Section,
    Table,
    format_number,
    format_percent,
)
from specahd.reporting.figures import LEVELS, draw_convergence, draw_seconds, render
from specahd.runs.files import POOLS
from specahd.runs.reading import Run, choose_runs

DRAWING = "convergence.svg"
SECONDS = "seconds.svg"
_TIMED = (
    "Seconds of one evaluation of the validation pool, on a logarithmic scale. Circles are "
    "complete runs, triangles partial ones, crosses those with an instance on which the upper "
    "program failed or ran out of time."
)
_DECIMALS = 6
"""Decimals of numbers as data; more would show rounding differences between processors."""
_CAPTION = (
    "Best score so far over the programs asked so far, both levels together. In the coupled "
    "search, that of the lower level is J of the repertoire, that of the upper level U − λΩ. "
    "Of several seeds the mean and a band of one sample deviation, after the first 50 programs of "
    "long runs. A line ends with its round: each round measures on tasks of its own."
)


@dataclass(frozen=True, slots=True)
class Summary:
    """A report in every form; ``metrics`` are JSON texts and ``curves`` CSV texts, by name."""

    document: Document
    metrics: Mapping[str, str]
    curves: Mapping[str, str]


def summarise(
    found: Sequence[Run],
    passed_over: Sequence[str] = (),
    seconds: Mapping[str, Mapping[str, float]] = MappingProxyType({}),
) -> Summary:
    """Make the report of runs; equal rows give equal bytes.

    Parameters
    ----------
    passed_over
        A line for each directory that is not counted, with the reason.
    seconds
        Seconds of validation by the name of a run and the instance, where known.
    """
    runs = choose_runs(found)
    groups = group_by_kind(runs)
    common = restrict_to_common(groups)
    convergence = Figure(DRAWING, _CAPTION, *render(draw_convergence, groups))
    document = Document(
        "SpecAHD: summary of stored runs",
        [
            Section("Checkpoints", _checkpoints(groups, common, passed_over)),
            Section("Validation by size", _sizes(common.groups)),
            Section("Programs by outcome", _outcomes(groups)),
            Section("Convergence", [convergence]),
        ],
    )
    if any(seconds.get(run.name) for run in runs):
        timed = Figure(SECONDS, _TIMED, *render(draw_seconds, groups, seconds))
        document = document.appended(Section("Seconds", [timed]))
    curves = {
        f"{name}-{level}": _csv(mean_convergence(group, level))
        for name, group in groups.items()
        for level in LEVELS
    }
    metrics = {name: _metrics(group) for name, group in common.groups.items()}
    return Summary(document, metrics, curves)


def _checkpoints(
    groups: Mapping[str, Sequence[Run]], common: Common, passed_over: Sequence[str]
) -> list[Part]:
    rows = []
    for name, runs in groups.items():
        counted = common.groups[name]
        chosen, unseen = (average_rows(_rows(counted, pool)) for pool in POOLS)
        shares = [100 * average_rows(run.validation).improvement for run in counted]
        spread = [share for share in shares if isfinite(share)]
        rows.append(
            [
                name,
                ", ".join(sorted({row.baseline for row in _rows(counted, "validation")})) or "–",
                ", ".join(str(run.seed) for run in counted) or "–",
                f"{sum(run.complete for run in runs)}/{len(runs)}",
                f"{sum(len(run.samples) for run in runs):,}",
                format_percent(chosen.improvement),
                format_percent(unseen.improvement),
                f"{min(spread):+.2f} to {max(spread):+.2f}%" if spread else "–",
                count_cheaper(_rows(counted, "validation")),
                f"{unseen.rollbacks}/{unseen.steps}",
                str(unseen.failed),
            ]
        )
    kinds = {run.kind for runs in groups.values() for run in runs}
    words = [
        f"{what} {', '.join(sorted({getattr(kind, what) for kind in kinds}))}"
        for what in ("method", "llm", "budget")
    ]
    text = (
        f"Of {', '.join(words)}. Selection chose each checkpoint, validation was never seen. "
        "Improvement is over B, the baseline solver, a mean over instances and seeds of the "
        "complete runs; the range is that of the seeds; below B counts the instances that became "
        "cheaper. Rollbacks are rebuilt regions without a feasible merge, "
        "of all rebuilt; where the upper program failed (T) nothing is imputed."
    )
    partial = [
        f"{run.name} ({_shortfall(run)})"
        for runs in groups.values()
        for run in runs
        if not run.complete
    ]
    if partial:
        text += f" Partial, and so counted in no mean: {', '.join(partial)}."
    over = [f"Passed over: {each}." for each in passed_over]
    columns = (
        "runs", "B", "seeds", "complete", "programs", "selection", "validation",
        "seeds' range", "below B", "rollbacks", "T",
    )  # fmt: skip
    return [text, Table(columns, rows, words=3, name="checkpoints"), *common.remarks, *over]


def _shortfall(run: Run) -> str:
    """Return the reason why a run is not complete."""
    if len(run.samples) < run.programs:
        return f"{len(run.samples)} of {run.programs} programs"
    missing = next(pool for pool in POOLS if not run.rows(pool))
    return f"no rows of {missing}"


def _sizes(groups: Mapping[str, Sequence[Run]]) -> list[Part]:
    rows, bounds = [], []
    for name, runs in groups.items():
        for size, group in group_by_size(_rows(runs, "validation")).items():
            of = average_rows(group)
            costs = (
                format_number(of.baseline_cost, 1),
                format_number(of.cost, 1),
                format_percent(of.improvement),
            )
            rebuilt = f"{of.rollbacks}/{of.steps}"
            baselines = ", ".join(sorted({row.baseline for row in group}))
            bounds.append(mean_or_nan(row.lower_bound for row in group if not row.failed))
            counts = count_cheaper(group), rebuilt, str(of.failed)
            rows.append([name, size, str(of.rows), baselines, *costs, *counts])
    columns = (
        "runs", "size", "rows", "B", "cost of B", "repaired cost", "improvement", "below B",
        "rollbacks", "T",
    )  # fmt: skip
    text = (
        "Mean costs over the instances of a size and the seeds of complete runs; "
        "a row is one of both."
    )
    if not any(map(isfinite, bounds)):
        return [text, Table(columns, rows, name="validation-by-size")]
    rows = [[*row, format_number(bound, 1)] for row, bound in zip(rows, bounds, strict=True)]
    table = Table((*columns, BOUND), rows, name="validation-by-size")
    return [f"{text} {HOW_TO_READ_BOUNDS}", table]


def _outcomes(groups: Mapping[str, Sequence[Run]]) -> list[Part]:
    counts = {name: count_outcomes(runs) for name, runs in groups.items()}
    met = [
        outcome
        for outcome in Outcome
        if any(counter[outcome] for levels in counts.values() for counter in levels.values())
    ]
    rows = [
        [
            name,
            level.value,
            str(levels[level].total()),
            *(str(levels[level][outcome]) for outcome in met),
        ]
        for name, levels in counts.items()
        for level in LEVELS
    ]
    columns = ("runs", "level", "programs", *(outcome.value for outcome in met))
    text = "Every program that was asked for counts, whatever became of it."
    return [text, Table(columns, rows, words=2, name="programs-by-outcome")]


def _metrics(runs: Sequence[Run]) -> str:
    """Return the metrics that ``dvc metrics`` shows in a line of 80 columns.

    ``selection`` and ``validation`` are mean improvements in percent, left out if they have no
    rows. ``runs`` is the number of counted runs, ``failed`` the number of their validation
    instances on which the upper program failed.
    """
    chosen, unseen = (average_rows(_rows(runs, pool)) for pool in POOLS)
    shares = {"selection": chosen.improvement, "validation": unseen.improvement}
    known = {name: 100 * share for name, share in shares.items() if isfinite(share)}
    found: dict[str, float] = {
        **{name: round(share, _DECIMALS) for name, share in known.items()},
        "runs": len(runs),
        "failed": unseen.failed,
    }
    return json.dumps(found, indent=2, sort_keys=True, allow_nan=False) + "\n"


def _rows(runs: Sequence[Run], pool: str) -> list[Row]:
    return [row for run in runs for row in run.rows(pool)]


def _csv(points: Sequence[tuple[int, float]]) -> str:
    lines = [f"{place},{round(best, _DECIMALS)}\n" for place, best in points]
    return "".join(["programs,best\n", *lines])
