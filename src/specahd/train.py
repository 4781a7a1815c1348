"""``python -m specahd.train``: search for programs and freeze the best into a checkpoint.

A run directory (``hydra.run.dir``) receives ``config.yaml``, ``sandbox.json`` (what
confines programs on this host), the journal's files, ``checkpoint/``, and the
checkpoint's rows on the ``selection`` and ``validation`` pools.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra.utils import instantiate
from omegaconf import DictConfig

from specahd.checkpoint import Checkpoint, freeze, thaw
from specahd.config.compose import inspect_sandbox, require_executor, save_sandbox, start_executor
from specahd.config.door import door, resolved, run_directory, save_config
from specahd.core.budget import Ledger
from specahd.core.errors import ConfigError
from specahd.core.events import Observer
from specahd.core.journal import Journal
from specahd.core.program import Level
from specahd.design.coupled import Candidate, Settings, choose
from specahd.design.lower import RepertoireSettings
from specahd.repair.cases import Case, make_cases
from specahd.repair.evaluator import TierRule
from specahd.repair.merge import Accept
from specahd.repair.rows import PoolSummary, run_frozen, summarise, write_rows
from specahd.repair.system import Penalty
from specahd.routing.base import POOLS, AnyProblem
from specahd.routing.pools import prepare, read_pool
from specahd.sandbox.executor import Executor
from specahd.search.engine import Engine
from specahd.tracking.observers import Observers
from specahd.tracking.progress import ProgressObserver
from specahd.tracking.tables import print_summaries


@dataclass(frozen=True, slots=True)
class _Bench:
    """The run's cases, and which of them belong to each pool."""

    cases: list[Case]
    pools: dict[str, list[int]]


def train(config: DictConfig) -> None:
    """Train once, as configured."""
    directory = run_directory()
    if (directory / "journal.jsonl").exists():
        raise ConfigError(f"{directory} holds a run already; name another hydra.run.dir.")
    problem: AnyProblem = instantiate(config.problem)
    proposer = instantiate(config.llm)
    given = thaw(Path(config.search.repertoire)) if config.search.repertoire else None
    if given is not None and given.problem != problem.name:
        raise ConfigError(
            f"search.repertoire is a checkpoint of {given.problem}, not of {problem.name}."
        )
    settings = _settings(config)
    # Made once here so that its options are refused before anything is written.
    instantiate(config.method.policy)()
    filters = {level: instantiate(config.memory) for level in Level}
    for level, novelty in filters.items():
        seed = problem.contract(level).seed
        novelty.duplicate_of(seed.id, seed.source)
    require_executor(config)
    sandbox = inspect_sandbox(config)
    progress = ProgressObserver()
    observer = Observers([progress, instantiate(config.tracking)])
    bench = _bench(config, problem, observer)
    save_config(config, directory)
    save_sandbox(sandbox, directory)
    executor = start_executor(config, problem, bench.cases, _tiers(config))
    try:
        observer.on_start(
            {**resolved(config), "confinement": sandbox}, config.budget.programs, directory
        )
        with (
            Journal(directory) as journal,
            Engine(
                seed=config.seed,
                lag=config.search.lag,
                samplers=config.search.samplers,
                proposer=proposer,
                ledger=Ledger(config.budget.programs),
                journal=journal,
                filters=filters,
                observer=observer,
            ) as engine,
        ):
            method = instantiate(config.method)(
                problem=problem,
                engine=engine,
                executor=executor,
                pools=bench.pools,
                settings=settings,
                journal=journal,
                observer=observer,
                given=(given.repertoire, given.archive) if given else None,
            )
            target = directory / "checkpoint"
            candidates: list[Candidate] = []
            for candidate in method.rounds():
                candidates.append(candidate)
                if choose(candidates) is candidate:
                    freeze(_checkpoint(config, problem, candidate, settings), target)
        summaries = _examine(problem, bench, executor, directory, observer)
    except BaseException as error:
        interrupted = isinstance(error, KeyboardInterrupt)
        observer.on_finish("interrupted" if interrupted else "failed", {}, None)
        raise
    finally:
        executor.close()
    observer.on_finish("complete", _measures(summaries), target)
    for warning in observer.warnings:
        sys.stderr.write(warning + "\n")
    print_summaries(
        summaries,
        f"{problem.name}: the checkpoint of round {choose(candidates).round}, seed {config.seed}",
        [
            "selection chose the checkpoint; validation was never seen.",
            f"checkpoint: {_short(target)}",
            f"evaluate:   python -m specahd.evaluate checkpoint={_short(target)} pool=validation",
            "MLflow UI:  make ui   (then open http://127.0.0.1:5000)",
        ],
    )


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


def _checkpoint(
    config: DictConfig, problem: AnyProblem, candidate: Candidate, settings: Settings
) -> Checkpoint:
    scalars = {key: value for key, value in config.problem.items() if not key.startswith("_")}
    return Checkpoint(
        problem=problem.name,
        settings=scalars,
        upper=candidate.upper,
        repertoire=candidate.repertoire,
        archive=candidate.archive,
        statistics=candidate.archive.statistics(),
        accept=settings.accept,
        neighbours=settings.neighbours,
    )


def _examine(
    problem: AnyProblem, bench: _Bench, executor: Executor, directory: Path, observer: Observer
) -> list[PoolSummary]:
    """Evaluate the checkpoint as it lies on disk, on the pools that trained nothing."""
    checkpoint = thaw(directory / "checkpoint")
    checkpoint.admit({level: problem.contract(level) for level in Level})
    system = checkpoint.system()
    summaries = []
    for pool in ("selection", "validation"):
        indices = bench.pools[pool]
        observer.on_phase(f"{pool} pool", len(indices))
        repairs = run_frozen(executor, checkpoint.upper, system, indices, observer.on_step)
        cases = [bench.cases[index] for index in indices]
        rows = write_rows(directory, pool, problem, cases, repairs)
        summaries.append(summarise(problem, pool, cases, rows, problem.references))
    return summaries


def _measures(summaries: list[PoolSummary]) -> dict[str, float]:
    measures = {}
    for summary in summaries:
        measures[f"{summary.pool}/improvement"] = summary.improvement
        measures[f"{summary.pool}/baseline_cost"] = summary.baseline_cost
        measures[f"{summary.pool}/cost"] = summary.cost
    return measures


def _short(path: Path) -> Path:
    """Return the path relative to where the user stands, if it lies below."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


if __name__ == "__main__":
    sys.exit(door(train, "train"))
