"""``python -m specahd.train``: search for programs and freeze the best into a checkpoint.

A run directory (``hydra.run.dir``) receives ``config.yaml``, ``sandbox.json`` (what
confines programs on this host), the journal's files, ``checkpoint/``, and the
checkpoint's rows on the ``selection`` and ``validation`` pools.
"""

import errno
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

from specahd.checkpoint import SUMS, Checkpoint, freeze, thaw
from specahd.config import CONF_DIR
from specahd.config.ablation import check_ablation
from specahd.config.compose import (
    inspect_sandbox,
    require_executor,
    save_sandbox,
    start_executor,
)
from specahd.config.door import door, run_directory, save_config
from specahd.config.resume import check_same, resumed, with_choices
from specahd.config.sweeps import in_sweep
from specahd.core.budget import Allowance, Ledger
from specahd.core.contract import Proposer
from specahd.core.errors import (
    ConfigError,
    JournalError,
    RunFailed,
    ServiceError,
    TransportError,
    WriteError,
)
from specahd.core.events import Observer
from specahd.core.folders import short, together
from specahd.core.program import Level, Outcome
from specahd.design.coupled import Candidate, Settings, choose
from specahd.design.lower import RepertoireSettings
from specahd.llm.recorded import Recorder
from specahd.memory.memory import Memory
from specahd.repair.cases import Case, make_cases
from specahd.repair.evaluator import TierRule
from specahd.repair.maps import write_example
from specahd.repair.merge import Accept
from specahd.repair.rows import PoolSummary, run_frozen, summarise, write_rows
from specahd.repair.system import Penalty
from specahd.routing.base import POOLS, AnyProblem, contracts
from specahd.routing.pools import prepare, read_pool
from specahd.runs.files import CHECKPOINT, JOURNAL
from specahd.runs.journal import Journal
from specahd.runs.reading import Standing, read_run
from specahd.sandbox.executor import Executor
from specahd.search.engine import Engine
from specahd.search.past import Past
from specahd.tracking.machine import save_machine
from specahd.tracking.observers import Observers
from specahd.tracking.progress import ProgressObserver
from specahd.tracking.runs import with_directory
from specahd.tracking.tables import print_summaries

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


@dataclass(frozen=True, slots=True)
class _Bench:
    """The run's cases, and which of them belong to each pool."""

    cases: list[Case]
    pools: dict[str, list[int]]


