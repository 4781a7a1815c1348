"""What each command accepts: types refused by Hydra at composition, ranges refused here.

The values are in ``conf/``; a field without one there has its default here. A
group whose choices bring keys of their own (``_target_`` and its arguments) is
``Any``: Hydra still refuses a key that the chosen file does not have.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from hydra.core.config_store import ConfigStore
from omegaconf import MISSING, DictConfig, OmegaConf

from specahd.config.options import (
    ACCEPT,
    Budget,
    Limits,
    Pools,
    SandboxOptions,
    Search,
    Tiers,
    check_workers,
)
from specahd.core.errors import ConfigError
from specahd.core.ranges import one_of, within
from specahd.core.services import check_services

STUDIES = ("routing",)
DEVICES = ("auto", "cpu", "cuda")


class Schema(Protocol):
    """The schema of one command."""

    def validate(self) -> None:
        """Refuse values out of range, with one sentence."""


@dataclass
class TrainConfig:
    """What ``python -m specahd.train`` accepts."""

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
    budget: Budget = field(default_factory=Budget)
    search: Search = field(default_factory=Search)
    limits: Limits = field(default_factory=Limits)
    sandbox: SandboxOptions = field(default_factory=SandboxOptions)
    tiers: Tiers = field(default_factory=Tiers)

    def validate(self) -> None:
        """Refuse values out of range."""
        within("seed", self.seed, 0)
        for part in (self.pools, self.budget, self.search, self.limits, self.sandbox, self.tiers):
            part.validate()
        check_workers(self.executor)
        # Before anything keeps the command line.
        check_services("llm", self.llm)
        check_services("memory", self.memory)


@dataclass
class EvaluateConfig:
    """What ``python -m specahd.evaluate`` accepts; null options follow the checkpoint."""

    checkpoint: str = MISSING
    pool: str | None = None
    instance: str | None = None
    incumbent: str | None = None
    baseline: str | None = None
    accept: str | None = None
    study: str | None = None
    executor: Any = MISSING
    tracking: Any = MISSING
    pools: Pools = field(default_factory=Pools)
    limits: Limits = field(default_factory=Limits)
    sandbox: SandboxOptions = field(default_factory=SandboxOptions)

    def validate(self) -> None:
        """Refuse values out of range, and anything but one source of instances."""
        if (self.pool is None) == (self.instance is None):
            got = "neither" if self.pool is None else "both"
            raise ConfigError(f"Expected either pool=NAME or instance=FILE, got {got}.")
        if self.incumbent is not None and (self.instance is None or self.baseline is not None):
            raise ConfigError("Expected incumbent=FILE with instance=FILE and without baseline.")
        if self.accept is not None:
            one_of("accept", self.accept, ACCEPT)
        if self.study is not None:
            one_of("study", self.study, STUDIES)
        self.pools.validate()
        self.limits.validate()
        self.sandbox.validate()
        check_workers(self.executor)


@dataclass
class PrepareConfig:
    """What ``python -m specahd.prepare`` accepts."""

    problem: Any = MISSING
    verify: str | None = None
    pools: Pools = field(default_factory=Pools)

    def validate(self) -> None:
        """Refuse values out of range."""
        self.pools.validate()


@dataclass
class TrackConfig:
    """What ``python -m specahd.track`` accepts."""

    run: str = MISSING
    tracking: Any = MISSING

    def validate(self) -> None:
        """Accept any run directory; the command looks into it."""


@dataclass
class SelectConfig:
    """What ``python -m specahd.select`` accepts; null options let any run count."""

    problem: Any = MISSING
    budget: Any = None
    sweep: str | None = None
    tracking: Any = MISSING
    pools: Pools = field(default_factory=Pools)

    def validate(self) -> None:
        """Refuse values out of range, and a tracker that keeps no runs."""
        if "uri" not in self.tracking:
            raise ConfigError("Expected tracking=mlflow: runs are selected from its store.")
        if self.sweep is not None and not re.fullmatch("[0-9a-f]{32}", self.sweep):
            raise ConfigError(f"Expected sweep to be a run id of MLflow, got {self.sweep!r}.")
        self.pools.validate()


@dataclass
class ServedModel:
    """A model of the embedding server: folder (None: its name), prefix, tokens (None: all)."""

    path: str | None = None
    prefix: str = ""
    max_tokens: int | None = None


@dataclass
class EmbedConfig:
    """What ``python -m specahd.embed`` accepts."""

    host: str = "127.0.0.1"
    port: int = 8765
    device: str = "auto"
    models_dir: str = "embedding_model"
    models: dict[str, ServedModel] = field(default_factory=dict)
    serve: list[str] | None = None
    trust_remote_code: bool = False
    batch_size: int = 32
    wait_ms: float = 5
    queue: int = 1024
    max_texts: int = 256
    max_characters: int = 32768
    timeout: float = 30
    connections: int = 512

    def validate(self) -> None:
        """Refuse values out of range, and models that are not described."""
        within("port", self.port, 0, 65535)
        one_of("device", self.device, DEVICES)
        if self.serve == [] or not self.models:
            raise ConfigError("Expected serve to name at least one model, got none.")
        for name in self.serve or ():
            one_of("serve", name, tuple(self.models))
        for name, model in self.models.items():
            if model.max_tokens is not None:
                within(f"models.{name}.max_tokens", model.max_tokens, 1)
        within("batch_size", self.batch_size, 1, 4096)
        within("wait_ms", self.wait_ms, 0, 1000)
        within("max_texts", self.max_texts, 1, 4096)
        within("max_characters", self.max_characters, 1, 1_000_000)
        within("timeout", self.timeout, 0.1, 3600)
        within("connections", self.connections, 1, 65536)
        # Else a request that is allowed could never be answered.
        within("queue", self.queue, self.max_texts)


@dataclass
class ReportConfig:
    """What ``python -m specahd.report`` accepts; evaluations None: the runs' own rows."""

    runs: str = MISSING
    evaluations: str | None = None
    tracking: Any = MISSING

    def validate(self) -> None:
        """Accept any folders; the command looks into them."""


