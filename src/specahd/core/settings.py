"""The options of a run besides its budget, each with its accepted range.

Every class is the group of options of the same name in ``conf/``, as Hydra composes it. The
library takes the same classes as arguments. Messages name values as options.
"""

from dataclasses import dataclass, field, fields
from enum import StrEnum

from specahd.core.errors import ConfigError
from specahd.core.ranges import (
    check_choice,
    check_integer,
    check_number,
    check_options,
    check_range,
    option,
)

LEVELS = ("both", "lower", "upper")
REQUIRED = ("available", "strict")
TIERS = ("auto", "interpreted", "compiled")
REPEATS = ("uppers", "passes", "tries")
SEEDS = ("single", "varied")
INCUMBENTS = ("baseline", "repaired")
EXTENSIONS = (*REPEATS, "seeds", "incumbents")
"""Options of ``search`` that the paper does not have; their defaults give the paper's system."""
LARGEST_CAPACITY = 2**31 - 1
POOLS_SEED = 2024
"""The default seed of the generated pools."""
MAX_SEED = 2**63 - 1
"""The largest seed of solving."""


class Accept(StrEnum):
    """Rules for when a feasible merge replaces the incumbent."""

    FEASIBLE = "feasible"
    """Always: the paper's Γ."""
    IMPROVING = "improving"
    """Only when it costs less."""


ACCEPTS = tuple(policy.value for policy in Accept)


@dataclass(frozen=True, slots=True)
class Pools:
    """Folder of the instance pools, and the seed that generates them (``pools``).

    Raises
    ------
    ConfigError
        The seed is negative.
    """

    dir: str = option("pools", "where the instance pools are, made there if they are missing")
    seed: int = option(POOLS_SEED, "the seed that makes the pools, at least 0", 0)

    def __post_init__(self) -> None:
        check_options(self, "pools.")


@dataclass(frozen=True, slots=True)
class Penalty:
    """λ (the weight) and α of Ω (``search.penalty``), for empty output, rejections, rollbacks.

    Raises
    ------
    ConfigError
        A value is negative.
    """

    weight: float = option(1.0, "weight of the penalties below in an upper program's score", 0)
    empty: float = option(0.01, "penalty of an instance without a region", 0)
    rejected: float = option(0.005, "penalty of proposals that are no regions", 0)
    rolled_back: float = option(0.005, "penalty of rebuilds that end infeasible", 0)

    def __post_init__(self) -> None:
        check_options(self, "search.penalty.")


@dataclass(frozen=True, slots=True)
class Settings:
    """Options of a search (``search``).

    Each field has its description. ``repertoire`` is for ``levels="upper"`` only. ``beta`` and
    ``repertoire_size`` are β and q of J, ``neighbours`` is k of the router, ``cells`` is B_L.

    Raises
    ------
    ConfigError
        A value is out of its range, or a repertoire is given to the wrong levels or to none.
    """

    levels: str = option("both", "which are searched: both, lower, upper", choices=LEVELS)
    repertoire: str | None = option(
        None, "the checkpoint whose repertoire search.levels=upper keeps"
    )
    lag: int = option(8, "samples in flight at most; part of the experiment", 1)
    samplers: int = option(4, "requests made at once, 1 to 64; no result depends on it", 1, 64)
    finalists: int = option(
        1, "how many of a round's upper programs selection tries, at least 1", 1
    )
    beta: float = option(0.5, "β of a repertoire's score J, 0 to 1", 0, 1)
    repertoire_size: int = option(10, "most programs of a repertoire, at least 1", 1)
    neighbours: int = option(5, "stored tasks that route a region, at least 1", 1)
    incumbents: str = option(
        INCUMBENTS[0],
        "solutions trained on: baseline, or repaired ones too from round 2 on",
        choices=INCUMBENTS,
    )
    seeds: str = option(
        SEEDS[0],
        "single (of the contract) or varied (other programs by hand too)",
        choices=SEEDS,
    )
    tries: int = option(
        1, "members that rebuild a region; the cheapest result counts, at least 1", 1
    )
    passes: int = option(1, "most passes over a solution, at least 1; they end when none gains", 1)
    uppers: int = option(1, "most upper programs that take turns in the passes, at least 1", 1)
    cells: int = option(4000, "most measurements of a lower round: tasks times programs", 1)
    penalty: Penalty = field(default_factory=Penalty)
    accept: str = option(
        Accept.IMPROVING.value,
        "improving, or feasible: the paper's rule, dearer rebuilds too",
        choices=ACCEPTS,
    )

    def __post_init__(self) -> None:
        check_options(self, "search.")
        if self.repertoire is None and self.levels == "upper":
            raise ConfigError("Expected search.repertoire=CHECKPOINT with search.levels=upper.")
        if self.repertoire is not None and self.levels != "upper":
            raise ConfigError(
                "Expected search.levels=upper with search.repertoire, which freezes "
                f"the lower level, got search.levels={self.levels}."
            )
        if self.passes < self.uppers:
            raise ConfigError(
                f"Expected search.passes of at least search.uppers={self.uppers}, since each upper "
                f"program makes a pass of its own, got {self.passes}."
            )


