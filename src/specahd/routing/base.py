"""The interface of a routing problem: everything that the search needs to know of one.

A problem owns the paper's B, Φ and F; each of its repair operators owns R and M,
and names the selector that owns V. Two sides use them. The *trusted* side reads
instances, validates, describes, merges, checks and scores. The *child* side only
runs a program: it sees the instance's ``arrays`` (a shared, read-only block) and
the ``inputs`` of one call, and returns an :class:`~specahd.core.answer.Answer`.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from specahd.core.contract import Contract
from specahd.core.program import Level, Program

if TYPE_CHECKING:
    from specahd.routing.formats.vrplib import VRPLIBData

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

POOLS = ("lower_train", "upper_train", "selection", "validation")
"""The generated pools (docs/reference/pools.md); the fifth, public, is downloaded."""


@dataclass(frozen=True, slots=True)
class Region:
    """A validated region z: the nodes of its mutable support (I_j)."""

    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Rejection:
    """A proposal that the validator dropped: its position and why."""

    proposal: int
    reason: str


@dataclass(frozen=True, slots=True)
class Validation:
    """What the validator V made of the raw proposals (the paper, appendix B)."""

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
    """One public set.

    Parameters
    ----------
    name
        Its folder's, and as in the ``set`` column of bks.csv or its part before a slash.
    convention
        How the ``convention`` column of its rows begins.
    borrowed
        Solutions of other sets that must be feasible here at their own stated cost, by
        instance; from the folder of all sets.
    """

    name: str
    convention: str = ""
    borrowed: Mapping[str, str] = field(default_factory=dict)


class Instance(Protocol):
    """A problem instance; the rest of it is the problem's own business."""

    @property
    def name(self) -> str:
        """Its NAME, unique within a pool."""
        ...

    @property
    def size(self) -> int:
        """Number of nodes to serve (customers, or cities)."""
        ...

    @property
    def coords_from_scaling(self) -> bool:
        """Whether its coordinates were made from its distances by classical scaling."""
        ...


I = TypeVar("I", bound=Instance)
S = TypeVar("S")


class RegionSelector(Protocol):
    """One way to choose regions: the upper contract, its inputs, and the validator V."""

    @property
    def contract(self) -> Contract:
        """What an upper program must look like."""
        ...

    def inputs(self, instance: Any, solution: Any) -> tuple[IntArray, ...]:
        """Return the inputs of one call of the upper runner."""
        ...

    def validate(self, instance: Any, solution: Any, output: Sequence[IntArray]) -> Validation:
        """V: turn the answer of an upper program into disjoint valid regions."""
        ...


class RepairOperator(Protocol):
    """One way to rebuild a region: the lower contract, its inputs, and the merge M.

    The runners that the contracts name run in the sandbox child; the rest of an
    operator runs in the trusted process and believes nothing that they return.
    """

    @property
    def selector(self) -> RegionSelector:
        """How regions for this operator are chosen."""
        ...

    @property
    def contract(self) -> Contract:
        """What a lower program must look like."""
        ...

    def identity(self, region: Region) -> tuple[int, ...]:
        """Return the identity of a region, equal for regions that are rebuilt alike.

        An order of the nodes that no rebuild sees is no part of it. Any nodes have an
        identity, also those that no selector keeps.
        """
        ...

    def inputs(self, instance: Any, solution: Any, region: Region) -> tuple[IntArray, ...]:
        """Return the inputs of one call of the lower runner."""
        ...

    def merge(
        self, instance: Any, solution: Any, region: Region, output: Sequence[IntArray]
    ) -> Any | None:
        """M: replace the region by the answer of a lower program.

        ``None`` when the output is malformed (u = ⊥). A well-formed output may
        still give an infeasible solution: F decides.
        """
        ...


@runtime_checkable
class PassOperator(RepairOperator, Protocol):
    """An operator that repairs a solution in a search of many passes, each of which sees what the
    one before left. The engine makes them; a lower program alone is tried on single regions.
    """

    @property
    def repairs_per_customer(self) -> int:
        """How many nodes a search inserts for each of an instance; fewer with slow programs."""
        ...

    def repairs(self, region: Region) -> int:
        """Return how many nodes a lower program inserts when it is tried on a region."""
        ...

    def search_repairs(
        self, instance: Any, programs: Sequence[Program], *, final: bool = False
    ) -> int:
        """Return how many nodes a search inserts with these lower programs."""
        ...

    def of(self, program: Program) -> "PassOperator":
        """Return the operator as it acts with a lower program, as far as that matters."""
        ...

    def at(self, progress: float) -> "PassOperator":
        """Return the operator as it acts when some share of a search is done."""
        ...


