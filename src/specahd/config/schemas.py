"""Schemas of the commands' options: Hydra checks types at composition, the classes ranges.

The values are in ``conf/``; a field that has no value there has its default here. A group whose
choices have their own keys (``_target_`` and its arguments) has the type ``Any``: Hydra still
refuses a key that the chosen file does not have. All other groups are classes of the library.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, is_dataclass
from typing import Any, get_type_hints

from hydra.core.config_store import ConfigStore
from hydra.core.hydra_config import HydraConfig
from omegaconf import MISSING, DictConfig, OmegaConf

from specahd.config.files import register_choose
from specahd.config.messages import find_unknown, no_such_option, options_of
from specahd.core.budget import Budget
from specahd.core.errors import ConfigError
from specahd.core.ranges import check_choice, check_range
from specahd.core.repair_options import RepairOptions
from specahd.core.services import check_services, check_store
from specahd.core.serving import ServerSettings
from specahd.core.settings import (
    MAX_SEED,
    CallLimits,
    Confinement,
    Pools,
    SearchLimit,
    Settings,
    TableOptions,
    TierRule,
    Transfers,
    check_workers,
)

STUDIES = ("routing",)
SOURCES = ("pool", "set", "instance")
"""Options that select the instances to evaluate."""


@dataclass
class TrainConfig:
    """Options of ``python -m specahd.train``."""

    seed: int = 0
    resume: str | None = None
    record: str | None = None
    problem: Any = MISSING
    llm: Any = MISSING
    memory: Any = MISSING
    method: Any = MISSING
    executor: Any = MISSING
    tracking: Any = MISSING
    pools: Pools = field(default_factory=Pools)
    budget: Budget = MISSING
    search: Settings = field(default_factory=Settings)
    limits: CallLimits = field(default_factory=CallLimits)
    sandbox: Confinement = field(default_factory=Confinement)
    tiers: TierRule = field(default_factory=TierRule)

    def __post_init__(self) -> None:
        check_range("seed", self.seed, 0)
        # The group is open, so Hydra did not check the type.
        check_workers(self.executor.get("workers"))
        # Checked before the command line is stored, as it may contain a key.
        check_services("llm", self.llm)
        check_services("memory", self.memory)
        check_store(self.tracking)


@dataclass(frozen=True)
class EvaluateConfig(RepairOptions):
    """Options of ``python -m specahd.evaluate``; null options of repair are as in training."""

    checkpoint: str = MISSING
    pool: str | None = None
    set: str | None = None
    # A file or folder, or a list of them; Hydra has no type for this.
    instance: Any = None
    incumbent: str | None = None
    baseline: str | None = None
    study: str | None = None
    public: str = "data"
    baselines: str | None = None
    executor: Any = MISSING
    tracking: Any = MISSING
    pools: Pools = field(default_factory=Pools)
    limits: CallLimits = field(default_factory=CallLimits)
    sandbox: Confinement = field(default_factory=Confinement)

    def __post_init__(self) -> None:
        given = [name for name in SOURCES if getattr(self, name) is not None]
        if len(given) != 1:
            raise ConfigError(
                "Expected one of pool=NAME, set=NAME and instance=FILE, got "
                f"{' and '.join(given) or 'none'}."
            )
        if self.instance is not None and not self.instances:
            raise ConfigError(
                "Expected instance to be a file, a folder, or a list of them, got "
                f"{self.instance!r}."
            )
        if self.incumbent is not None and (self.instance is None or self.baseline is not None):
            raise ConfigError("Expected incumbent=FILE with instance=FILE and without baseline.")
        RepairOptions.__post_init__(self)
        if self.study is not None:
            check_choice("study", self.study, STUDIES)
        # The group is open, so Hydra did not check the type.
        check_workers(self.executor.get("workers"))

    @property
    def instances(self) -> list[str]:
        """Files and folders of ``instance``; empty if it is not a text or a list of texts."""
        given = self.instance if isinstance(self.instance, list) else [self.instance]
        texts = all(isinstance(one, str) and one for one in given)
        return given if texts else []


@dataclass(frozen=True)
class SolveConfig(SearchLimit, TableOptions):
    """Options of ``python -m specahd.solve``; the bases hold its limit and options of tables."""

    instance: str = MISSING
    problem: Any = None
    checkpoint: str | None = None
    incumbent: str | None = None
    seed: int = 0
    workers: int = 1
    cluster: str | None = None
    convention: str | None = None
    out: str | None = None
    plot: str | None = None
    memory_gb: float = 4.0
    sandbox: Confinement = field(default_factory=Confinement)

    def __post_init__(self) -> None:
        check_range("seed", self.seed, 0, MAX_SEED)
        check_range("workers", self.workers, 1, 64)
        check_range("memory_gb", self.memory_gb, 0.001, 1e6)
        SearchLimit.__post_init__(self)
        TableOptions.__post_init__(self)


@dataclass
class CompileConfig:
    """Options of ``python -m specahd.compile``."""

    problem: Any = None


@dataclass
class PrepareConfig:
    """Options of ``python -m specahd.prepare``."""

    problem: Any = MISSING
    verify: str | None = None
    pools: Pools = field(default_factory=Pools)


@dataclass
class TrackConfig:
    """Options of ``python -m specahd.track``."""

    run: str = MISSING
    tracking: Any = MISSING

    def __post_init__(self) -> None:
        check_store(self.tracking)


@dataclass
class SelectConfig:
    """Options of ``python -m specahd.select``; null: runs with any value count."""

    problem: Any = MISSING
    budget: Any = None
    sweep: str | None = None
    tracking: Any = MISSING
    pools: Pools = field(default_factory=Pools)

    def __post_init__(self) -> None:
        if "uri" not in self.tracking:
            raise ConfigError("Expected tracking=mlflow: runs are selected from its store.")
        check_store(self.tracking)
        if self.sweep is not None and not re.fullmatch("[0-9a-f]{32}", self.sweep):
            raise ConfigError(f"Expected sweep to be a run id of MLflow, got {self.sweep!r}.")


@dataclass
class ReportConfig:
    """Options of ``python -m specahd.report``; evaluations null: the runs' own rows."""

    runs: str = MISSING
    evaluations: str | None = None
    references: str | None = None
    sets: str | None = None
    labels: str | None = None
    pairs: bool = False
    audit: str | None = None
    tracking: Any = MISSING


