"""Options that several commands share, each with the range it accepts."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from omegaconf import MISSING

from specahd.core import budget
from specahd.core.errors import ConfigError
from specahd.core.ranges import one_of, within

LEVELS = ("both", "lower", "upper")
ACCEPT = ("feasible", "improving")
REQUIRED = ("available", "strict")
TIERS = ("auto", "interpreted", "compiled")


@dataclass
class Pools:
    """Where the instance pools are, and the seed that made them."""

    dir: str = "pools"
    seed: int = 2024

    def validate(self) -> None:
        """Refuse values out of range."""
        within("pools.seed", self.seed, 0)


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
        values = asdict(self)
        del values["name"]
        # The library's own says what each may be.
        budget.Budget(**values)


@dataclass
class Penalty:
    """Ω of the upper utility U - λΩ: λ and α (the paper, Learning Where to Repair)."""

    weight: float = 1.0
    empty: float = 0.01
    rejected: float = 0.005
    rolled_back: float = 0.005

    def validate(self) -> None:
        """Refuse values out of range."""
        for name in ("weight", "empty", "rejected", "rolled_back"):
            within(f"search.penalty.{name}", getattr(self, name), 0)


@dataclass
class Search:
    """How the search goes (the paper, Proposed Method)."""

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
        one_of("search.levels", self.levels, LEVELS)
        if self.repertoire is None and self.levels == "upper":
            raise ConfigError("Expected search.repertoire=CHECKPOINT with search.levels=upper.")
        if self.repertoire is not None and self.levels != "upper":
            raise ConfigError(
                "Expected search.levels=upper with search.repertoire, which freezes "
                f"the lower level, got search.levels={self.levels}."
            )
        within("search.lag", self.lag, 1)
        within("search.samplers", self.samplers, 1, 64)
        within("search.beta", self.beta, 0, 1)
        within("search.repertoire_size", self.repertoire_size, 1)
        within("search.neighbours", self.neighbours, 1)
        within("search.cells", self.cells, 1)
        self.penalty.validate()
        one_of("search.accept", self.accept, ACCEPT)


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
            within(f"limits.{name}", value, 0.001, 1e6)


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
        one_of("tiers.choose", self.choose, TIERS)
        within("tiers.steps", self.steps, 0)
        within("tiers.probes", self.probes, 1)


@dataclass
class SandboxOptions:
    """Whether to run where a layer of the sandbox lacks: as ``available``, or not (``strict``)."""

    require: str = "available"

    def validate(self) -> None:
        """Refuse values out of range."""
        one_of("sandbox.require", self.require, REQUIRED)


def check_workers(executor: Mapping[str, Any]) -> None:
    """Refuse a number of workers that is none, or out of range."""
    workers = executor.get("workers")
    # The group is open, so Hydra did not check the type.
    if not isinstance(workers, int) or isinstance(workers, bool):
        raise ConfigError(f"Expected executor.workers to be an integer, got {workers!r}.")
    within("executor.workers", workers, 1, 64)
