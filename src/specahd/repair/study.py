"""The routing study (Appendix E): every member on every held-out region, judged by policy.

All policies are judged on the same stored signed costs, so no program runs twice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from specahd.core.program import Program
from specahd.core.seeding import generator
from specahd.repair.archive import ResponseArchive
from specahd.repair.responses import RepairTask, ResponseTable
from specahd.repair.system import RepairSystem
from specahd.routing.base import FloatArray, IntArray
from specahd.runs.files import write_records
from specahd.sandbox.executor import Executor

RANDOM_REPEATS = 30
_TIED = 1e-9


@dataclass(frozen=True, slots=True)
class Policy:
    """One way of choosing a member for each region, judged on held-out regions.

    Parameters
    ----------
    response
        Mean response, scaled within each region to [0, 1] between its worst and
        best member (1 where they agree).
    gain
        ΔGB: mean signed improvement over the globally best member, in percent of its cost.
    regret
        Mean excess over the best member, in percent of the best cost.
    hits
        Share of regions on which the choice is as good as the best, in percent.
    """

    response: float
    gain: float
    regret: float
    hits: float


def replay(
    executor: Executor, repertoire: Sequence[Program], tasks: Sequence[RepairTask]
) -> ResponseTable:
    """Measure every member on every task."""
    table = ResponseTable(tasks)
    jobs = [executor.submit("respond", program, table.tasks) for program in repertoire]
    for program, job in zip(repertoire, jobs, strict=True):
        table.add(program.id, job.result().responses)
    return table


def write_study(directory: Path, table: ResponseTable) -> None:
    """Write ``study.jsonl``: each region with the outcome and signed cost of every member."""
    records = []
    for column, task in enumerate(table.tasks):
        responses = {program: row[column] for program, row in table.rows.items()}
        records.append(
            {
                "task": task.key,
                "nodes": list(task.region.nodes),
                "descriptor": list(task.descriptor),
                "cost_before": next(iter(responses.values())).cost_before,
                "cost_merged": {name: r.cost_merged for name, r in responses.items()},
                "outcome": {name: r.outcome for name, r in responses.items()},
            }
        )
    write_records(directory / "study.jsonl", records)


def signed_costs(table: ResponseTable, programs: Sequence[str]) -> FloatArray:
    """Return the cost of the complete solution after each repair, shape (tasks, programs).

    A failed or infeasible repair leaves the incumbent and so its cost.
    """
    return np.array(
        [
            [
                response.cost_before if response.cost_merged is None else response.cost_merged
                for response in table.rows[program]
            ]
            for program in programs
        ]
    ).T


def compare(
    table: ResponseTable, system: RepairSystem, archive: ResponseArchive, seed: int = 0
) -> Mapping[str, Policy]:
    """Judge the router, the globally best member in training, random choice and hindsight.

    Parameters
    ----------
    archive
        The training archive; it names the globally best member by mean response
        over the tasks that every member answered (the last round's).
    """
    programs = [program.id for program in system.repertoire]
    costs = signed_costs(table, programs)
    routed = np.array([system.router.choose(np.array(task.descriptor)) for task in table.tasks])
    best = int(np.argmax(archive.means(programs)))
    globally_best = np.full(len(costs), best)
    rng = generator(seed, "routing-study")
    drawn = [rng.integers(len(programs), size=len(costs)) for _ in range(RANDOM_REPEATS)]
    random = [_judge(costs, choice, globally_best) for choice in drawn]
    return {
        "SpecAHD": _judge(costs, routed, globally_best),
        "global best": _judge(costs, globally_best, globally_best),
        "random": Policy(
            *(
                float(np.mean([getattr(policy, name) for policy in random]))
                for name in ("response", "gain", "regret", "hits")
            )
        ),
        "oracle": _judge(costs, costs.argmin(axis=1), globally_best),
    }


def _judge(costs: FloatArray, choice: IntArray, globally_best: IntArray) -> Policy:
    rows = np.arange(len(costs))
    chosen, reference = costs[rows, choice], costs[rows, globally_best]
    low, high = costs.min(axis=1), costs.max(axis=1)
    span = np.where(high > low, high - low, 1.0)
    response = np.where(high > low, (high - chosen) / span, 1.0)
    return Policy(
        response=float(response.mean()),
        gain=float(100 * ((reference - chosen) / reference).mean()),
        regret=float(100 * ((chosen - low) / low).mean()),
        hits=float(100 * (chosen <= low + _TIED).mean()),
    )
