"""A training run from its parts to its checkpoint, for both the API and the command."""

import errno
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from specahd.api.checkpoints import LoadedCheckpoint, load
from specahd.api.own_pools import pool_folder
from specahd.api.problems import settings_of
from specahd.api.provenance import provenance
from specahd.checkpoint.frozen import Checkpoint, freeze, thaw
from specahd.checkpoint.manifest import SUMS, located
from specahd.core.budget import Budget, Ledger, Spent
from specahd.core.compilation import listening
from specahd.core.errors import ConfigError, JournalError, RunFailed, SpecAHDError, WriteError
from specahd.core.events import Observer
from specahd.core.folders import atomic_files, display_path
from specahd.core.journal import Record, write_json
from specahd.core.plain import printable
from specahd.core.program import Level, Outcome
from specahd.core.proposer import Proposer
from specahd.core.settings import Pools, RunOptions, Settings
from specahd.design.candidates import Candidate, best_candidate
from specahd.design.coupled import contracts_of
from specahd.design.makers import check_rounds
from specahd.evaluation.rows import PoolSummary, summarise, write_example, write_rows
from specahd.llm.recorded import Recorded, Recorder
from specahd.memory.memory import Memory
from specahd.repair.cases import Case, make_cases
from specahd.repair.execution import Execution, run_frozen
from specahd.repair.passes import check_extensions
from specahd.repair.staged_cases import stage_cases
from specahd.routing.base import POOLS as ALL_POOLS
from specahd.routing.base import AnyProblem, contracts
from specahd.routing.pools import SUBSET_SEED, is_sampled, read_pool
from specahd.runs.files import CHECKPOINT, POOLS, SANDBOX, TRAINING_TIMINGS
from specahd.runs.journal import Journal, discard_empty_run, reopen_run
from specahd.runs.reading import RunStatus, require_current
from specahd.sandbox.executor import Executor
from specahd.search.engine import Engine
from specahd.search.replay import Replay
from specahd.search.reservations import Reservations
from specahd.tracking.provenance import cpu_seconds, save_cpu_seconds, save_machine
from specahd.tracking.store import one_line_error


def make_training_cases(
    plan: "TrainingPlan", observer: Observer
) -> tuple[list[Case], dict[str, list[int]]]:
    """Return the cases that the budget uses, and the indices of the cases of each pool.

    The pools are written first if they are missing.
    """
    folder = pool_folder(plan.problem, plan.pools)
    instances: list[Any] = []
    pools: dict[str, list[int]] = {}
    for pool in ALL_POOLS:
        count = getattr(plan.budget, pool)
        chosen = read_pool(plan.problem, folder, pool, count=count, seed=plan.seed)
        pools[pool] = list(range(len(instances), len(instances) + len(chosen)))
        instances.extend(chosen)
    observer.on_phase(f"baseline {plan.problem.baseline_name}", len(instances))
    cases = make_cases(plan.problem, instances, observer.on_step)
    for pool in ("lower_train", "upper_train"):
        for index, case in zip(
            pools[pool],
            stage_cases(plan.problem, [cases[index] for index in pools[pool]]),
            strict=True,
        ):
            cases[index] = case
    return cases, pools


def subset_records(plan: "TrainingPlan") -> list[Record]:
    """Return the journal's records of subsets that are not drawn with the run's own seed.

    Older versions drew these subsets with the seed of the run. Without the record, a run of such a
    version is not resumed.
    """
    folder = pool_folder(plan.problem, plan.pools)
    drawn = any(is_sampled(folder, pool, getattr(plan.budget, pool)) for pool in POOLS)
    differ = drawn and plan.seed != SUBSET_SEED
    return [{"record": "subsets", "seed": SUBSET_SEED}] if differ else []


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


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