@dataclass(frozen=True, slots=True)
class CallLimits:
    """Limits of calls and candidates in CPU seconds, and of a child in GiB (``limits``).

    Raises
    ------
    ConfigError
        A value is not in [0.001, 1e6].
    """

    upper_call: float = option(120.0, "CPU seconds of an upper program on one instance", 0.001, 1e6)
    lower_call: float = option(10.0, "CPU seconds of a lower program on one region", 0.001, 1e6)
    candidate: float = option(120.0, "CPU seconds of a lower program in one round", 0.001, 1e6)
    memory_gb: float = option(2.0, "GiB that a program's process may take", 0.001, 1e6)

    def __post_init__(self) -> None:
        check_options(self, "limits.")

    @property
    def memory_bytes(self) -> int:
        """``memory_gb`` in bytes."""
        return int(self.memory_gb * 2**30)


@dataclass(frozen=True, slots=True)
class TierRule:
    """The rule that selects the lower programs to compile (``tiers``), by counts, not by seconds.

    A program runs compiled only if numba accepts it, and if it acts alike in both tiers on
    ``probes`` of its first tasks.

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

    choose: str = option(
        "auto", "which lower programs are compiled: auto, interpreted, compiled", choices=TIERS
    )
    steps: int = option(30_000, "auto compiles those with so many construction steps to make", 0)
    probes: int = option(8, "tasks on which compiled and interpreted must act alike", 1)

    def __post_init__(self) -> None:
        check_options(self, "tiers.")

    def applies(self, steps: int) -> bool:
        """Return whether to compile a program whose first tasks take ``steps`` steps."""
        return self.choose == "compiled" or (self.choose == "auto" and steps >= self.steps)


@dataclass(frozen=True)
class Confinement:
    """The requirement on the sandbox layers that a host supports (``sandbox``).

    Parameters
    ----------
    require
        ``available`` runs with the layers that the host has; ``strict`` requires all layers.

    Raises
    ------
    ConfigError
        ``require`` is neither of these.
    """

    require: str = field(default="available", kw_only=True)

    def __post_init__(self) -> None:
        check_choice("sandbox.require", self.require, REQUIRED)


@dataclass(frozen=True)
class SearchLimit:
    """The limit of a solve: seconds, or a number of repairs.

    Parameters
    ----------
    time_limit
        Seconds of wall-clock time.
    repairs
        Number of customers to insert again, which replaces the time limit; None for the time limit.
    target
        A cost at which the solve ends earlier; None for no target.

    Raises
    ------
    ConfigError
        A value is out of its range.
    """

    time_limit: float = 30.0
    repairs: int | None = None
    target: float | None = None

    def __post_init__(self) -> None:
        check_number("time_limit", self.time_limit, 0, 1e7)
        if self.repairs is not None:
            check_integer("repairs", self.repairs, 0)
        if self.target is not None:
            check_number("target", self.target, 0)


@dataclass(frozen=True)
class TableOptions:
    """Options that a table of stops (CSV) does not state, such as the capacity.

    Parameters
    ----------
    capacity
        The capacity of each vehicle, in the unit of the demands.
    matrix
        The file with the distances among the stops, in the order of the table.
    ignore
        The names of columns to leave out, separated by commas.
    split
        Whether a customer's demand may be delivered in parts.
    speed
        Distance travelled in one unit of time, in the unit of distances.

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
            check_number("capacity", self.capacity, 1e-6, LARGEST_CAPACITY)
        if self.speed is not None:
            check_range("speed", self.speed, 1e-6, 1e6)

    @property
    def given(self) -> list[str]:
        """The names of the options that are set."""
        return [each.name for each in fields(self) if getattr(self, each.name) not in (None, False)]


@dataclass(frozen=True)
class Transfers:
    """Options for fetching files over a network.

    Parameters
    ----------
    connections
        Number of connections at a time.
    attempts
        Number of attempts for a file before the fetch fails.
    timeout
        Seconds without data after which an attempt fails.

    Raises
    ------
    ConfigError
        A value is out of its range.
    """

    connections: int = field(default=8, kw_only=True)
    attempts: int = field(default=3, kw_only=True)
    timeout: float = field(default=30.0, kw_only=True)

    def __post_init__(self) -> None:
        check_range("connections", self.connections, 1, 64)
        check_range("attempts", self.attempts, 1, 20)
        check_range("timeout", self.timeout, 0.1, 3600)


def check_workers(workers: object) -> None:
    """Refuse an invalid number of workers.

    Raises
    ------
    ConfigError
        It is not an integer in [1, 64].
    """
    check_integer("executor.workers", workers, 1, 64)
