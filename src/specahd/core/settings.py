"""What a run is told besides its budget, each value with the range it accepts.

Every class is a group of options of the same name in ``conf/``, as Hydra composes it, and what
the library itself takes. Messages name values as options.
"""

from dataclasses import dataclass, field, fields
from enum import StrEnum

from specahd.core.errors import ConfigError
from specahd.core.ranges import integer_within, number_within, one_of, within

LEVELS = ("both", "lower", "upper")
REQUIRED = ("available", "strict")
TIERS = ("auto", "interpreted", "compiled")
REPEATS = ("uppers", "passes", "tries")
SEEDS = ("single", "varied")
INCUMBENTS = ("baseline", "repaired")
EXTENSIONS = (*REPEATS, "seeds", "incumbents")
"""Options of ``search`` that the paper does not have; their defaults are its system."""
LARGEST_CAPACITY = 2**31 - 1
POOLS_SEED = 2024
"""The seed of the generated pools, unless one is given."""
MAX_SEED = 2**63 - 1
"""The largest seed of solving."""


class Accept(StrEnum):
    """When a feasible merge replaces the incumbent."""

    FEASIBLE = "feasible"
    """Always: the paper's Γ."""
    IMPROVING = "improving"
    """Only when it costs less."""


ACCEPTS = tuple(policy.value for policy in Accept)


@dataclass(frozen=True, slots=True)
class Pools:
    """Where the instance pools are, and the seed that makes them (``pools``).

    Raises
    ------
    ConfigError
        The seed is negative.
    """

    dir: str = "pools"
    seed: int = POOLS_SEED

    def __post_init__(self) -> None:
        within("pools.seed", self.seed, 0)


@dataclass(frozen=True, slots=True)
class Penalty:
    """λ and α of Ω (``search.penalty``): the weight, then empty output, rejections, rollbacks.

    Raises
    ------
    ConfigError
        A value is negative.
    """

    weight: float = 1.0
    empty: float = 0.01
    rejected: float = 0.005
    rolled_back: float = 0.005

    def __post_init__(self) -> None:
        for name in ("weight", "empty", "rejected", "rolled_back"):
            within(f"search.penalty.{name}", getattr(self, name), 0)


@dataclass(frozen=True, slots=True)
class Settings:
    """How a search goes (``search``).

    Parameters
    ----------
    levels
        ``both``; ``lower`` keeps the upper seed program; ``upper`` keeps a given repertoire.
    repertoire
        The directory of the checkpoint that gives it, with ``levels="upper"`` alone.
    lag
        How many samples are in flight, which is part of the experiment.
    samplers
        How many requests are made at once, which is not.
    finalists
        How many of a round's best upper programs are scored on the selection pool.
    beta, repertoire_size
        β and q of J.
    neighbours
        k of the router.
    incumbents
        Which solutions are trained on: ``baseline``, those of B, or ``repaired``, from the second
        round on also what the system makes of them, each of its upper programs in one pass.
    seeds
        Which programs by hand a search begins with: ``single``, those of its contract, or
        ``varied``, also those that choose regions in other ways.
    tries
        How many members rebuild a region, the first ones that the router ranks.
    passes
        Most passes over a solution.
    uppers
        How many upper programs a round keeps at most; each makes passes in its turn.
    cells
        B_L, the largest dense table.
    penalty
        Ω of the upper utility U - λΩ.
    accept
        A value of :class:`Accept`.

    Raises
    ------
    ConfigError
        A value is out of its range, or a repertoire is given to the wrong levels or to none.
    """

    levels: str = "both"
    repertoire: str | None = None
    lag: int = 8
    samplers: int = 4
    finalists: int = 1
    beta: float = 0.5
    repertoire_size: int = 10
    neighbours: int = 5
    incumbents: str = INCUMBENTS[0]
    seeds: str = SEEDS[0]
    tries: int = 1
    passes: int = 1
    uppers: int = 1
    cells: int = 4000
    penalty: Penalty = field(default_factory=Penalty)
    accept: str = Accept.IMPROVING.value

    def __post_init__(self) -> None:
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
        for name in ("finalists", "repertoire_size", "neighbours", *REPEATS, "cells"):
            within(f"search.{name}", getattr(self, name), 1)
        if self.passes < self.uppers:
            raise ConfigError(
                f"Expected search.passes of at least search.uppers={self.uppers}, since each upper "
                f"program makes a pass of its own, got {self.passes}."
            )
        for name, values in (("seeds", SEEDS), ("incumbents", INCUMBENTS), ("accept", ACCEPTS)):
            one_of(f"search.{name}", getattr(self, name), values)