@dataclass(frozen=True)
class _Parts:
    """What the configuration asks for; making it refuses wrong options before any work."""

    problem: AnyProblem
    proposer: Proposer
    memories: dict[Level, Memory]
    settings: Settings
    given: Checkpoint | None


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What a search ended with."""

    winner: Candidate
    stopped: str | None


def train(config: DictConfig) -> None:
    """Train once, as configured, or go on with a run that broke off."""
    directory = run_directory()
    repeat = config.resume is not None
    if repeat:
        if Path(config.resume).resolve() != directory.resolve():
            raise ConfigError("Expected resume=RUN by itself: without -m, + or hydra.run.dir.")
        config = resumed(config)
    elif (directory / JOURNAL).exists():
        if not in_sweep():
            raise ConfigError(
                f"{directory} holds a run already; go on with resume={short(directory)} "
                "or name another hydra.run.dir."
            )
        check_same(config, directory)
        standing = read_run(directory).standing
        if standing is not Standing.INTERRUPTED:
            sys.stdout.write(f"{short(directory)} is {standing} already\n")
            return
        repeat = True
    observer = Observers([ProgressObserver(name=directory.name), instantiate(config.tracking)])
    observer.on_prepare()
    check_ablation(config)
    parts = _parts(config)
    require_executor(config)
    sandbox = inspect_sandbox(config)
    bench = _bench(config, parts.problem, observer)
    with together(directory) as draft:
        if not repeat:
            save_config(config, draft)
        save_sandbox(sandbox, draft)
        save_machine(draft)
    executor = start_executor(config, parts.problem, bench.cases, _tiers(config))
    try:
        observer.on_start(config.budget.programs, directory)
        outcome = _search(config, parts, bench, executor, directory, repeat, observer)
        summaries = _examine(parts.problem, bench, executor, directory, observer)
    except BaseException as error:
        interrupted = isinstance(error, KeyboardInterrupt)
        observer.on_finish("interrupted" if interrupted else "failed")
        _warn(observer)
        if isinstance(error, OSError) and error.errno in _FULL:
            raise JournalError(
                _resumable(f"Cannot write to {directory}: {error.strerror}.", directory)
            ) from None
        if isinstance(error, WriteError):
            raise JournalError(_resumable(str(error), directory)) from None
        if isinstance(error, KeyboardInterrupt | ServiceError | TransportError | JournalError):
            error.args = (_resumable(str(error) or "Interrupted.", directory),)
        raise
    finally:
        executor.close()
    target = directory / CHECKPOINT
    observer.on_finish(read_run(directory).standing)
    _warn(observer)
    print_summaries(
        summaries,
        f"{parts.problem.name}: the checkpoint of round {outcome.winner.round}, seed {config.seed}",
        [
            *([f"ended early: {outcome.stopped}"] if outcome.stopped else []),
            "selection chose the checkpoint; validation was never seen.",
            f"checkpoint: {short(target)}",
            f"evaluate:   python -m specahd.evaluate checkpoint={short(target)} pool=validation",
            "MLflow UI:  make ui   (then open http://127.0.0.1:5000)",
        ],
    )


def _warn(observer: Observers) -> None:
    for warning in observer.warnings:
        sys.stderr.write(warning + "\n")


def _resumable(sentence: str, directory: Path) -> str:
    return f"{sentence}\nGo on with: python -m specahd.train resume={short(directory)}"


def _parts(config: DictConfig) -> _Parts:
    problem: AnyProblem = instantiate(config.problem)
    proposer: Proposer = instantiate(config.llm)
    if config.record is not None:
        proposer = Recorder(proposer, config.record)
    given = thaw(Path(config.search.repertoire)) if config.search.repertoire else None
    if given is not None and given.problem != problem.name:
        raise ConfigError(
            f"search.repertoire is a checkpoint of {given.problem}, not of {problem.name}."
        )
    if given is not None:
        # Before anything is paid for: a source that the guard refuses would end the run.
        given.admit(problem)
    method = instantiate(config.method)
    method.func.check(**method.keywords)
    memories: dict[Level, Memory] = {level: instantiate(config.memory) for level in Level}
    for level, contract in contracts(problem.operator).items():
        memory = memories[level]
        memory.judge(contract.seed)
        memory.preflight()
    proposer.preflight()
    return _Parts(problem, proposer, memories, _settings(config), given)


def _search(
    config: DictConfig,
    parts: _Parts,
    bench: _Bench,
    executor: Executor,
    directory: Path,
    repeat: bool,
    observer: Observer,
) -> _Outcome:
    """Run the method's rounds and keep the checkpoint of the best so far.

    Raises
    ------
    RunFailed
        No reply held a program that could be used.
    """
    given, settings = parts.given, parts.settings
    with (
        Journal(directory, repeat=repeat) as journal,
        Engine(
            seed=config.seed,
            lag=config.search.lag,
            samplers=config.search.samplers,
            proposer=parts.proposer,
            ledger=Ledger(config.budget.programs),
            journal=journal,
            memories=parts.memories,
            observer=observer,
            past=Past.read(directory) if repeat else None,
            allowance=Allowance(config.budget.max_cost, config.budget.max_tokens),
        ) as engine,
    ):
        if config.search.repertoire:
            # What a resumed run is given must be the same.
            sums = (Path(config.search.repertoire) / SUMS).read_text()
            journal.samples.append({"record": "given", "repertoire": sums})
        method = instantiate(config.method)(
            problem=parts.problem,
            engine=engine,
            executor=executor,
            pools=bench.pools,
            settings=settings,
            journal=journal,
            observer=observer,
            given=(given.repertoire, given.archive) if given else None,
        )
        candidates: list[Candidate] = []
        try:
            for candidate in method.rounds():
                candidates.append(candidate)
                # While a run is repeated, what is there is what it had learned by then.
                kept = journal.samples.repeating and (directory / CHECKPOINT).exists()
                if choose(candidates) is candidate and not kept:
                    freeze(_checkpoint(config, parts, candidate), directory / CHECKPOINT)
        except KeyboardInterrupt:
            if not candidates and not (directory / CHECKPOINT).exists():
                draft = method.draft()
                if draft is not None:
                    freeze(_checkpoint(config, parts, draft), directory / CHECKPOINT)
            raise
        freeze(_checkpoint(config, parts, choose(candidates)), directory / CHECKPOINT)
        if engine.outcomes and not engine.outcomes[Outcome.OK]:
            counts = ", ".join(f"{count} {name}" for name, count in engine.outcomes.most_common())
            raise RunFailed(f"No reply held a program that could be used: {counts}.")
        return _Outcome(choose(candidates), engine.stopped)


def _settings(config: DictConfig) -> Settings:
    search, budget = config.search, config.budget
    return Settings(
        rounds=budget.rounds,
        lower_share=budget.lower_share,
        levels=search.levels,
        neighbours=search.neighbours,
        cells=search.cells,
        accept=Accept(search.accept),
        repertoire=RepertoireSettings(beta=search.beta, size=search.repertoire_size),
        penalty=Penalty(**search.penalty),
    )


def _tiers(config: DictConfig) -> TierRule:
    steps = {"auto": config.tiers.steps, "interpreted": None, "compiled": 0}
    return TierRule(steps[config.tiers.choose], config.tiers.probes)


def _bench(config: DictConfig, problem: AnyProblem, observer: Observer) -> _Bench:
    """Read the instances that the budget uses, preparing the pools first if need be."""
    folder = prepare(problem, Path(config.pools.dir), config.pools.seed)
    instances: list[Any] = []
    pools: dict[str, list[int]] = {}
    for pool in POOLS:
        chosen = read_pool(problem, folder, pool, count=config.budget[pool], seed=config.seed)
        pools[pool] = list(range(len(instances), len(instances) + len(chosen)))
        instances.extend(chosen)
    observer.on_phase(f"baseline {problem.baseline_name}", len(instances))
    return _Bench(make_cases(problem, instances, observer.on_step), pools)


def _checkpoint(config: DictConfig, parts: _Parts, candidate: Candidate) -> Checkpoint:
    scalars = {key: value for key, value in config.problem.items() if not key.startswith("_")}
    return Checkpoint(
        problem=parts.problem.name,
        settings=scalars,
        upper=candidate.upper,
        repertoire=candidate.repertoire,
        archive=candidate.archive,
        statistics=candidate.archive.statistics(),
        accept=parts.settings.accept,
        neighbours=parts.settings.neighbours,
    )


def _examine(
    problem: AnyProblem, bench: _Bench, executor: Executor, directory: Path, observer: Observer
) -> list[PoolSummary]:
    """Evaluate the checkpoint as it lies on disk, on the pools that trained nothing."""
    checkpoint = thaw(directory / CHECKPOINT)
    checkpoint.admit(problem)
    system = checkpoint.system()
    summaries = []
    for pool in ("selection", "validation"):
        indices = bench.pools[pool]
        observer.on_phase(f"{pool} pool", len(indices))
        repairs = run_frozen(executor, checkpoint.upper, system, indices, observer.on_step)
        cases = [bench.cases[index] for index in indices]
        rows = write_rows(directory, pool, problem, cases, repairs)
        if pool == "validation":
            write_example(directory, problem, cases, repairs)
        summaries.append(summarise(problem, pool, cases, rows, problem.references))
    return summaries


def _rewritten(arguments: Sequence[str]) -> Sequence[str]:
    """Let ``resume=`` name a run of the MLflow store too, and compose that run's own groups."""
    store = OmegaConf.load(CONF_DIR / "tracking" / "mlflow.yaml").uri
    return with_choices(with_directory(arguments, store))


if __name__ == "__main__":
    sys.exit(door(train, "train", rewrite=_rewritten))
