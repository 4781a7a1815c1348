"""The interface of a routing problem: all members that the search uses.

A problem implements the paper's B, Φ and F. Each of its repair operators implements R and
M, and names the selector that implements V. Two sides use them. The *trusted* side reads
instances, validates, describes, merges, checks and scores. The *child* side only
runs a program: it receives the instance's ``arrays`` (a shared, read-only block) and
the ``inputs`` of one call, and returns an :class:`~specahd.core.answer.Answer`.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from specahd.core.contract import Contract
from specahd.core.program import Level, Program

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
ArrayLayout = Mapping[str, tuple[type[np.generic], tuple[int, ...]]]
"""Dtype and shape of arrays, by their names."""

POOLS = ("lower_train", "upper_train", "selection", "validation")
"""Names of the generated pools (docs/reference/pools.md); the public sets are downloaded."""
CONFIRMATION = "confirmation"
"""One more pool, by the rules of validation from another seed. No training reads it."""


@dataclass(frozen=True, slots=True)
class Region:
    """A validated region z: the nodes of its mutable support (I_j)."""

    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Rejection:
    """A proposal that the validator dropped: its position and the reason."""

    proposal: int
    reason: str


@dataclass(frozen=True, slots=True)
class Validation:
    """Result of the validator V on the raw proposals (the paper, appendix B)."""

    proposed: int
    regions: tuple[Region, ...]
    rejections: tuple[Rejection, ...]


@dataclass(frozen=True, slots=True)
class Violation:
    """One reason why a solution is infeasible."""

    kind: str
    detail: str


@dataclass(frozen=True)
class PublicSet:
    """One public set of instances.

    Parameters
    ----------
    name
        Name of its folder, equal to the ``set`` column of bks.csv or that column before a slash.
    convention
        Beginning of the ``convention`` column of its rows.
    borrowed
        Paths of solutions of other sets that must be feasible here at the cost that they
        state, by instance; relative to the folder of all sets.
    """

    name: str
    convention: str = ""
    borrowed: Mapping[str, str] = field(default_factory=dict)


class Instance(Protocol):
    """A problem instance; each problem adds members of its own."""

    @property
    def name(self) -> str:
        """The NAME of the instance, unique within a pool."""
        ...

    @property
    def size(self) -> int:
        """Number of nodes to serve (customers, or cities)."""
        ...

    @property
    def coords_from_scaling(self) -> bool:
        """Whether the coordinates were computed from the distances by classical scaling."""
        ...


I = TypeVar("I", bound=Instance)
S = TypeVar("S")
T = TypeVar("T")


class RegionSelector(Protocol):
    """One way to choose regions: the upper contract, its inputs, and the validator V."""

    @property
    def contract(self) -> Contract:
        """The contract that upper programs follow."""
        ...

    def inputs(self, instance: Any, solution: Any) -> tuple[IntArray, ...]:
        """Return the inputs of one call of the upper runner."""
        ...

    def validate(self, instance: Any, solution: Any, output: Sequence[IntArray]) -> Validation:
        """Convert the answer of an upper program into disjoint valid regions (V)."""
        ...


class RepairOperator(Protocol):
    """One way to rebuild a region: the lower contract, its inputs, and the merge M.

    The runners that the contracts name run in the sandbox child. The rest of an operator
    runs in the trusted process and treats their results as untrusted.
    """

    @property
    def selector(self) -> RegionSelector:
        """The selector that chooses regions for this operator."""
        ...

    @property
    def contract(self) -> Contract:
        """The contract that lower programs follow."""
        ...

    @property
    def whole(self) -> bool:
        """Whether a region is a whole instance, so that there is no upper level to search."""
        ...

    @property
    def one_pass(self) -> str:
        """Why only one pass of one upper program is possible; empty where several are."""
        ...

    @property
    def repairs_per_customer(self) -> int:
        """Insertions of a search per node of the instance; 0 where a region is rebuilt once."""
        ...

    @property
    def final_repairs_per_customer(self) -> int:
        """The same for a search with programs that are no longer varied."""
        ...

    @property
    def stages(self) -> Mapping[int, float]:
        """Share of a descent that led to a training case, by its repairs per node; may be empty."""
        ...

    def of(self, program: Program) -> "RepairOperator":
        """Return the operator adjusted to a lower program, if it depends on the program."""
        ...

    def at(self, progress: float) -> "RepairOperator":
        """Return the operator at the point of a search where the share ``progress`` is done."""
        ...

    def admit(self, instance: Any, solution: Any) -> None:
        """Refuse a solution that cannot be repaired.

        Raises
        ------
        ConfigError
            The operator cannot repair it.
        """
        ...

    def repairs(self, region: Region) -> int:
        """Return the number of nodes that a lower program inserts when evaluated on a region."""
        ...

    def search_repairs(self, instance: Any, programs: Sequence[Program], each: int) -> int:
        """Return the number of nodes that a search with these lower programs inserts.

        ``each`` is the number for each node of the instance if the programs are the cheapest.
        """
        ...

    def repair(self, passes: Callable[[], T], search: Callable[[], T]) -> T:
        """Repair an instance by one of two pipelines: passes over regions, or a search."""
        ...

    def layout(self, problem: Any, instance: Any) -> ArrayLayout:
        """Return dtype and shape of each array that the child receives of an instance."""
        ...

    def fill(self, problem: Any, instance: Any, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write an instance to these arrays."""
        ...

    def identity(self, region: Region) -> tuple[int, ...]:
        """Return the identity of a region, equal for regions whose rebuilds are equal.

        The order of the nodes counts only if a rebuild depends on it. Any nodes have an
        identity, even those that a selector would drop.
        """
        ...

    def inputs(self, instance: Any, solution: Any, region: Region) -> tuple[IntArray, ...]:
        """Return the inputs of one call of the lower runner."""
        ...

    def merge(
        self, instance: Any, solution: Any, region: Region, output: Sequence[IntArray]
    ) -> Any | None:
        """Replace the region by the answer of a lower program (M).

        Returns ``None`` when the output is malformed (u = ⊥). A well-formed output may
        still give an infeasible solution, which F rejects.
        """
        ...