@dataclass
class FetchConfig:
    """What ``python -m specahd.fetch`` accepts; mirror None: only verify what is there."""

    mirror: str | None = None
    folder: str = "data"
    connections: int = 8
    attempts: int = 3
    timeout: float = 30

    def validate(self) -> None:
        """Refuse values out of range."""
        within("connections", self.connections, 1, 64)
        within("attempts", self.attempts, 1, 20)
        within("timeout", self.timeout, 0.1, 3600)


SCHEMAS: Mapping[str, type[Schema]] = {
    "train": TrainConfig,
    "evaluate": EvaluateConfig,
    "prepare": PrepareConfig,
    "track": TrackConfig,
    "report": ReportConfig,
    "fetch": FetchConfig,
    "select": SelectConfig,
    "embed": EmbedConfig,
}


def register() -> None:
    """Tell Hydra the schemas, under the names that ``conf/*.yaml`` ask for, and our resolver.

    ``${choose:KEY,{KEY:VALUE},OTHER}`` is what a table has for a key, else the last value.
    """
    OmegaConf.register_new_resolver(
        "choose", lambda key, table, other: table.get(key, other), replace=True
    )
    for name, schema in SCHEMAS.items():
        ConfigStore.instance().store(name=f"{name}_schema", node=schema, provider="specahd")


def validate(config: DictConfig) -> None:
    """Refuse a composed configuration that lacks a value or has one out of range.

    Raises
    ------
    ConfigError
        With one sentence that names the option and what it accepts.
    """
    missing = sorted(OmegaConf.missing_keys(config))
    if missing:
        raise ConfigError(f"{missing[0]} has no value; write {missing[0]}=VALUE.")
    schema: Schema = OmegaConf.to_object(config)  # type: ignore[assignment]  # of the schema's type
    schema.validate()
