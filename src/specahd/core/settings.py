"""The options of a run besides its budget, each with its accepted range.

Every class is the group of options of the same name in ``conf/``, as Hydra composes it. The
library takes the same classes as arguments. Messages name values as options.
"""

from dataclasses import dataclass, fields
from enum import StrEnum
from math import fsum
from pathlib import Path
from typing import Any

from specahd.core.budget import Budget
from specahd.core.errors import ConfigError
from specahd.core.options import Effect, Option, check_options, option

LEVELS = ("both", "lower", "upper")
REQUIRED = ("available", "strict")
SEEDS = ("single", "varied")
INCUMBENTS = ("baseline", "repaired")
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


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """Options that a table of stops (CSV) does not state, such as the capacity.

    The capacity has the unit of the demands, ``speed`` that of distances in one unit of time.

    Raises
    ------
    ConfigError
        A value is out of its range.
    """

    capacity: float | None = option(
        None, "of a table of stops with demands: what a vehicle carries", 1e-6, LARGEST_CAPACITY
    )
    matrix: str | None = option(
        None, "of a table of stops: the file with the distances (CSV, .npy, JSON)"
    )
    durations: str | None = option(
        None, "beside matrix: the file with the times of the ways (CSV, .npy, JSON)"
    )
    ignore: str | None = option(None, "of a table of stops: columns to leave out, as phone,address")
    split: bool = option(False, "of a table of stops: whether demands may be split")
    speed: float | None = option(
        None, "of a table with times: distance in one unit of time; null: 1", 1e-6, 1e6
    )

    def __post_init__(self) -> None:
        check_options(self)

    @property
    def given(self) -> list[str]:
        """The names of the options that are set."""
        return _set(self, TableOptions)


def _set(options: Any, kind: type) -> list[str]:
    """Return the names of the options of a class that are neither None, False nor 0."""
    return [each.name for each in fields(kind) if getattr(options, each.name) not in (None, False)]


def listed(given: Any) -> list[str]:
    """Return the texts of an option that takes one or a list; empty if it has anything else."""
    texts = given if isinstance(given, list) else [given]
    return texts if all(isinstance(one, str) and one for one in texts) else []


SHARES = (0.3, 0.2, 0.2, 0.3)
"""The default shares of one's own instances for the four pools of a training."""