def contracts(operator: RepairOperator, *, varied: bool = False) -> dict[Level, Contract]:
    """Return the contract of each level for an operator, with the varied seeds if ``varied``."""
    found = {Level.UPPER: operator.selector.contract, Level.LOWER: operator.contract}
    if not varied:
        return found
    return {level: replace(one, others=one.others + one.varied) for level, one in found.items()}


class Problem(Protocol[I, S]):
    """One routing problem. ``I`` is its instance type, ``S`` its solution type."""

    name: str
    """Name of the problem, as in ``conf/problem/<name>.yaml``."""
    suffix: str
    """File ending of instances, with the dot."""
    types: Collection[str]
    """TYPEs of the instances that it is for (:class:`specahd.routing.formats.kinds.FileKind`)."""
    public_sets: Sequence[PublicSet]
    """The public benchmark sets of this problem."""
    max_regions: int
    """K, the region budget."""
    max_size: int
    """Largest region, in nodes."""
    conventions: Sequence[str]
    """Allowed values of the option ``convention``; empty if files always fix the convention."""
    pool_unit: str
    """The unit of costs on the generated pools if it is not obvious; else empty."""
    baseline_name: str
    """Name of the baseline solver B in use."""
    baselines: Collection[str]
    """Names of the baseline solvers of this problem."""
    references: Sequence[str]
    """Names of the baseline solvers that are quick enough to run beside any evaluation."""
    construction: str
    """Name of the baseline solver that solving starts from, unless an instance is too large."""
    engine: Any
    """The :class:`specahd.engine.family.Family` to solve it with; None if it is not supported."""
    contracts: Any
    """The module with its contracts. Only what runs programs needs it, since its import is slow."""
    splits: bool
    """Whether several vehicles may serve a customer, so that stops have quantities."""
    endings: Sequence[str]
    """Endings of solution files (:meth:`solution_files`); the default of solving comes first."""
    descriptor_names: tuple[str, ...]
    """Names of the coordinates of Φ."""

    operators: Collection[str]
    """Names of the repair operators of this problem."""

    @property
    def operator(self) -> RepairOperator:
        """The repair operator in use."""
        ...

    # Files

    def read(self, path: Path) -> I:
        """Read an instance file.

        Raises
        ------
        FileError
            The file is missing or truncated, or describes no valid instance.
        """
        ...

    def from_table(self, data: Any, path: Path) -> I:
        """Return the instance of a table of stops, which the file ``path`` holds.

        ``data`` is a :class:`specahd.routing.formats.vrplib.VRPLIBData`.

        Raises
        ------
        FileError
            The table describes no valid instance.
        """
        ...

    def dumps(self, instance: I) -> str:
        """Return the text of an instance file that :meth:`read` reads back."""
        ...

    def read_solution(self, path: Path, instance: I | None = None) -> tuple[S, float | None]:
        """Read a ``.sol`` file; return the solution, and the cost if the file states one.

        Parameters
        ----------
        instance
            The instance that it should solve; the file may state its demands as deliveries.

        Raises
        ------
        FileError
            The file is missing or truncated, or states what no solution of this problem has.
        """
        ...

    def solution_of(self, routes: Sequence[Sequence[Any]]) -> S:
        """Return the solution with these routes; a tour has one.

        Parameters
        ----------
        routes
            Nodes, or where :attr:`splits` pairs of a node and the quantity (None: all of the
            demand), without node 0 at the ends.

        Raises
        ------
        ConfigError
            A tour has several routes, or quantities stand where none is split.
        """
        ...

    def solution_files(self, name: str, solution: S, cost: float) -> Mapping[str, str]:
        """Return the texts of a solution's files by their endings, ``.sol`` among them.

        ``name`` is the instance's name. :meth:`read_solution` reads back the same solution.
        """
        ...

    # Pools

    def generate(self, pool: str, seed: int) -> Iterator[I]:
        """Yield the instances of one of :data:`POOLS`, with the same bytes on every machine."""
        ...

    # Trusted side

    def baseline(self, instance: I, name: str | None = None) -> S:
        """Run B, the baseline ``name`` (default ``baseline_name``); y0 is feasible."""
        ...

    def construction_of(self, instance: I) -> str:
        """Return the name of the baseline solver that solving the instance starts from."""
        ...

    def trivial_solution(self, instance: I) -> S | None:
        """Return a solution for a search that is stopped before B ends; None if there is none."""
        ...

    def lower_bound(self, instance: I) -> float | None:
        """Return a lower bound on the cost; None where there is no formula."""
        ...

    def cost(self, instance: I, solution: S) -> float:
        """Return C_x(y), recomputed from the instance in its own convention."""
        ...

    def check(self, instance: I, solution: S) -> tuple[Violation, ...]:
        """Return every violation (F); empty means feasible."""
        ...

    def describe(self, instance: I, solution: S, region: Region) -> FloatArray:
        """Return the raw descriptor of a region (Φ), one float per name."""
        ...

    def routes(self, solution: S) -> Sequence[Sequence[int]]:
        """Return the customers on each vehicle's route; empty if a solution is one tour."""
        ...

    def fewer_vehicles(self, instance: I, solution: S, most: float) -> S:
        """Return a solution that costs at most ``most`` and may take fewer vehicles.

        ``solution`` is feasible, and so is the result.
        """
        ...

    def flat(self, instance: I, solution: S) -> tuple[IntArray, ...]:
        """Return a solution in the form of the engine (:mod:`specahd.engine.orders`)."""
        ...

    def unflat(self, instance: I, arrays: Sequence[IntArray]) -> S | None:
        """Return the solution in arrays from untrusted code; None if they hold no solution."""
        ...

    # Data for the child

    def layout(self, instance: I) -> ArrayLayout:
        """Return dtype and shape of each array of the instance's shared block."""
        ...

    def fill(self, instance: I, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write the instance into its shared block, without a second n x n array."""
        ...


AnyProblem = Problem[Any, Any]
