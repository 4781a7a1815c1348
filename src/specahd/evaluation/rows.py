"""The rows of a frozen evaluation, one instance each: written, read, averaged and summarised.

The repair is imported for annotations only: a report reads rows, and makes none.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum, isfinite, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from specahd.core import journal
from specahd.core.plain import convert
from specahd.core.program import Outcome
from specahd.evaluation.files import ROUTES, row_timings_file, rows_file
from specahd.routing.base import CONFIRMATION, POOLS, AnyProblem

if TYPE_CHECKING:
    from specahd.repair.cases import BaselineSolutions, Case
    from specahd.repair.system import Repair, RepairSystem

_NO_PASS = ("instance", "baseline")
_TIE = 1e-9
"""Relative difference below which two costs count as equal."""
LIMITS = (Outcome.TIMEOUT, Outcome.OUT_OF_MEMORY)
"""The outcomes of calls that a limit ends."""
_FIGURES = ("improvement", "baseline_cost", "cost")


class StepRecord(Struct, frozen=True):
    """A region in a line of an evaluation."""

    outcome: str
    nodes: list[int] = []
    accepted: bool = False


class RowRecord(Struct, frozen=True):
    """A line of an evaluation; one that failed has neither a cost nor an improvement."""

    instance: str
    size: int
    baseline: str
    baseline_cost: float
    status: str
    steps: list[StepRecord]
    cost: float | None = None
    improvement: float | None = None
    best_known: float | None = None
    lower_bound: float | None = None
    outcome: str = Outcome.OK

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
    limited
        Number of calls that ended in a limit of time or memory, of ``steps``, or of the one that
        failed.
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
    limited: int = 0

    @property
    def calls(self) -> int:
        """Number of calls; where none rebuilt a region, the one of the upper program."""
        return max(1, self.steps)

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
            limited=sum(outcome in LIMITS for outcome in outcomes or [record.outcome]),
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


def evaluation_row(problem: AnyProblem, case: "Case", repair: "Repair") -> dict[str, Any]:
    """Return one instance's row; equal evaluations give equal rows.

    ``status`` is ``T`` when the upper program failed: the baseline stands, and the row
    has neither a cost nor an improvement.
    """
    failed = repair.failed
    bound = problem.lower_bound(case.instance)
    return {
        "instance": case.instance.name,
        "size": case.instance.size,
        "coords_from_scaling": case.instance.coords_from_scaling,
        "baseline": case.source,
        "baseline_cost": repair.baseline_cost,
        "cost": None if failed else repair.cost,
        "improvement": None if failed else repair.improvement,
        "feasible": not problem.check(case.instance, repair.solution),
        "status": "T" if failed else "ok",
        "outcome": repair.outcome,
        "proposed": repair.proposed,
        "rejections": list(repair.rejections),
        **({"passes": repair.passes, "skipped": repair.skipped} if repair.passes > 1 else {}),
        **({} if bound is None else {"lower_bound": bound}),
        "steps": [
            {
                "nodes": list(step.region.nodes),
                "program": step.program,
                "outcome": step.outcome,
                "cost_before": step.cost_before,
                "cost_merged": step.cost_merged,
                "accepted": step.accepted,
                "fallbacks": step.fallbacks,
                **({} if step.number is None else {"pass": step.number}),
                **({} if step.upper is None else {"upper": step.upper}),
            }
            for step in repair.steps
        ],
    }


def step_records(repair: "Repair", system: "RepairSystem") -> list[dict[str, Any]]:
    """Return the pass, Φ and the router's estimate of each member (Q) for each step.

    Φ is None where no region was named; that of a slice of a search is the mean of its groups.
    """
    return [
        {
            "pass": step.number or 1,
            "descriptor": list(step.descriptor) or None,
            "estimates": [
                float(f"{value:.6g}")
                for value in system.router.estimate(np.array(step.descriptor)).tolist()
            ]
            if step.descriptor
            else None,
        }
        for step in repair.steps
    ]


def region_share(case: "Case", repair: "Repair") -> float:
    """Return the share of customers, or cities, in the regions that were rebuilt."""
    nodes = {node for step in repair.steps for node in step.region.nodes}
    return len(nodes) / max(1, int(case.instance.size))


def write_rows(
    directory: Path,
    name: str,
    problem: AnyProblem,
    cases: "Sequence[Case]",
    repairs: "Sequence[Repair]",
) -> list[dict[str, Any]]:
    """Write ``<name>.jsonl``, equal for equal evaluations, and ``<name>-timings.jsonl``.

    Timings are seconds by stage, summed over all passes. The rows are returned.
    """
    rows = [
        evaluation_row(problem, case, repair) for case, repair in zip(cases, repairs, strict=True)
    ]
    timings = [
        {"instance": entry["instance"], **repair.seconds}
        for entry, repair in zip(rows, repairs, strict=True)
    ]
    # The rows are written last: if they exist, the evaluation is complete.
    journal.write_records(directory / row_timings_file(name), timings)
    journal.write_records(directory / rows_file(name), rows)
    return rows


class Routes(Struct, frozen=True):
    """One validation instance before and after repair."""

    instance: str
    coords: list[list[float]]
    before: list[list[int]]
    after: list[list[int]]
    cost_before: float
    cost_after: float


def write_example(
    directory: Path, problem: AnyProblem, cases: "Sequence[Case]", repairs: "Sequence[Repair]"
) -> None:
    """Write ``routes.json`` of the improved instance with the median gain.

    It is left out if the ``.sol`` files of a problem of the user's own number nodes otherwise.
    """
    gains = [repair.improvement for repair in repairs]
    order = sorted(range(len(gains)), key=lambda index: gains[index])
    improved = [index for index in order if gains[index] > 0] or order
    middle = improved[len(improved) // 2]
    repair = repairs[middle]
    example = cases[middle].comparison(problem, repair.solution, repair.cost)
    size = len(example["coords"])
    if all(
        node < size for when in ("before", "after") for route in example[when] for node in route
    ):
        journal.write_records(directory / ROUTES, [example])


@dataclass(frozen=True, slots=True)
class PoolSummary:
    """Means over a pool; failed instances are counted, not imputed.

    ``rollbacks`` of ``steps`` rebuilt regions did not end in a feasible merge.
    ``references`` holds the mean cost of other baseline solvers on the same instances, and
    ``cheaper`` the number of instances, failed ones included, on which the repaired solution
    costs more than theirs. ``unit`` is the unit of the costs; empty for the unit of the files.
    """

    pool: str
    instances: int
    failed: int
    steps: int
    rollbacks: int
    baseline: str
    baseline_cost: float
    cost: float
    improvement: float
    references: Mapping[str, float]
    cheaper: Mapping[str, int] = field(default_factory=dict)
    unit: str = ""


def summarise(
    problem: AnyProblem,
    pool: str,
    instances: Sequence[Any],
    rows: Sequence[Mapping[str, Any]],
    references: Sequence[str] = (),
    kept: "BaselineSolutions | None" = None,
) -> PoolSummary:
    """Summarise a pool's rows, one for each of the instances, at least one.

    Parameters
    ----------
    references
        Names of baseline solvers to run besides B; B itself is skipped.
    kept
        Stored solutions of these solvers; None: none are stored.
    """
    [source] = {entry["baseline"] for entry in rows}
    found = average_rows([Row.of(convert(entry, RowRecord)) for entry in rows])
    done = [entry["status"] == "ok" for entry in rows]
    final_costs = [
        entry["cost" if ok else "baseline_cost"] for ok, entry in zip(done, rows, strict=True)
    ]

    def cost(instance: Any, name: str) -> float:
        if kept is None:
            return problem.cost(instance, problem.baseline(instance, name))
        return problem.cost(instance, kept.solve(problem, instance, name)[0])

    costs = {
        name: [cost(instance, name) for instance in instances]
        for name in references
        if name != source
    }
    return PoolSummary(
        pool=pool,
        instances=found.rows,
        failed=found.failed,
        steps=found.steps,
        rollbacks=found.rollbacks,
        baseline=source,
        baseline_cost=found.baseline_cost,
        cost=found.cost,
        improvement=found.improvement,
        references={
            name: mean_or_nan(cost for cost, ok in zip(theirs, done, strict=True) if ok)
            for name, theirs in costs.items()
        },
        cheaper={
            name: sum(cost < ours for cost, ours in zip(theirs, final_costs, strict=True))
            for name, theirs in costs.items()
        },
        unit=problem.pool_unit if pool in (*POOLS, CONFIRMATION) else "",
    )