@dataclass(frozen=True)
class Pools(TableOptions):
    """Folder of the instance pools, and whose instances they hold (``pools``).

    ``files`` are the instances to split, in files and folders, or the folder of pools that were
    split before; None: instances are generated with ``seed``. The options of tables are for them.

    Raises
    ------
    ConfigError
        A value is out of its range.
    """

    dir: str = option(
        "pools",
        "where the instance pools are, made there if they are missing",
        effect=Effect.ACCESS,
    )
    seed: int = option(POOLS_SEED, "the seed that makes the pools, at least 0", 0)
    # A file or folder, or a list of them; Hydra has no type for this.
    files: Any = option(
        None, "your own instances: a folder, a file, or several; null: generated", newer=True
    )
    shares: list[float] = option(
        default_factory=lambda: list(SHARES),
        words="shares of files: lower_train, upper_train, selection, validation",
        newer=True,
    )
    near: float = option(
        0.8, "equal stops that keep two files in one pool, 0.01 to 1", 0.01, 1, newer=True
    )

    def __post_init__(self) -> None:
        check_options(self, "pools.")
        if len(self.shares) != len(SHARES) or not all(0 < share < 1 for share in self.shares):
            raise ConfigError(
                f"Expected pools.shares to be {len(SHARES)} numbers between 0 and 1, one for each "
                f"pool, got {list(self.shares)}."
            )
        if abs(fsum(self.shares) - 1) > 1e-6:
            raise ConfigError(
                f"Expected pools.shares to add up to 1, got {list(self.shares)}, "
                f"{fsum(self.shares):.6g} together."
            )
        if self.files is not None and not self.places:
            raise ConfigError(
                "Expected pools.files to be a folder, a file, or a list of them, got "
                f"{self.files!r}."
            )

    @property
    def places(self) -> list[str]:
        """Files and folders of ``files``."""
        return listed(self.files)

    def folder(self, problem: str) -> Path:
        """Return the folder of prepared pools; ``files`` is that folder, if given."""
        return Path(self.dir) / problem if self.files is None else Path(self.places[0])


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

    Each field has its description. ``repertoire`` is for ``levels="upper"`` only,
    ``initial_programs`` for the others; each names a checkpoint or the directory of its run.
    ``beta`` and ``repertoire_size`` are β and q of J, ``neighbours`` is k of the router, ``cells``
    is B_L.

    Raises
    ------
    ConfigError
        A value is out of its range, or a repertoire is given to the wrong levels or to none.
    """

    levels: str = option("both", "which are searched: both, lower, upper", choices=LEVELS)
    repertoire: str | None = option(
        None, "the checkpoint whose repertoire search.levels=upper keeps"
    )
    initial_programs: str | None = option(
        None, "a run: the search begins with its programs, not those by hand", newer=True
    )
    initial_levels: str | None = option(
        None,
        "the levels that begin with that run's: both, lower (or null), upper",
        choices=LEVELS,
        newer=True,
    )
    lag: int = option(8, "samples in flight at most; part of the experiment", 1)
    samplers: int = option(
        4, "requests made at once, 1 to 64; no result depends on it", 1, 64, effect=Effect.SPEED
    )
    finalists: int = option(
        1, "how many of a round's upper programs selection tries, at least 1", 1
    )
    halving: bool = option(
        False,
        "whether finalists leave by successive halving, in longer searches",
        newer=True,
    )
    beta: float = option(0.5, "β of a repertoire's score J, 0 to 1", 0, 1)
    repertoire_size: int = option(10, "most programs of a repertoire, at least 1", 1)
    neighbours: int = option(5, "stored tasks that route a region, at least 1", 1)
    incumbents: str = option(
        INCUMBENTS[0],
        "solutions trained on: baseline, or repaired ones too from round 2 on",
        choices=INCUMBENTS,
        newer=True,
    )
    seeds: str = option(
        SEEDS[0],
        "single (of the contract) or varied (other programs by hand too)",
        choices=SEEDS,
        newer=True,
    )
    tries: int = option(
        1, "members that rebuild a region; the cheapest result counts, at least 1", 1, newer=True
    )
    passes: int = option(
        1, "most passes over a solution, at least 1; they end when none gains", 1, newer=True
    )
    uppers: int = option(
        1,
        "most upper programs: all take turns, or one searches, at least 1",
        1,
        newer=True,
    )
    racing: bool = option(
        False, "whether a program that would not be kept ends after some tasks", newer=True
    )
    cells: int = option(4000, "most measurements of a lower round: tasks times programs", 1)
    penalty: Penalty = option(default_factory=Penalty)
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
        if self.initial_programs is not None and self.levels == "upper":
            raise ConfigError(
                "Expected search.levels=both or lower with search.initial_programs, got upper."
            )
        if self.levels == "lower" and self.initial_levels not in (None, "lower"):
            raise ConfigError(
                "Expected search.initial_levels=lower with search.levels=lower, got "
                f"{self.initial_levels}."
            )
        if self.initial_programs is None and self.initial_levels is not None:
            raise ConfigError(
                "Expected search.initial_programs=RUN with "
                f"search.initial_levels={self.initial_levels}."
            )

    @property
    def given(self) -> tuple[str, str] | None:
        """The option that names a checkpoint, and the checkpoint or its run; None: none does."""
        if self.repertoire is not None:
            return "repertoire", self.repertoire
        if self.initial_programs is not None:
            return "initial_programs", self.initial_programs
        return None


@dataclass(frozen=True, slots=True)
class CallLimits:
    """Limits of calls and candidates in CPU seconds, and of a child in GiB (``limits``).

    Raises
    ------
    ConfigError
        A value is not in [0.001, 1e6].
    """

    upper_call: float = option(10.0, "CPU seconds of an upper program on one instance", 0.001, 1e6)
    lower_call: float = option(1.0, "CPU seconds of a lower program on one region", 0.001, 1e6)
    lower_node: float | None = option(
        None,
        "CPU seconds for each node of a lower program's region; null: any",
        1e-6,
        1e6,
        newer=True,
    )
    candidate: float = option(120.0, "CPU seconds of a lower program in one round", 0.001, 1e6)
    instance: float | None = option(
        None,
        "CPU seconds of programs on an instance in passes; null: any",
        0.001,
        1e6,
        newer=True,
    )
    memory_gb: float = option(2.0, "GiB that a program's process may take", 0.001, 1e6)

    def __post_init__(self) -> None:
        check_options(self, "limits.")

    @property
    def memory_bytes(self) -> int:
        """``memory_gb`` in bytes."""
        return int(self.memory_gb * 2**30)

    def for_region(self, nodes: int) -> float:
        """Return the CPU seconds that ``lower_node`` gives a region of so many nodes; 0: any."""
        return (self.lower_node or 0.0) * nodes


FROZEN_LIMITS = CallLimits(upper_call=120.0, lower_call=10.0)
"""Limits of a finished checkpoint's programs: they run once, also on instances of 20,000 nodes."""


@dataclass(frozen=True, kw_only=True)
class Confinement:
    """The requirement on the sandbox layers that a host supports (``sandbox``).

    ``available`` runs with the layers that the host has; ``strict`` requires all layers.

    Raises
    ------
    ConfigError
        ``require`` is neither of these.
    """

    require: str = option(
        "available",
        "strict: do not run where a layer of the sandbox is missing",
        choices=REQUIRED,
    )

    def __post_init__(self) -> None:
        check_options(self, "sandbox.")


