"""What each door accepts: types refused by Hydra at composition, ranges refused here.

The values are in ``conf/``; a field without one there has its default here. A
group whose choices bring keys of their own (``_target_`` and its arguments) is
``Any``: Hydra still refuses a key that the chosen file does not have.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from hydra.core.config_store import ConfigStore
from omegaconf import MISSING, DictConfig, OmegaConf

from specahd.core.errors import ConfigError

LEVELS = ("both", "lower", "upper")
ACCEPT = ("feasible", "improving")
STUDIES = ("routing",)
REQUIRED = ("available", "strict")
TIERS = ("auto", "interpreted", "compiled")


@dataclass
class Pools:
    """Where the instance pools are, and the seed that made them."""

    dir: str = "pools"
    seed: int = 2024

    def validate(self) -> None:
        """Refuse values out of range."""
        _within("pools.seed", self.seed, 0)


@dataclass
class Budget:
    """Programs, rounds, what replies may cost, and how many instances are used (None: all)."""

    name: str = MISSING
    programs: int = MISSING
    rounds: int = 4
    lower_share: float = 0.5
    max_cost: float | None = None
    max_tokens: int | None = None
    lower_train: int | None = None
    upper_train: int | None = None
    selection: int | None = None
    validation: int | None = None

    def validate(self) -> None:
        """Refuse values out of range."""
        _within("budget.programs", self.programs, 0)
        _within("budget.rounds", self.rounds, 1)
        _within("budget.lower_share", self.lower_share, 0, 1)
        if self.max_cost is not None:
            _within("budget.max_cost", self.max_cost, 0)
        if self.max_tokens is not None:
            _within("budget.max_tokens", self.max_tokens, 0)
        for pool in ("lower_train", "upper_train", "selection", "validation"):
            count = getattr(self, pool)
            if count is not None:
                _within(f"budget.{pool}", count, 1)


@dataclass
class Penalty:
    """Ω of the upper utility U - λΩ: λ and α (SPEC section 5)."""

    weight: float = 1.0
    empty: float = 0.01
    rejected: float = 0.005
    rolled_back: float = 0.005

    def validate(self) -> None:
        """Refuse values out of range."""
        for name in ("weight", "empty", "rejected", "rolled_back"):
            _within(f"search.penalty.{name}", getattr(self, name), 0)


@dataclass
class Search:
    """How the search goes (SPEC sections 4 to 6)."""

    levels: str = "both"
    repertoire: str | None = None
    lag: int = 8
    samplers: int = 4
    beta: float = 0.5
    repertoire_size: int = 10
    neighbours: int = 5
    cells: int = 4000
    penalty: Penalty = field(default_factory=Penalty)
    accept: str = "improving"

    def validate(self) -> None:
        """Refuse values out of range, and a frozen repertoire too many or too few."""
        _one_of("search.levels", self.levels, LEVELS)
        if self.repertoire is None and self.levels == "upper":
            raise ConfigError("Expected search.repertoire=CHECKPOINT with search.levels=upper.")
        if self.repertoire is not None and self.levels != "upper":
            raise ConfigError(
                "Expected search.levels=upper with search.repertoire, which freezes "
                f"the lower level, got search.levels={self.levels}."
            )
        _within("search.lag", self.lag, 1)
        _within("search.samplers", self.samplers, 1, 64)
        _within("search.beta", self.beta, 0, 1)
        _within("search.repertoire_size", self.repertoire_size, 1)
        _within("search.neighbours", self.neighbours, 1)
        _within("search.cells", self.cells, 1)
        self.penalty.validate()
        _one_of("search.accept", self.accept, ACCEPT)


@dataclass
class Limits:
    """CPU seconds of a call and of a candidate's round; memory of a child in GiB."""

    upper_call: float = 120
    lower_call: float = 10
    candidate: float = 120
    memory_gb: float = 2

    def validate(self) -> None:
        """Refuse values out of range."""
        for name in ("upper_call", "lower_call", "candidate", "memory_gb"):
            value = getattr(self, name)
            _within(f"limits.{name}", value, 0.001, 1e6)


@dataclass
class Tiers:
    """Which lower programs run compiled.

    ``auto`` compiles those whose first tasks take ``steps`` construction steps or
    more; ``interpreted`` compiles none, ``compiled`` all that numba accepts. In
    either case both tiers must act alike on ``probes`` tasks.
    """

    choose: str = "auto"
    steps: int = 30_000
    probes: int = 8

    def validate(self) -> None:
        """Refuse values out of range."""
        _one_of("tiers.choose", self.choose, TIERS)
        _within("tiers.steps", self.steps, 0)
        _within("tiers.probes", self.probes, 1)


@dataclass
class SandboxOptions:
    """Whether to run where a layer of the sandbox lacks: as ``available``, or not (``strict``)."""

    require: str = "available"

    def validate(self) -> None:
        """Refuse values out of range."""
        _one_of("sandbox.require", self.require, REQUIRED)


class Schema(Protocol):
    """The schema of one door."""

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
        _within("seed", self.seed, 0)
        for part in (self.pools, self.budget, self.search, self.limits, self.sandbox, self.tiers):
            part.validate()
        _check_workers(self.executor)


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
            _one_of("accept", self.accept, ACCEPT)
        if self.study is not None:
            _one_of("study", self.study, STUDIES)
        self.pools.validate()
        self.limits.validate()
        self.sandbox.validate()
        _check_workers(self.executor)


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
        """Accept any run directory; the door looks into it."""


SCHEMAS: Mapping[str, type[Schema]] = {
    "train": TrainConfig,
    "evaluate": EvaluateConfig,
    "prepare": PrepareConfig,
    "track": TrackConfig,
}


def register() -> None:
    """Tell Hydra the schemas, under the names that ``conf/*.yaml`` ask for."""
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


def _check_workers(executor: Mapping[str, Any]) -> None:
    workers = executor.get("workers")
    # The group is open, so Hydra did not check the type.
    if not isinstance(workers, int) or isinstance(workers, bool):
        raise ConfigError(f"Expected executor.workers to be an integer, got {workers!r}.")
    _within("executor.workers", workers, 1, 64)


def _within(name: str, value: float, low: float, high: float | None = None) -> None:
    # Written so that nan is refused too.
    if value >= low and (high is None or value <= high):
        return
    accepted = f"of at least {low}" if high is None else f"in [{low}, {high}]"
    raise ConfigError(f"Expected {name} {accepted}, got {value}.")


def _one_of(name: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise ConfigError(f"Expected {name} to be one of {', '.join(choices)}, got {value!r}.")