@dataclass(frozen=True)
class TrainingPlan:
    """The parts of a training run. Making a plan does no work; :meth:`check` refuses wrong parts.

    Parameters
    ----------
    method
        Factory of the rounds: :class:`~specahd.design.coupled.Coupled` with a search method.
    memories
        One memory for each level.
    settings
        Options of the search and of the coupling of the levels.
    pools
        Directory of the instance pools and the seed that they are generated with, or the folder
        of pools of one's own instances.
    """

    problem: AnyProblem
    proposer: Proposer
    method: "partial[Any]"
    memories: Mapping[Level, Memory]
    budget: Budget
    seed: int
    settings: Settings
    execution: Execution = field(default_factory=Execution)
    pools: Pools = field(default_factory=Pools)

    @property
    def given(self) -> tuple[str, Path] | None:
        """The option that names a checkpoint whose programs are used, and its directory, if any."""
        given = self.settings.given
        return None if given is None else (given[0], located(Path(given[1])))

    def check_bounds(self, *, repeat: bool = False) -> None:
        """Refuse bounds on money and tokens that have no effect or are below one request.

        Parameters
        ----------
        repeat
            Whether the run has begun, so that its first request is paid for.

        Raises
        ------
        ConfigError
            The message is one sentence that names the option.
        """
        if self.budget.max_cost is not None and not self.proposer.tariff().priced:
            raise ConfigError(
                f"budget.max_cost={self.budget.max_cost:g} bounds nothing where replies cost "
                "nothing: set llm.input_price and llm.output_price, or budget.max_tokens instead."
            )
        # Recorded replies cost nothing, and the run ends where the recorded run ended.
        if self.budget.programs and not (repeat or isinstance(self.proposer, Recorded)):
            first = Level.UPPER if self._searched == "upper" else Level.LOWER
            contract = contracts(self.problem.operator)[first]
            reservations = Reservations(self.proposer, self.budget.allowance)
            reservations.require_first(contract, first, self.seed)

    @property
    def _searched(self) -> str:
        return "lower" if self.problem.operator.whole else self.settings.levels

    def check(self, *, repeat: bool = False) -> Checkpoint | None:
        """Refuse parts that do not fit together, before anything is paid for or written.

        Parameters
        ----------
        repeat
            As in :meth:`check_bounds`.

        Returns
        -------
        Checkpoint or None
            The given checkpoint; the guard has accepted its sources.

        Raises
        ------
        UserError
            An option is wrong, a key is missing, a checkpoint belongs to another problem, … The
            message is one sentence.
        """
        given = None
        if self.given is not None:
            option, place = self.given
            given = thaw(place)
            if given.problem != self.problem.name:
                raise ConfigError(
                    f"search.{option} is a checkpoint of {given.problem}, "
                    f"not of {self.problem.name}."
                )
            if self.settings.repertoire is not None:
                given.admit(self.problem)
        if self.problem.operator.whole and self.settings.levels == "upper":
            raise ConfigError(
                "Expected search.levels=lower where regions are whole instances, got upper."
            )
        self.check_bounds(repeat=repeat)
        check_rounds(self.method)
        rounds: Any = self.method.func
        rounds.admit(self.problem, self.settings)
        kept = given if self.settings.repertoire else None
        portfolio = self.method.keywords.get("portfolio", 1) > 1 or bool(kept and kept.portfolio)
        check_extensions(
            self.problem, self.settings, portfolio=portfolio, judged_singly=rounds.judged_singly
        )
        by_level = contracts_of(self.problem, self.settings, given)
        for level, contract in by_level.items():
            memory = self.memories[level]
            # Before programs are compared, for which a server that is away would be waited for.
            memory.preflight()
            for program in contract.seeds:
                memory.judge(program)
        searched = [by_level[level] for level in Level if self._searched in ("both", level)]
        self.proposer.preflight(searched)
        return given


def make_plan(options: RunOptions, make: Callable[[str], Any]) -> TrainingPlan:
    """Return the plan of a command's options.

    Parameters
    ----------
    make
        Makes what a group of options describes, by its name: ``llm``, ``problem``, …
    """
    proposer, executor = make("llm"), make("executor")
    return TrainingPlan(
        problem=make("problem"),
        proposer=proposer if options.record is None else Recorder(proposer, options.record),
        method=make("method"),
        memories={level: make("memory") for level in Level},
        budget=options.budget,
        seed=options.seed,
        settings=options.search,
        execution=Execution(executor, options.limits, require=options.sandbox.require),
        pools=options.pools,
    )