@dataclass(frozen=True)
class SearchLimit:
    """The limit of a solve: seconds, or a number of repairs.

    Raises
    ------
    ConfigError
        A value is out of its range.
    """

    time_limit: float = option(30.0, "seconds of construction and search, at least 0", 0, 1e7)
    repairs: int | None = option(None, "customers to insert again, in place of time_limit", 0)
    target: float | None = option(None, "a cost to compare with, at which the search ends", 0)

    def __post_init__(self) -> None:
        check_options(self)


@dataclass(frozen=True)
class SolveOptions(SearchLimit):
    """Options of a solve: its limit, and what searches.

    Raises
    ------
    ConfigError
        A value is out of its range.
    """

    seed: int = option(
        0, "for equal repairs, equal seeds give equal solutions; at least 0", 0, MAX_SEED
    )
    workers: int = option(
        1, "processes that search beside each other (cvrp, vrptw), 1 to 64", 1, 64
    )
    cluster: str | None = option(
        None, "the Ray cluster where they are: HOST:PORT or auto; null: here"
    )
    memory_gb: float = option(4.0, "GiB that a process of programs may take", 0.001, 1e6)


@dataclass(frozen=True)
class TuneOptions:
    """Options of a tuning.

    Raises
    ------
    ConfigError
        A value is out of its range.
    """

    evaluations: int = option(60, "proposals of constants, at least 2", 2)
    instances: int = option(32, "most instances of each pool, at least 2", 2)
    seed: int = option(0, "the seed of the proposals, at least 0", 0, MAX_SEED)

    def __post_init__(self) -> None:
        check_options(self)


@dataclass(frozen=True)
class FleetOptions:
    """Limits and prices of vehicles, in the units of the instance's file.

    Raises
    ------
    ConfigError
        A value is out of its range.
    """

    vehicles: int | None = option(None, "the most vehicles to use; null: no limit", 1)
    fixed_cost: float = option(0.0, "added to the cost for each vehicle used", 0, 1e9)
    max_distance: float | None = option(None, "the longest route; null: no limit", 1e-6, 1e9)
    max_duration: int | float | str | None = option(
        None, "the longest time of a route, 28800 or 8:00; null: no limit", 1e-6, 1e9
    )
    open: bool = option(False, "whether vehicles do not return to the depot")
    fleet: str | None = option(
        None, "a table of types of vehicles (CSV, .xlsx, .parquet); null: all alike"
    )

    def __post_init__(self) -> None:
        check_options(self)
        if self.fleet is not None and self.vehicles is not None:
            raise ConfigError(
                "Expected vehicles or fleet, not both: the column count of a fleet says how many "
                "vehicles of a type there are."
            )

    @property
    def given(self) -> list[str]:
        """The names of the options that are set."""
        return _set(self, FleetOptions)


@dataclass(frozen=True, kw_only=True)
class Transfers:
    """Options for fetching files over a network.

    Raises
    ------
    ConfigError
        A value is out of its range.
    """

    connections: int = option(8, "files fetched at a time, 1 to 64", 1, 64)
    attempts: int = option(3, "how often each file is tried, 1 to 20", 1, 20)
    timeout: float = option(30.0, "seconds of silence from the mirror", 0.1, 3600)

    def __post_init__(self) -> None:
        check_options(self)


@dataclass(kw_only=True)
class RunOptions:
    """Options of a training; a group without a class here has the options of its choice.

    The fields are those of ``conf/train.yaml``.
    """

    seed: int = option(
        0,
        "same seed, same bytes, whatever the number of workers; at least 0",
        0,
        effect=Effect.SEED,
    )
    resume: str | None = option(
        None, "a run to go on with: its directory, or its id in MLflow", effect=Effect.ACCESS
    )
    record: str | None = option(
        None, "a file that keeps every reply, for llm=recorded", effect=Effect.ACCESS
    )
    problem: Any = option(words="what is routed")
    llm: Any = option(words="who writes programs", effect=Effect.REPLIES)
    memory: Any = option(words="how programs are compared, and which records mutations see")
    method: Any = option(words="the search method")
    executor: Any = option(words="where programs run", effect=Effect.SPEED)
    tracking: Any = option(words="who keeps the runs", effect=Effect.ACCESS)
    pools: Pools = option(default_factory=Pools)
    budget: Budget = option(words="how many programs, rounds and instances")
    search: Settings = option(default_factory=Settings)
    limits: CallLimits = option(default_factory=CallLimits)
    sandbox: Confinement = option(default_factory=Confinement, effect=Effect.ACCESS)


WORKERS = Option("worker processes, 1 to 64; no result depends on it", 1, 64, effect=Effect.SPEED)
"""The option of every executor."""


def check_workers(workers: object) -> None:
    """Refuse an invalid number of workers.

    Raises
    ------
    ConfigError
        It is not an integer in [1, 64].
    """
    WORKERS.check("executor.workers", workers, int)