@dataclass(frozen=True)
class FetchConfig(Transfers):
    """Options of ``python -m specahd.fetch``; without a mirror, it only verifies files."""

    mirror: str | None = None
    folder: str = "data"


SCHEMAS: Mapping[str, type] = {
    "train": TrainConfig,
    "evaluate": EvaluateConfig,
    "solve": SolveConfig,
    "prepare": PrepareConfig,
    "compile": CompileConfig,
    "track": TrackConfig,
    "report": ReportConfig,
    "fetch": FetchConfig,
    "select": SelectConfig,
    "embed": ServerSettings,
}


def register_schemas() -> None:
    """Register the schemas, under the names that ``conf/*.yaml`` use, and a resolver."""
    register_choose()
    for name, schema in SCHEMAS.items():
        node = OmegaConf.structured(schema)
        for option, kind in get_type_hints(schema).items():
            # A class without a default, such as the budget, still defines its options.
            if is_dataclass(kind) and OmegaConf.is_missing(node, option):
                node[option] = kind
        _unfreeze(node)
        ConfigStore.instance().store(name=f"{name}_schema", node=node, provider="specahd")


def _unfreeze(node: DictConfig) -> None:
    """Make the options of frozen classes writable; OmegaConf makes them read-only."""
    OmegaConf.set_readonly(node, None)
    for option in node:
        if not OmegaConf.is_missing(node, option) and isinstance(node[option], DictConfig):
            _unfreeze(node[option])


def validate(config: DictConfig) -> None:
    """Refuse a composed configuration with an unknown option, no value, or one out of range.

    Raises
    ------
    ConfigError
        The message is one sentence with the option and its accepted values.
    """
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
