"""Programs over many cases at once, and the rows of a frozen evaluation in plain values."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from specahd.core.plain import convert
from specahd.core.program import Program
from specahd.repair.baseline_solutions import BaselineSolutions
from specahd.repair.cases import Case, Incumbents
from specahd.repair.responses import RepairTask
from specahd.repair.system import Repair, RepairSystem
from specahd.routing.base import POOLS, AnyProblem
from specahd.runs.files import row_timings_file, rows_file, write_records
from specahd.runs.rows import Row, RowRecord, average_rows, mean_or_nan
from specahd.sandbox.executor import Executor

AHEAD = 2
"""Number of cases per worker that :func:`stream_frozen` submits in advance."""


def expose(
    executor: Executor, uppers: Sequence[Program], incumbents: Incumbents, chunk: int = 8
) -> list[RepairTask]:
    """Return the regions that upper programs expose on some solutions, in order.

    Only the first of regions that are rebuilt alike counts.
    """
    firsts = range(0, len(incumbents), chunk)
    parts = [list(incumbents[first : first + chunk]) for first in firsts]
    jobs = [executor.submit("expose", uppers, part) for part in parts]
    return [task for job in jobs for task in job.result()]


def run_frozen(
    executor: Executor,
    uppers: Sequence[Program],
    system: RepairSystem,
    cases: Sequence[int],
    step: Callable[[], None] = lambda: None,
) -> list[Repair]:
    """Run the pipeline on each case, in order; call ``step`` after each."""
    jobs = [executor.submit("repair", uppers, system, case) for case in cases]
    repairs = []
    for job in jobs:
        repairs.append(job.result())
        step()
    return repairs


def stream_frozen(
    executor: Executor, uppers: Sequence[Program], system: RepairSystem, cases: Sequence[int]
) -> Iterator[Repair]:
    """Yield the pipeline's repair of each case, in order, as soon as it is ready.

    At most :data:`AHEAD` cases per worker are submitted at a time, so that other work of the
    caller does not wait for all cases.
    """
    waiting = iter(cases)
    jobs: deque[Future[Repair]] = deque()
    for case in islice(waiting, AHEAD * executor.workers):
        jobs.append(executor.submit("repair", uppers, system, case))
    while jobs:
        repair = jobs.popleft().result()
        for case in islice(waiting, 1):
            jobs.append(executor.submit("repair", uppers, system, case))
        yield repair


def evaluation_row(problem: AnyProblem, case: Case, repair: Repair) -> dict[str, Any]:
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


def step_records(repair: Repair, system: RepairSystem) -> list[dict[str, Any]]:
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


def region_share(case: Case, repair: Repair) -> float:
    """Return the share of customers, or cities, in the regions that were rebuilt."""
    nodes = {node for step in repair.steps for node in step.region.nodes}
    return len(nodes) / max(1, int(case.instance.size))


def write_rows(
    directory: Path,
    name: str,
    problem: AnyProblem,
    cases: Sequence[Case],
    repairs: Sequence[Repair],
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
    write_records(directory / row_timings_file(name), timings)
    write_records(directory / rows_file(name), rows)
    return rows


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
    kept: BaselineSolutions = BaselineSolutions(None),  # noqa: B008  keeps nothing
) -> PoolSummary:
    """Summarise a pool's rows, one for each of the instances, at least one.

    Parameters
    ----------
    references
        Names of baseline solvers to run besides B; B itself is skipped.
    kept
        Stored solutions of these solvers.
    """
    [source] = {entry["baseline"] for entry in rows}
    found = average_rows([Row.of(convert(entry, RowRecord)) for entry in rows])
    done = [entry["status"] == "ok" for entry in rows]
    final_costs = [
        entry["cost" if ok else "baseline_cost"] for ok, entry in zip(done, rows, strict=True)
    ]
    costs = {
        name: [problem.cost(one, kept.solve(problem, one, name)[0]) for one in instances]
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
        unit=problem.pool_unit if pool in POOLS else "",
    )
