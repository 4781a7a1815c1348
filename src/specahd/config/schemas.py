"""Schemas of the commands' options: Hydra checks types at composition, the classes ranges.

The values are in ``conf/``; a field that has no value there has its default here. A group whose
choices have their own keys (``_target_`` and its arguments) has the type ``Any``: Hydra still
refuses a key that the chosen file does not have. All other groups are classes of the library.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from typing import Any, get_type_hints

from hydra.core.config_store import ConfigStore
from hydra.core.hydra_config import HydraConfig
from omegaconf import MISSING, DictConfig, OmegaConf

from specahd.config.files import register_resolvers
from specahd.config.messages import find_unknown, no_such_option, options_of
from specahd.core.errors import ConfigError
from specahd.core.options import check_options, option
from specahd.core.repair_options import RepairOptions
from specahd.core.services import check_services, check_store
from specahd.core.serving import ServerSettings
from specahd.core.settings import (
    FROZEN_LIMITS,
    CallLimits,
    Confinement,
    FleetOptions,
    Pools,
    RunOptions,
    SolveOptions,
    TableOptions,
    Transfers,
    TuneOptions,
    check_workers,
    listed,
)
from specahd.evaluation.files import STUDIES

SOURCES = ("pool", "set", "instance")
"""Options that select the instances to evaluate."""


@dataclass(kw_only=True)
class TrainConfig(RunOptions):
    """Options of ``python -m specahd.train``."""

    def __post_init__(self) -> None:
        check_options(self)
        # Checked before the command line is stored, as it may contain a key.
        check_services("llm", self.llm)
        check_services("memory", self.memory)
        check_store(self.tracking)


@dataclass(kw_only=True)
class LearnConfig(TrainConfig):
    """Options of ``python -m specahd.learn``: those of a training, and how it is measured."""

    time_limit: float = option(
        10.0, "seconds for each day that was not seen, by each solver", 0.01, 1e6
    )
    out: str | None = option(None, "the folder of the run; null: learned/ and the pools' name")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.resume is not None:
            raise ConfigError("Expected no resume: the same command goes on where it broke off.")
        if self.pools.files is None:
            raise ConfigError("Expected your own instances: specahd learn FOLDER.")


@dataclass(frozen=True)
class EvaluateConfig(RepairOptions):
    """Options of ``python -m specahd.evaluate``; null options of repair are as in training."""

    checkpoint: str = option(MISSING, "a checkpoint, its run's directory, or models:/NAME@ALIAS")
    pool: str | None = option(None, "a generated pool: selection, validation, confirmation …")
    count: int | None = option(None, "instances of pool that are repaired; null: all", 1)
    set: str | None = option(None, "a public set, or a folder inside one: cvrp_x, sdvrp/SET-1")
    # A file or folder, or a list of them; Hydra has no type for this.
    instance: Any = option(None, "a file, a folder, or several: [a.vrp,b.vrp]")
    incumbent: str | None = option(None, "a file with the solution of instance to repair")
    baseline: str | None = option(
        None, "another solver whose solutions are repaired; null: as trained"
    )
    study: str | None = option(
        None, "routing: replay the whole repertoire on every region", choices=STUDIES
    )
    public: str = option("data", "the folder of the public sets, with bks.csv")
    baselines: str | None = option(None, "a folder that keeps the baseline's solutions; null: none")
    executor: Any = MISSING
    tracking: Any = MISSING
    pools: Pools = option(default_factory=Pools)
    limits: CallLimits = option(default_factory=lambda: FROZEN_LIMITS)
    sandbox: Confinement = option(default_factory=Confinement)

    def __post_init__(self) -> None:
        given = [name for name in SOURCES if getattr(self, name) is not None]
        if len(given) != 1:
            raise ConfigError(
                "Expected one of pool=NAME, set=NAME and instance=FILE, got "
                f"{' and '.join(given) or 'none'}."
            )
        if self.count is not None and self.pool is None:
            raise ConfigError(f"Expected count with pool=NAME, got {given[0]}.")
        if self.instance is not None and not self.instances:
            raise ConfigError(
                "Expected instance to be a file, a folder, or a list of them, got "
                f"{self.instance!r}."
            )
        if self.incumbent is not None and (self.instance is None or self.baseline is not None):
            raise ConfigError("Expected incumbent=FILE with instance=FILE and without baseline.")
        check_options(self)

    @property
    def instances(self) -> list[str]:
        """Files and folders of ``instance``; empty if it is not a text or a list of texts."""
        return listed(self.instance)


@dataclass(frozen=True)
class SolveConfig(SolveOptions, TableOptions, FleetOptions):
    """Options of ``python -m specahd.solve``; the bases hold those that the library takes."""

    instance: str = option(
        MISSING, "the file: VRPLIB, TSPLIB, Solomon's text, a table of stops (CSV)"
    )
    problem: Any = None
    checkpoint: str | None = option(
        None, "whose programs search: a run, by-hand, evolved; null: the better"
    )
    incumbent: str | None = option(
        None, "a file with a solution to start from, as out= writes it; null: none"
    )
    convention: str | None = option(None, "how files measure distances that leave it open")
    out: str | None = option(
        None, "files or endings: plan.sol, plan.sol,.csv,.html; null: a new folder"
    )
    plot: str | None = option(
        None, "a picture of routes and cost: a file ending in .png, .pdf or .svg"
    )
    sandbox: Confinement = option(default_factory=Confinement)


@dataclass
class CompileConfig:
    """Options of ``python -m specahd.compile``."""

    problem: Any = None


@dataclass(frozen=True)
class TuneConfig(TuneOptions):
    """Options of ``python -m specahd.tune``."""

    checkpoint: str = option(MISSING, "a checkpoint, or its run's directory")
    program: str | None = option(None, "which one; null: the first upper program")
    executor: Any = MISSING
    pools: Pools = option(default_factory=Pools)
    limits: CallLimits = option(default_factory=lambda: FROZEN_LIMITS)
    sandbox: Confinement = option(default_factory=Confinement)


@dataclass
class PrepareConfig:
    """Options of ``python -m specahd.prepare``."""

    problem: Any = MISSING
    verify: str | None = option(None, "a folder of any instances and solutions to check instead")
    pools: Pools = option(default_factory=Pools)


@dataclass
class TrackConfig:
    """Options of ``python -m specahd.track``."""

    run: str = option(MISSING, "the directory of a run to bring into MLflow")
    tracking: Any = MISSING

    def __post_init__(self) -> None:
        check_store(self.tracking)


@dataclass
class SelectConfig:
    """Options of ``python -m specahd.select``; null: runs with any value count."""

    problem: Any = MISSING
    budget: Any = None
    sweep: str | None = option(None, "the MLflow id of a sweep whose runs count; null: any")
    tracking: Any = MISSING
    pools: Pools = option(default_factory=Pools)

    def __post_init__(self) -> None:
        if "uri" not in self.tracking:
            raise ConfigError("Expected tracking=mlflow: runs are selected from its store.")
        check_store(self.tracking)
        if self.sweep is not None and not re.fullmatch("[0-9a-f]{32}", self.sweep):
            raise ConfigError(f"Expected sweep to be a run id of MLflow, got {self.sweep!r}.")


@dataclass
class ReportConfig:
    """Options of ``python -m specahd.report``; evaluations null: the runs' own rows."""

    runs: str = option("runs", "a folder of runs")
    evaluations: str | None = option(
        None, "a folder of evaluations; null: the runs' own validation rows"
    )
    references: str | None = option(
        None, "a folder of solvers' rows to stand beside several methods; null: none"
    )
    sets: str | None = option(
        None, "a folder of rows of public sets, in folders of methods; null: none"
    )
    rows: str | None = option(
        None, "a table of rows in place of runs, as a report writes it; null: none"
    )
    labels: str | None = option(
        None, "CSV of level, problem, source, label, note; null: names as they are"
    )
    pairs: bool = option(False, "whether every two methods are compared, not just the cheapest")
    audit: str | None = option(
        None, "a run to repeat from its files instead of a report; null: none"
    )
    tracking: Any = MISSING


