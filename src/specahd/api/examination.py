"""Evaluate a new checkpoint on the pools that were not used in training."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from specahd.checkpoint import thaw
from specahd.core.events import Observer
from specahd.repair.cases import Case
from specahd.repair.maps import write_example
from specahd.repair.rows import PoolSummary, run_frozen, summarise, write_rows
from specahd.routing.base import AnyProblem
from specahd.runs.files import CHECKPOINT, POOLS
from specahd.sandbox.executor import Executor


def evaluate_pools(
    problem: AnyProblem,
    cases: Sequence[Case],
    pools: Mapping[str, Sequence[int]],
    executor: Executor,
    directory: Path,
    observer: Observer,
) -> list[PoolSummary]:
    """Evaluate the checkpoint that is on disk, on the pools that were not used in training."""
    checkpoint = thaw(directory / CHECKPOINT)
    checkpoint.admit(problem)
    system = checkpoint.system()
    summaries = []
    for pool in POOLS:
        indices = pools[pool]
        observer.on_phase(f"{pool} pool", len(indices))
        repairs = run_frozen(executor, checkpoint.uppers, system, indices, observer.on_step)
        chosen = [cases[index] for index in indices]
        rows = write_rows(directory, pool, problem, chosen, repairs)
        if pool == "validation":
            write_example(directory, problem, chosen, repairs)
        instances = [case.instance for case in chosen]
        summaries.append(summarise(problem, pool, instances, rows, problem.references))
    return summaries
