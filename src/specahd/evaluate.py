"""``python -m specahd.evaluate``: repair instances with a frozen checkpoint.

The checkpoint is a directory, or lies in the MLflow store: ``models:/specahd-cvrp@champion``.
The evaluation directory (``hydra.run.dir``) receives ``rows.jsonl`` (one row per
instance; equal evaluations are equal under ``cmp``), ``rows-timings.jsonl``,
``sandbox.json`` (what confined the programs on this host) and one ``.sol`` file per
instance. ``study=routing`` also replays the whole repertoire on every exposed region
and stores the signed costs in ``study.jsonl``. Nothing writes to the archive, and no
language model is needed.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from specahd.checkpoint import thaw
from specahd.config.compose import inspect_sandbox, require_executor, save_sandbox, start_executor
from specahd.config.door import door, run_directory
from specahd.core.folders import file_name, together, writing
from specahd.model import checkpoint_problem
from specahd.repair.cases import given_case, make_cases
from specahd.repair.merge import Accept
from specahd.repair.rows import expose, run_frozen, summarise, write_rows
from specahd.repair.study import Policy, compare, replay, write_study
from specahd.routing.base import AnyProblem
from specahd.routing.pools import prepare, read_pool
from specahd.tracking.progress import ProgressObserver
from specahd.tracking.registry import fetched
from specahd.tracking.tables import print_policies, print_summaries


def evaluate(config: DictConfig) -> None:
    """Evaluate one checkpoint on a pool or on one file; its files appear together at the end."""
    with together(run_directory()) as draft:
        _evaluate(config, draft)


def _evaluate(config: DictConfig, directory: Path) -> None:
    with fetched(config.checkpoint, config.tracking.get("uri")) as place:
        checkpoint = thaw(place)
    problem = checkpoint_problem(checkpoint, config.baseline)
    require_executor(config)
    sandbox = inspect_sandbox(config)
    instances = _instances(config, problem)
    progress = ProgressObserver()
    progress.on_phase(f"baseline {problem.baseline_name}", len(instances))
    if config.incumbent is None:
        cases = make_cases(problem, instances, progress.on_step)
    else:
        cases = [given_case(problem, instances[0], Path(config.incumbent))]
    executor = start_executor(config, problem, cases)
    try:
        system = checkpoint.system(Accept(config.accept) if config.accept else None)
        progress.on_phase(config.pool or "instance", len(cases))
        indices = range(len(cases))
        repairs = run_frozen(executor, checkpoint.upper, system, indices, progress.on_step)
        policies: Mapping[str, Policy] = {}
        if config.study == "routing":
            tasks = expose(executor, checkpoint.upper, indices)
            table = replay(executor, checkpoint.repertoire, tasks)
            policies = compare(table, system, checkpoint.archive)
            write_study(directory, table)
    finally:
        executor.close()
    save_sandbox(sandbox, directory)
    rows = write_rows(directory, "rows", problem, cases, repairs)
    for case, repair in zip(cases, repairs, strict=True):
        name = file_name(case.instance.name, "solution")
        for suffix, text in problem.solution_files(name, repair.solution, repair.cost).items():
            path = directory / f"{name}{suffix}"
            with writing(path):
                path.write_text(text)
    title = config.pool or Path(config.instance).name
    seconds = sum(sum(repair.seconds.values()) for repair in repairs) / max(1, len(repairs))
    print_summaries(
        [summarise(problem, title, cases, rows, problem.references)],
        f"{problem.name}: {config.checkpoint}",
        [f"one pass took {seconds:.3f} s per instance on average", f"rows: {run_directory()}"],
    )
    if policies:
        print_policies(policies, f"routing on {len(tasks)} regions of {title}")


def _instances(config: DictConfig, problem: AnyProblem) -> list[Any]:
    if config.instance is not None:
        return [problem.read(Path(config.instance))]
    folder = prepare(problem, Path(config.pools.dir), config.pools.seed)
    return read_pool(problem, folder, config.pool)


if __name__ == "__main__":
    sys.exit(door(evaluate, "evaluate"))
