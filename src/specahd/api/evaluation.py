"""A checkpoint over many instances: rows, solutions, means, and the routing study."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specahd.api.checkpoints import LoadedCheckpoint, load
from specahd.api.problems import Source
from specahd.api.solutions import Repaired
from specahd.core.compilation import listening
from specahd.core.events import Observer
from specahd.core.folders import atomic_files, safe_file_name, write_errors
from specahd.core.ranges import check_choice
from specahd.repair.cases import Incumbent
from specahd.repair.execution import save_sandbox
from specahd.repair.responses import RepairTask, ResponseTable
from specahd.repair.rows import (
    PoolSummary,
    evaluation_row,
    expose,
    run_frozen,
    summarise,
    write_rows,
)
from specahd.repair.study import Policy, compare, replay, write_study
from specahd.repair.system import RepairSystem

STUDIES = ("routing",)


@dataclass(frozen=True)
class Evaluation:
    """A checkpoint's repairs of some instances.

    Parameters
    ----------
    solutions
        One for each instance, in their order.
    rows
        The same as plain values: costs, outcome, and each region's repair.
    summary
        Means over the instances, with those of the problem's quick baseline solvers.
    policies
        Of the routing study, each way to choose among the repertoire; empty without one.
    tasks
        The regions that the study replayed.
    """

    solutions: Sequence[Repaired]
    rows: Sequence[Mapping[str, Any]]
    summary: PoolSummary
    policies: Mapping[str, Policy] = field(default_factory=dict)
    tasks: Sequence[RepairTask] = ()

    @property
    def seconds(self) -> float:
        """Mean wall time of all passes over an instance."""
        passes = [sum(solution.repair.seconds.values()) for solution in self.solutions]
        return sum(passes) / max(1, len(passes))


def evaluate(
    checkpoint: LoadedCheckpoint | str | Path,
    instances: Sequence[Source],
    *,
    incumbent: str | Path | None = None,
    accept: str | None = None,
    passes: int | None = None,
    tries: int | None = None,
    study: str | None = None,
    out: str | Path | None = None,
    title: str = "instances",
    observer: Observer | None = None,
) -> Evaluation:
    """Repair instances with a checkpoint.

    Parameters
    ----------
    instances
        At least one, each an instance or its file.
    incumbent
        A file with the solution of the only instance; None repairs baseline solutions.
    accept
        ``improving`` or ``feasible``; None as the checkpoint was trained.
    passes
        Most passes over a solution, at least 1; None as trained.
    tries
        How many programs rebuild a region, at least 1; None as trained.
    study
        ``routing`` also replays the whole repertoire on every exposed region.
    out
        A directory that receives ``rows.jsonl``, ``rows-timings.jsonl``, ``sandbox.json``,
        the solution files and the study's ``study.jsonl``, all together at the end.
    title
        What the instances are called in the summary.
    observer
        Receives the progress.

    Raises
    ------
    FileError
        A file cannot be read, or the incumbent does not solve the instance.
    ConfigError
        An option is out of range, or an instance is one of another problem.
    WriteError
        ``out`` cannot be written.

    Examples
    --------
    >>> from specahd import api
    >>> pool = api.read_pool("cvrp", "validation", pools, count=2)
    >>> evaluation = api.evaluate(checkpoint, pool, out="evaluated")
    >>> evaluation.summary.instances, evaluation.summary.failed
    (2, 0)
    """
    check_choice("study", study or STUDIES[0], STUDIES)
    observer = observer or Observer()
    with nullcontext() if out is None else atomic_files(Path(out)) as draft:
        loaded = checkpoint if isinstance(checkpoint, LoadedCheckpoint) else load(checkpoint)
        system = loaded.system(accept, passes, tries)
        with listening(observer.on_compile):
            evaluation, table = _evaluate(
                loaded, instances, incumbent, system, study, title, observer
            )
        if draft is not None:
            _write(draft, loaded, evaluation, table)
    return evaluation


def _evaluate(
    loaded: LoadedCheckpoint,
    instances: Sequence[Source],
    incumbent: str | Path | None,
    system: RepairSystem,
    study: str | None,
    title: str,
    observer: Observer,
) -> tuple[Evaluation, ResponseTable | None]:
    problem, frozen = loaded.problem, loaded.frozen
    cases = loaded.cases(instances, incumbent, observer)
    executor = loaded.execution.start(problem, cases)
    tasks: Sequence[RepairTask] = ()
    table, policies = None, {}
    try:
        observer.on_phase(title, len(cases))
        indices = range(len(cases))
        repairs = run_frozen(executor, frozen.uppers, system, indices, observer.on_step)
        if study is not None:
            tasks = expose(executor, frozen.uppers, list(map(Incumbent, indices)))
            table = replay(executor, frozen.repertoire, tasks)
            policies = dict(compare(table, system, frozen.archive))
    finally:
        executor.close()
    pairs = list(zip(cases, repairs, strict=True))
    for case, repair in pairs:
        if repair.failed:
            observer.on_warning(
                f"{case.instance.name}: the upper program failed ({repair.outcome}): "
                f"{repair.detail}"
            )
    rows = [evaluation_row(problem, case, repair) for case, repair in pairs]
    summary = summarise(problem, title, cases, rows, problem.references)
    solutions = [Repaired.of(problem, case, repair) for case, repair in pairs]
    return Evaluation(solutions, rows, summary, policies, tasks), table


def _write(
    directory: Path, loaded: LoadedCheckpoint, evaluation: Evaluation, table: ResponseTable | None
) -> None:
    if table is not None:
        write_study(directory, table)
    save_sandbox(loaded.sandbox, directory)
    solutions = evaluation.solutions
    cases, repairs = [s.case for s in solutions], [s.repair for s in solutions]
    write_rows(directory, "rows", loaded.problem, cases, repairs)
    for solution in solutions:
        name = safe_file_name(solution.name, "solution")
        files = loaded.problem.solution_files(name, solution.data, solution.cost)
        for suffix, text in files.items():
            path = directory / f"{name}{suffix}"
            with write_errors(path):
                path.write_text(text)