@dataclass(frozen=True)
class FetchConfig(Transfers):
    """Options of ``python -m specahd.fetch``; without a mirror, it only verifies files."""

    mirror: str | None = option(None, "a folder or address of the public sets; null: only verify")
    folder: str = option("data", "where the public sets are")


SCHEMAS: Mapping[str, type] = {
    "train": TrainConfig,
    "learn": LearnConfig,
    "evaluate": EvaluateConfig,
    "solve": SolveConfig,
    "prepare": PrepareConfig,
    "compile": CompileConfig,
    "track": TrackConfig,
    "report": ReportConfig,
    "fetch": FetchConfig,
    "select": SelectConfig,
    "embed": ServerSettings,
    "tune": TuneConfig,
}


def register_schemas() -> None:
    """Register the schemas, under the names that ``conf/*.yaml`` use, and a resolver."""
    register_resolvers()
    for command, schema in SCHEMAS.items():
        node = OmegaConf.structured(schema)
        for name, kind in get_type_hints(schema).items():
            # A class without a default, such as the budget, still defines its options.
            if is_dataclass(kind) and OmegaConf.is_missing(node, name):
                node[name] = kind
        _unfreeze(node)
        ConfigStore.instance().store(name=f"{command}_schema", node=node, provider="specahd")


def _unfreeze(node: DictConfig) -> None:
    """Make the options of frozen classes writable; OmegaConf makes them read-only."""
    OmegaConf.set_readonly(node, None)
    for name in node:
        if not OmegaConf.is_missing(node, name) and isinstance(node[name], DictConfig):
            _unfreeze(node[name])


def validate(config: DictConfig) -> None:
    """Refuse a composed configuration with an unknown option, no value, or one out of range."""
    unknown = find_unknown(config)
    if unknown is not None:
        name, accepted = unknown
        command = HydraConfig.get().job.config_name if HydraConfig.initialized() else None
        if command is not None and "." not in name:
            accepted = options_of(command)
            raise ConfigError(no_such_option(name, accepted, command))
        raise ConfigError(no_such_option(name, accepted))
    missing = sorted(OmegaConf.missing_keys(config))
    if missing:
        raise ConfigError(f"{missing[0]} has no value; write {missing[0]}=VALUE.")
    OmegaConf.to_object(config)
    if "executor" in config:
        # The group is open, so Hydra did not check the type.
        check_workers(config.executor.get("workers"))
