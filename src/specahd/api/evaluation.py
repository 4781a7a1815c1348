"""Evaluation of a checkpoint on many instances: rows, solutions, means, the routing study."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from typing import Any

from specahd import __version__
from specahd.api.checkpoints import LoadedCheckpoint, load
from specahd.api.incumbents import Incumbent
from specahd.api.instance_files import with_distinct_names
from specahd.api.problems import ProblemInstance, Source, settings_of
from specahd.api.solutions import Repaired
from specahd.core.compilation import listening
from specahd.core.errors import ConfigError, NotEnoughMemory
from specahd.core.events import Observer
from specahd.core.folders import safe_file_name
from specahd.core.journal import write_json
from specahd.core.memory_limit import available_memory
from specahd.core.ranges import check_choice
from specahd.core.repair_options import RepairOptions
from specahd.evaluation.files import STEPS, STUDIES, STUDY, RowFiles, row_timings_file
from specahd.evaluation.rows import (
    PoolSummary,
    evaluation_row,
    pass_seconds,
    region_share,
    step_records,
    summarise,
)
from specahd.evaluation.study import Study, region_records, replay, study_regions
from specahd.repair.cases import BaselineSolutions, Case, make_case, require_supported
from specahd.repair.cases import Incumbent as CaseIncumbent
from specahd.repair.execution import expose, stream_frozen
from specahd.repair.system import Repair, RepairSystem
from specahd.routing.best_known import BestKnown, best_known, published_fields
from specahd.routing.pools import definition_hash
from specahd.runs.files import SANDBOX
from specahd.sandbox.executor import Executor
from specahd.sandbox.shared_arrays import block_size


@dataclass(frozen=True)
class EvaluatedInstance:
    """An instance to evaluate.

    Parameters
    ----------
    data
        The instance in its problem's own type.
    hash
        The hash of its content, independent of its NAME and its file format.
    published
        Its best-known value; None if it is not a file of a public set.
    """

    data: Any
    hash: str
    published: BestKnown | None


def read_instances(
    loaded: LoadedCheckpoint, instances: Sequence[Source]
) -> list[EvaluatedInstance]:
    """Read the instances of an evaluation.

    Raises
    ------
    FileError
        A file cannot be read, or two instances have the same NAME.
    ConfigError
        There is no instance, or one belongs to another problem.
    """
    if not instances:
        raise ConfigError("Expected at least one instance, got none.")
    problem = loaded.problem
    places = [None if isinstance(one, ProblemInstance) else Path(one) for one in instances]
    read = with_distinct_names([loaded.data(one) for one in instances], places)
    return [
        EvaluatedInstance(
            data,
            definition_hash(problem.dumps(data)),
            None if place is None else best_known(problem, data, place),
        )
        for data, place in zip(read, places, strict=True)
    ]


def evaluation_identity(
    loaded: LoadedCheckpoint, system: RepairSystem, start: Case | None, study: str | None
) -> dict[str, Any]:
    """Return all settings that determine the rows of an evaluation, besides the instances.

    Parameters
    ----------
    start
        The only instance with a given solution; None: solutions of the baseline solver.
    """
    given = None
    if start is not None:
        texts = loaded.problem.solution_files(start.source, start.baseline, start.cost)
        given = sha256(f"{start.source}\n{texts['.sol']}".encode()).hexdigest()
    return {
        "checkpoint": loaded.digest,
        "problem": loaded.problem.name,
        "settings": settings_of(loaded.problem),
        "accept": str(system.accept),
        "passes": system.passes,
        "tries": system.tries,
        "incumbent": given,
        "limits": asdict(loaded.execution.limits),
        "study": study,
        "version": __version__,
    }


def frozen_row(
    loaded: LoadedCheckpoint, one: EvaluatedInstance, case: Case, repair: Repair
) -> dict[str, Any]:
    """Return an instance's row of an evaluation; equal evaluations give equal rows."""
    row = evaluation_row(loaded.problem, case, repair)
    return {
        **row,
        "checkpoint": loaded.digest,
        "instance_hash": one.hash,
        "region_share": region_share(case, repair),
        **published_fields(one.published, row["cost"], row["baseline_cost"]),
    }


def solution_texts(solution: Repaired) -> dict[str, str]:
    """Return the texts of a solution's files by their names."""
    name = safe_file_name(solution.name, "solution")
    texts = solution.problem.solution_files(name, solution.data, solution.cost)
    return {f"{name}{suffix}": text for suffix, text in texts.items()}


_SHARE = 4
"""Divisor of the available memory: a batch of instances that the same workers repair may take 1/4
of it."""