@dataclass(frozen=True)
class Training:
    """A finished run.

    Parameters
    ----------
    directory
        The directory of the run, which contains its ``checkpoint``.
    round
        The round whose programs are in the checkpoint.
    stopped
        The reason why the run ended before its tickets were spent; it begins with the option that
        bounds the run. None if all tickets were spent.
    summaries
        Means on the pool that chose the checkpoint, and on the unseen one.
    spent
        Number of requested programs, and tokens and money of all replies, those with texts
        included. For a resumed run, earlier processes are included.
    """

    directory: Path
    round: int
    stopped: str | None
    summaries: Sequence[PoolSummary]
    spent: Spent

    @property
    def checkpoint(self) -> Path:
        """The directory of the checkpoint."""
        return self.directory / CHECKPOINT

    @property
    def improvement(self) -> float:
        """The mean improvement on the pool that chose the checkpoint; nan if all failed."""
        return next(each.improvement for each in self.summaries if each.pool == "selection")

    def closing_lines(self) -> list[str]:
        """Return the lines below its table: why it ended early, its price, the next commands."""
        # Imported here, since few runs print them, and pictures are slow to import.
        from specahd.tracking.upload import run_directions

        target = display_path(self.checkpoint)
        lines = []
        if self.stopped is not None:
            bound = self.stopped.partition("=")[0]
            command = f"python -m specahd.train resume={display_path(self.directory)} {bound}=…"
            lines += [f"ended early: {self.stopped}", f"go on with: {command}"]
        if self.spent.bill:
            lines.append(f"paid:       {self.spent.bill}")
        return [
            *lines,
            "selection chose the checkpoint; validation was never seen.",
            f"checkpoint: {target}",
            f"evaluate:   python -m specahd.evaluate checkpoint={target} pool=validation",
            *filter(None, [run_directions(self.directory)]),
        ]

    def load(self, **options: Any) -> LoadedCheckpoint:
        """Load the checkpoint; options as for :func:`specahd.api.load`."""
        return load(self.checkpoint, **options)


def run_training(
    plan: TrainingPlan,
    directory: Path,
    observer: Observer,
    *,
    repeat: bool = False,
    longer: bool = False,
    describe: Callable[[Path], object] = lambda folder: None,
) -> Training:
    """Train as planned, or resume the run in the directory.

    Parameters
    ----------
    repeat
        Whether the directory holds an interrupted run.
    longer
        Whether that run may have ended early and now has a larger bound on money or tokens.
    describe
        Function that writes further files into the directory before the run begins.

    Raises
    ------
    UserError
        As in :meth:`TrainingPlan.check`, or the pools or the host are not as required.
    JournalError
        The directory cannot be written.
    RunFailed
        No reply contained a usable program.
    TransportError
        The model service does not answer.
    KeyboardInterrupt
        The user pressed Ctrl-C. The best programs so far are frozen.
    """
    given = plan.check(repeat=repeat)
    sandbox = plan.execution.inspect(observer)
    if repeat:
        require_current(directory, subset_records(plan))
    with listening(observer.on_compile):
        cases, pools = make_training_cases(plan, observer)
    if longer:
        # Before the configuration is written: one with the new bound belongs to an unended run.
        reopen_run(directory)
    with atomic_files(directory) as draft:
        describe(draft)
        write_json(draft / SANDBOX, sandbox)
        save_machine(draft)
    began = cpu_seconds()
    executor = plan.execution.start(plan.problem, cases)
    try:
        observer.on_start(plan.budget.programs, directory)
        ledger = Ledger(plan.budget.programs)
        winner, stopped, status = _search(
            plan, given, cases, pools, executor, directory, repeat, ledger, observer
        )
        if repeat:
            # What an interrupted process took is not known.
            (directory / TRAINING_TIMINGS).unlink(missing_ok=True)
        else:
            save_cpu_seconds(directory, cpu_seconds() - began)
        summaries = evaluate_pools(plan.problem, cases, pools, executor, directory, observer)
        if plan.pools.files is not None:
            summaries = [replace(each, unit="") for each in summaries]
    except BaseException as error:
        interrupted = isinstance(error, KeyboardInterrupt)
        observer.on_stop("Ctrl-C" if interrupted else _sentence(error))
        observer.on_finish("interrupted" if interrupted else "failed")
        if isinstance(error, ConfigError) and not repeat:
            discard_empty_run(directory)
        if isinstance(error, OSError) and error.errno in _FULL:
            raise JournalError(f"Cannot write to {directory}: {error.strerror}.") from None
        if isinstance(error, WriteError):
            raise JournalError(str(error)) from None
        raise
    finally:
        executor.close()
    if stopped is not None:
        observer.on_stop(stopped)
    observer.on_finish(status)
    return Training(directory, winner.round, stopped, summaries, ledger.read())