def contracts(operator: RepairOperator, *, varied: bool = False) -> dict[Level, Contract]:
    """Return each level's contract where this operator is in force, with varied seeds if asked."""
    found = {Level.UPPER: operator.selector.contract, Level.LOWER: operator.contract}
    if not varied:
        return found
    return {level: replace(one, others=one.others + one.varied) for level, one in found.items()}


class Problem(Protocol[I, S]):
    """One routing problem. ``I`` is its instance type, ``S`` its solution type."""

    name: str
    """As in ``conf/problem/<name>.yaml``."""
    suffix: str
    """File ending of its instances, with the dot."""
    public_sets: Sequence[PublicSet]
    """The public benchmark sets of this problem."""
    max_regions: int
    """K, the region budget."""
    max_size: int
    """Largest region, in nodes."""
    conventions: Sequence[str]
    """What its option ``convention`` may be; empty where files leave nothing open."""
    pool_unit: str
    """The unit of costs on the generated pools, where it is not obvious; else empty."""
    baseline_name: str
    """The baseline solver B in force."""
    baselines: Collection[str]
    """The baseline solvers that it has."""
    references: Sequence[str]
    """Those of them that are quick enough to run beside any evaluation."""
    construction: str
    """The one of them whose solutions solving starts from, unless an instance is too large."""
    engine: Any
    """How it is solved (:class:`specahd.engine.family.Family`); None where it is not."""
    endings: Sequence[str]
    """Of its solution files (:meth:`solution_files`); that of solving unless asked first."""
    descriptor_names: tuple[str, ...]
    """Names of the coordinates of Φ."""

    operators: Collection[str]
    """Names of the repair operators that it offers."""

    @property
    def operator(self) -> RepairOperator:
        """The repair operator in force."""
        ...

    # Files

    def read(self, path: Path) -> I:
        """Read an instance file.

        Raises
        ------
        FileError
            The file is missing, torn, or describes no valid instance.
        """
        ...

    def from_table(self, data: "VRPLIBData", path: Path) -> I:
        """Return the instance that a table of stops describes; ``path`` is the table's file.

        Raises
        ------
        FileError
            It is no valid instance.
        """
        ...

    def dumps(self, instance: I) -> str:
        """Return the text of an instance file that :meth:`read` reads back."""
        ...

    def read_solution(self, path: Path, instance: I | None = None) -> tuple[S, float | None]:
        """Read a ``.sol`` file: the solution, and the cost it states, if any.

        Parameters
        ----------
        instance
            The one that it should solve: a file may repeat the demands that it delivers.

        Raises
        ------
        FileError
            The file is missing, torn, or states what a solution of this problem does not.
        """
        ...

    def solution_files(self, name: str, solution: S, cost: float) -> Mapping[str, str]:
        """Return the texts of a solution's files by their endings, ``.sol`` among them.

        ``name`` is the instance's; what :meth:`read_solution` reads is the same solution.
        """
        ...

    # Pools

    def generate(self, pool: str, seed: int) -> Iterator[I]:
        """Yield the instances of one of :data:`POOLS`; the same bytes everywhere."""
        ...

    # Trusted side

    def baseline(self, instance: I, name: str | None = None) -> S:
        """Run B (``baseline_name`` unless ``name`` says otherwise); y0 is feasible."""
        ...

    def construction_of(self, instance: I) -> str:
        """Return the name of the baseline solver whose solution solving starts from."""
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
        """F: return every violation; empty means feasible."""
        ...

    def describe(self, instance: I, solution: S, region: Region) -> FloatArray:
        """Φ: return the raw descriptor of a region, one float per name."""
        ...

    def routes(self, solution: S) -> Sequence[Sequence[int]]:
        """Return the customers on each vehicle's route; empty if there is but one tour."""
        ...

    def flat(self, instance: I, solution: S) -> tuple[IntArray, ...]:
        """Return a solution as the engine takes it (:mod:`specahd.engine.orders`)."""
        ...

    def unflat(self, instance: I, arrays: Sequence[IntArray]) -> S | None:
        """Return the solution in the arrays of untrusted code; None where they hold none."""
        ...

    # What the child sees

    def layout(self, instance: I) -> Mapping[str, tuple[type[np.generic], tuple[int, ...]]]:
        """Return dtype and shape of each array of the instance's shared block."""
        ...

    def fill(self, instance: I, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write the instance into its shared block, without a second n x n array."""
        ...


AnyProblem = Problem[Any, Any]