@dataclass(frozen=True)
class Evaluation:
    """A checkpoint's repairs of some instances.

    Parameters
    ----------
    rows
        One row for each instance, in their order, as plain values: costs, outcome, and the repair
        of each region.
    timings
        One row for each instance: seconds of the baseline solver, and of the passes by stage.
    solutions
        Solutions that this call made, in order. Those of an earlier, interrupted evaluation are in
        its files.
    summary
        Means over the instances, with those of the problem's quick baseline solvers.
    study
        The routing study; None if none was requested.
    """

    rows: Sequence[Mapping[str, Any]]
    timings: Sequence[Mapping[str, Any]]
    solutions: Sequence[Repaired]
    summary: PoolSummary
    study: Study | None = None

    @property
    def seconds(self) -> float:
        """Mean wall time of all passes over an instance."""
        return fmean(map(pass_seconds, self.timings)) if self.timings else 0.0

    @property
    def gaps(self) -> list[float]:
        """The gaps to the best known values, for the instances that have one."""
        return [row["gap"] for row in self.rows if row["gap"] is not None]


def evaluate(
    checkpoint: LoadedCheckpoint | str | Path,
    instances: Sequence[Source],
    *,
    incumbent: Incumbent | None = None,
    accept: str | None = None,
    passes: int | None = None,
    tries: int | None = None,
    study: str | None = None,
    out: str | Path | None = None,
    baselines: str | Path | None = None,
    title: str = "instances",
    observer: Observer | None = None,
) -> Evaluation:
    """Repair instances with a checkpoint.

    Parameters
    ----------
    instances
        At least one instance or file of one; every NAME occurs once.
    incumbent
        The solution of the only instance, as in :func:`specahd.api.solve`; None: repair baseline
        solutions.
    accept
        ``improving`` or ``feasible``; None: as the checkpoint was trained.
    passes
        Largest number of passes over a solution, at least 1; None: as trained.
    tries
        Number of programs that rebuild a region, at least 1; None: as trained.
    study
        ``routing``: also replay the whole repertoire on every exposed region; None: no study.
    out
        A directory that receives rows, steps, seconds and solutions, instance by instance
        (docs/reference/files.md). Rows of the same evaluation that it holds are not made again.
    baselines
        A folder that stores the baseline solvers' solutions for later evaluations; None: no folder.
    title
        Name of the instances in the summary.
    observer
        Receives the progress, and a warning for each instance that cannot be repaired and is left
        out. A single instance is never left out: its error is raised.

    Raises
    ------
    FileError
        A file cannot be read, the incumbent does not solve the instance, two instances have the
        same NAME, or ``out`` holds another evaluation.
    ConfigError
        An option is out of range, or an instance belongs to another problem.
    WriteError
        ``out`` or ``baselines`` cannot be written.

    Examples
    --------
    >>> from specahd import api
    >>> pool = api.read_pool("cvrp", "validation", pools, count=2)
    >>> evaluation = api.evaluate(checkpoint, pool, out="evaluated")
    >>> evaluation.summary.instances, evaluation.summary.failed
    (2, 0)
    """
    check_choice("study", study or STUDIES[0], STUDIES)
    loaded = checkpoint if isinstance(checkpoint, LoadedCheckpoint) else load(checkpoint)
    system = loaded.system(RepairOptions(accept, passes, tries))
    work = _Work(
        loaded,
        system,
        read_instances(loaded, instances),
        BaselineSolutions(None if baselines is None else Path(baselines)),
        study is not None,
        observer or Observer(),
    )
    with listening(work.observer.on_compile):
        if incumbent is not None:
            sources = [ProblemInstance(loaded.problem, one.data) for one in work.given]
            [work.start] = loaded.cases(sources, incumbent)
        if out is not None:
            hashes = {one.data.name: one.hash for one in work.given}
            identity = evaluation_identity(loaded, system, work.start, study)
            work.files = RowFiles(Path(out), identity, hashes, study=work.study)
        return work.evaluate(title)