def _sentence(error: BaseException) -> str:
    return str(error) if isinstance(error, SpecAHDError) else one_line_error(error)


def _search(
    plan: TrainingPlan,
    given: Checkpoint | None,
    cases: Sequence[Case],
    pools: Mapping[str, Sequence[int]],
    executor: Executor,
    directory: Path,
    repeat: bool,
    ledger: Ledger,
    observer: Observer,
) -> tuple[Candidate, str | None, RunStatus]:
    """Run the method's rounds, and write the checkpoint of the best round so far."""
    target = directory / CHECKPOINT
    with (
        Journal(directory, repeat=repeat) as journal,
        Engine(
            seed=plan.seed,
            lag=plan.settings.lag,
            samplers=plan.settings.samplers,
            proposer=plan.proposer,
            ledger=ledger,
            journal=journal,
            memories=plan.memories,
            observer=observer,
            replay=Replay.read(directory) if repeat else None,
            allowance=plan.budget.allowance,
        ) as engine,
    ):
        if plan.given is not None:
            # A resumed run must get the same programs.
            option, place = plan.given
            journal.samples.append({"record": "given", option: (place / SUMS).read_text()})
        for record in subset_records(plan):
            journal.samples.append(record)
        method = plan.method(
            problem=plan.problem,
            engine=engine,
            executor=executor,
            pools=pools,
            budget=plan.budget,
            settings=plan.settings,
            journal=journal,
            observer=observer,
            given=given,
            cases=cases,
            limits=plan.execution.limits,
        )
        candidates: list[Candidate] = []
        try:
            for candidate in method.rounds():
                candidates.append(candidate)
                # While a run is repeated, its existing checkpoint is at least as recent.
                kept = journal.samples.repeating and target.exists()
                if best_candidate(candidates) is candidate and not kept:
                    freeze(_checkpoint(plan, candidate), target)
        except KeyboardInterrupt:
            if not candidates and not target.exists():
                draft = method.draft()
                if draft is not None:
                    freeze(_checkpoint(plan, draft), target)
            raise
        freeze(_checkpoint(plan, best_candidate(candidates)), target)
        if engine.outcomes and not engine.outcomes[Outcome.OK]:
            counts = ", ".join(f"{count} {name}" for name, count in engine.outcomes.most_common())
            often = "".join(
                f" Most often: {printable(reason, 200)}"
                for reason, _ in engine.failures.most_common(1)
            )
            raise RunFailed(f"No reply held a program that could be used: {counts}.{often}")
        spent = engine.outcomes.total() >= plan.budget.programs
        status = RunStatus.COMPLETE if spent else RunStatus.PARTIAL
        return best_candidate(candidates), engine.stopped, status


def _checkpoint(plan: TrainingPlan, candidate: Candidate) -> Checkpoint:
    problem = plan.problem.name, settings_of(plan.problem)
    return candidate.checkpoint(*problem, plan.settings, provenance(plan))