@dataclass(frozen=True, slots=True)
class CallLimits:
    """CPU seconds of a call and of a candidate's round, GiB of a child (``limits``).

    Raises
    ------
    ConfigError
        A value is not in [0.001, 1e6].
    """

    upper_call: float = 120.0
    lower_call: float = 10.0
    candidate: float = 120.0
    memory_gb: float = 2.0

    def __post_init__(self) -> None:
        for name in ("upper_call", "lower_call", "candidate", "memory_gb"):
            within(f"limits.{name}", getattr(self, name), 0.001, 1e6)

    @property
    def memory_bytes(self) -> int:
        """``memory_gb`` in bytes."""
        return int(self.memory_gb * 2**30)


@dataclass(frozen=True, slots=True)
class TierRule:
    """Which lower programs run compiled (``tiers``): a rule on counts, never on seconds.

    A compiled program is one that numba accepts, and that acts alike in both tiers on ``probes``
    of the first tasks that it is given.

    Parameters
    ----------
    choose
        ``auto`` compiles a program when its first tasks take ``steps`` construction steps or
        more in all; ``interpreted`` compiles none, ``compiled`` every one.

    Raises
    ------
    ConfigError
        A value is out of its range.
    """

    choose: str = "auto"
    steps: int = 30_000
    probes: int = 8

    def __post_init__(self) -> None:
        one_of("tiers.choose", self.choose, TIERS)
        within("tiers.steps", self.steps, 0)
        within("tiers.probes", self.probes, 1)

    def applies(self, steps: int) -> bool:
        """Say whether to compile a program whose first tasks take so many steps."""
        return self.choose == "compiled" or (self.choose == "auto" and steps >= self.steps)


@dataclass(frozen=True)
class Confinement:
    """Whether to run where the host lacks a layer of the sandbox (``sandbox``).

    Parameters
    ----------
    require
        ``available`` runs with what the host has, ``strict`` does not.

    Raises
    ------
    ConfigError
        ``require`` is neither.
    """

    require: str = field(default="available", kw_only=True)

    def __post_init__(self) -> None:
        one_of("sandbox.require", self.require, REQUIRED)


@dataclass(frozen=True)
class SearchLimit:
    """How long solving goes on: for so many seconds, or for so many repairs.

    Parameters
    ----------
    time_limit
        Seconds of wall-clock time.
    repairs
        Customers that are inserted again, in place of it; None where time is the limit.
    target
        A cost at which it ends earlier; None for none.

    Raises
    ------
    ConfigError
        A value is out of its range.
    """

    time_limit: float = 30.0
    repairs: int | None = None
    target: float | None = None

    def __post_init__(self) -> None:
        number_within("time_limit", self.time_limit, 0, 1e7)
        if self.repairs is not None:
            integer_within("repairs", self.repairs, 0)
        if self.target is not None:
            number_within("target", self.target, 0)


@dataclass(frozen=True)
class TableOptions:
    """What a table of stops (CSV) leaves open.

    Parameters
    ----------
    capacity
        Of each vehicle, in the unit of the demands.
    matrix
        The file with the distances among the stops, in the order of the table.
    ignore
        The names of columns to leave out, with commas between them.
    split
        Whether a customer's demand may be delivered in parts.
    speed
        What is travelled in one unit of time, in the unit of distances.

    Raises
    ------
    ConfigError
        A value is out of its range.
    """

    capacity: float | None = None
    matrix: str | None = None
    ignore: str | None = None
    split: bool = False
    speed: float | None = None

    def __post_init__(self) -> None:
        if self.capacity is not None:
            number_within("capacity", self.capacity, 1e-6, LARGEST_CAPACITY)
        if self.speed is not None:
            within("speed", self.speed, 1e-6, 1e6)

    @property
    def given(self) -> list[str]:
        """The names of the options that say something."""
        return [each.name for each in fields(self) if getattr(self, each.name) not in (None, False)]


@dataclass(frozen=True)
class Transfers:
    """How files are fetched over a network.

    Parameters
    ----------
    connections
        How many at a time.
    attempts
        How often a file is tried before the fetch fails.
    timeout
        Seconds of silence after which an attempt has failed.

    Raises
    ------
    ConfigError
        A value is out of its range.
    """

    connections: int = field(default=8, kw_only=True)
    attempts: int = field(default=3, kw_only=True)
    timeout: float = field(default=30.0, kw_only=True)

    def __post_init__(self) -> None:
        within("connections", self.connections, 1, 64)
        within("attempts", self.attempts, 1, 20)
        within("timeout", self.timeout, 0.1, 3600)


def check_workers(workers: object) -> None:
    """Refuse a number of workers that is none, or out of range.

    Raises
    ------
    ConfigError
        It is not an integer in [1, 64].
    """
    integer_within("executor.workers", workers, 1, 64)