class _Work:
    """An evaluation in progress."""

    def __init__(
        self,
        loaded: LoadedCheckpoint,
        system: RepairSystem,
        given: Sequence[EvaluatedInstance],
        kept: BaselineSolutions,
        study: bool,
        observer: Observer,
    ) -> None:
        self.loaded, self.system, self.given = loaded, system, given
        self.kept, self.study, self.observer = kept, study, observer
        self.start: Case | None = None
        self.files: RowFiles | None = None
        self._rows: dict[str, Mapping[str, Any]] = {}
        self._timings: list[Mapping[str, Any]] = []
        self._regions: list[Mapping[str, Any]] = []
        self._solutions: list[Repaired] = []

    def evaluate(self, title: str) -> Evaluation:
        """Repair the instances that have no row yet, and summarise all instances."""
        loaded, problem, files = self.loaded, self.loaded.problem, self.files
        if files is not None:
            self._rows = {str(row["instance"]): row for row in files.read()}
        left = [one for one in self.given if one.data.name not in self._rows]
        cases = self._cases(left)
        with nullcontext() if files is None else closing(files):
            if files is not None:
                done = list(self._rows)
                files.open(done)
                write_json(files.directory / SANDBOX, loaded.sandbox)
                self._timings += files.read_side(row_timings_file(), done)
                self._regions += files.read_side(STUDY, done) if self.study else []
            if cases:
                self.observer.on_phase(_progress(title, len(self._rows)), len(cases))
            for batch in _batches(loaded, cases):
                self._repair(batch)
            found = self._study() if self.study else None
            if files is not None and found is not None:
                files.add(STUDY, list(found.records()))
        done_now = [one for one in self.given if one.data.name in self._rows]
        rows = [self._rows[one.data.name] for one in done_now]
        instances = [one.data for one in done_now]
        summary = summarise(problem, title, instances, rows, problem.references, self.kept)
        return Evaluation(rows, self._timings, self._solutions, summary, found)

    def _cases(self, left: Sequence[EvaluatedInstance]) -> list[tuple[EvaluatedInstance, Case]]:
        """Return the instances without a row, with solutions; skip refused ones among several."""
        problem = self.loaded.problem
        if self.start is not None:
            return [(one, self.start) for one in left]
        if left:
            self.observer.on_phase(f"baseline {problem.baseline_name}", len(left))
        cases: list[tuple[EvaluatedInstance, Case]] = []
        refused: list[ConfigError | NotEnoughMemory] = []
        for one in left:
            try:
                require_supported(problem, one.data)
                cases.append((one, make_case(problem, one.data, self.kept)))
            except (ConfigError, NotEnoughMemory) as error:
                if len(self.given) == 1:
                    raise
                refused.append(error)
                self.observer.on_warning(f"Without {one.data.name}: {error}")
            self.observer.on_step()
        if refused and not cases and not self._rows:
            raise refused[0]
        return cases

    def _repair(self, batch: Sequence[tuple[EvaluatedInstance, Case]]) -> None:
        """Repair a batch of instances with the same workers, and write the row of each."""
        loaded, system, problem = self.loaded, self.system, self.loaded.problem
        uppers = loaded.frozen.uppers
        executor = loaded.execution.start(problem, [case for _, case in batch])
        with closing(executor):
            repairs = stream_frozen(executor, uppers, system, range(len(batch)))
            for number, ((one, case), repair) in enumerate(zip(batch, repairs, strict=True)):
                regions = self._replay(executor, one, number) if self.study else []
                self._keep(one, case, repair, regions)
                if repair.failed:
                    self.observer.on_warning(
                        f"{one.data.name}: the upper program failed ({repair.outcome}): "
                        f"{repair.detail}"
                    )
                self.observer.on_step()

    def _replay(
        self, executor: Executor, one: EvaluatedInstance, number: int
    ) -> list[dict[str, Any]]:
        """Run the whole repertoire on the regions of an instance, and return the records."""
        frozen = self.loaded.frozen
        tasks = expose(executor, frozen.uppers, [CaseIncumbent(number)])
        table = replay(executor, frozen.repertoire, tasks)
        names = [program.id for program in frozen.repertoire]
        return region_records(one.data.name, table, self.system.router, names)

    def _keep(
        self,
        one: EvaluatedInstance,
        case: Case,
        repair: Repair,
        regions: Sequence[Mapping[str, Any]],
    ) -> None:
        """Store the results of an instance, also in the files."""
        name, problem = one.data.name, self.loaded.problem
        row = frozen_row(self.loaded, one, case, repair)
        seconds = {} if case.seconds is None else {"baseline": case.seconds}
        timings = {"instance": name, **seconds, **repair.seconds}
        steps = {
            "instance": name,
            "programs": [program.id for program in self.system.repertoire],
            "steps": step_records(repair, self.system),
        }
        solution = Repaired.of(problem, case, repair)
        if self.files is not None:
            side: dict[str, Sequence[Mapping[str, Any]]] = {
                row_timings_file(): [timings],
                STEPS: [steps],
                **({STUDY: regions} if self.study else {}),
            }
            self.files.append(row, solution_texts(solution), side)
        self._rows[name] = row
        self._timings.append(timings)
        self._regions += regions
        self._solutions.append(solution)

    def _study(self) -> Study:
        frozen = self.loaded.frozen
        names = [program.id for program in frozen.repertoire]
        means = frozen.archive.means(names)
        return study_regions(self._regions, names, means.index(max(means)))


def _progress(title: str, done: int) -> str:
    return f"{title}, {done} done before" if done else title


def _batches(
    loaded: LoadedCheckpoint, cases: Sequence[tuple[EvaluatedInstance, Case]]
) -> Iterator[list[tuple[EvaluatedInstance, Case]]]:
    """Yield the cases in order, in batches with arrays that fit into a part of the memory."""
    available = available_memory()
    batch: list[tuple[EvaluatedInstance, Case]] = []
    taken = 0
    for one, case in cases:
        size = block_size(loaded.problem.layout(one.data))
        if batch and available is not None and taken + size > available // _SHARE:
            yield batch
            batch, taken = [], 0
        batch.append((one, case))
        taken += size
    if batch:
        yield batch
