"""The common base of all routing problems: options, baselines, and the repair operator."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Generic

import numpy as np

from specahd.core.contract import Contract
from specahd.core.errors import ConfigError
from specahd.core.options import Option, checked
from specahd.core.ranges import check_choice, check_range
from specahd.routing.base import I, IntArray, RepairOperator, S
from specahd.routing.groups import concatenated, is_vector, separated

ACTIONS = ("planned", "single")
"""The forms of an answer of lower programs of ``append`` and ``construct``."""
Baselines = Mapping[str, Callable[..., Any]]
Operators = Mapping[str, Callable[[Any], RepairOperator]]


class RoutingProblem(Generic[I, S]):
    """Base class of the problems; subclasses add instances, files, pools and the checker.

    Parameters
    ----------
    baseline
        One of ``baselines``; None for the first of them.
    repair
        One of ``operators``.
    max_regions
        K of the paper; None: that of ``suited_sizes``.
    max_size
        At least ``smallest_region``; None: that of ``suited_sizes``.
    actions
        One of :data:`ACTIONS`.

    Raises
    ------
    ConfigError
        A parameter is out of its range.
    """

    name: str
    types: Collection[str] = ()
    conventions: Sequence[str] = ()
    pool_unit: str = ""
    construction: str
    engine: Any = None
    contracts: Any
    splits: bool = False
    endings: Sequence[str] = (".sol",)
    baselines: Baselines
    """The baseline solvers by name; :meth:`baseline` calls them."""
    operators: Operators
    """Functions that create a repair operator for a problem with these options, by name."""
    suited: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """Values that suit this class, not a derived one, better than those of a file of ``conf/``:
    by the name of a choice of ``budget``, ``method`` or ``experiment``, then by option."""
    suited_sizes: ClassVar[Mapping[str, tuple[int, int]]] = {}
    """``max_regions`` and ``max_size`` by repair operator, where they are not 8 and 50."""
    smallest_region: ClassVar[int] = 2
    """Fewest nodes of a region: two whose order can change, and any fixed nodes at its ends."""

    @checked("")
    def __init__(
        self,
        baseline: Annotated[str | None, Option("the solver whose solutions are repaired")] = None,
        repair: Annotated[
            str, Option("rebuild regions: append or insertion; construct: a whole instance")
        ] = "append",
        max_regions: Annotated[
            int | None, Option("most regions of one proposal; null: what suits repair", 1)
        ] = None,
        max_size: Annotated[
            int | None, Option("most nodes of a region; null: what suits repair", 2)
        ] = None,
        repairs_per_customer: Annotated[
            int, Option("insertions for each customer in a search, at least 1", 1)
        ] = 50,
        final_repairs_per_customer: Annotated[
            int | None, Option("the same with a finished checkpoint; null: as many", 1)
        ] = None,
        actions: Annotated[
            str,
            Option("of an answer: planned (one or several in order) or single", choices=ACTIONS),
        ] = ACTIONS[0],
    ) -> None:
        baseline = baseline or next(iter(self.baselines))
        self.expect_baseline(baseline)
        check_choice("repair", repair, self.operators)
        regions, size = self.suited_sizes.get(repair, (8, 50))
        self.max_regions = max_regions or regions
        self.max_size = max_size or size
        check_range("max_size", self.max_size, self.smallest_region)
        self.baseline_name = baseline
        self.repair = repair
        self.actions = actions
        self.repairs_per_customer = repairs_per_customer
        self.final_repairs_per_customer = final_repairs_per_customer

    @property
    def operator(self) -> RepairOperator:
        return self.operators[self.repair](self)

    @property
    def planned(self) -> bool:
        """Whether a lower program may answer with several actions in order."""
        return self.actions == ACTIONS[0]

    def form(self, contract: Contract) -> Contract:
        """Return the contract of lower programs for the answers that are allowed."""
        return contract if self.planned else contract.of_single_actions()

    def construction_of(self, instance: I) -> str:
        return self.construction

    def trivial_solution(self, instance: I) -> S | None:
        return None

    def lower_bound(self, instance: I) -> float | None:
        return None

    def routes(self, solution: S) -> Sequence[Sequence[int]]:
        return ()

    def solution_of(self, routes: Sequence[Sequence[Any]]) -> S:
        raise ConfigError(
            f"Expected an incumbent of problem={self.name} in a file of its own format."
        )

    def fewer_vehicles(self, instance: I, solution: S, most: float) -> S:
        return solution

    def flat(self, instance: Any, solution: S) -> tuple[IntArray, ...]:
        lengths, customers = concatenated(self.routes(solution))
        return (np.insert(customers, np.cumsum(lengths), 0),)

    def unflat(self, instance: Any, arrays: Sequence[IntArray]) -> Any | None:
        if len(arrays) != 1 or not is_vector(arrays[0]) or len(arrays[0]) > 2 * instance.size + 1:
            return None
        return separated(*arrays)

    def expect_baseline(self, name: str) -> None:
        """Check that this problem has a baseline solver of this name.

        Raises
        ------
        ConfigError
            It has none; the message lists the names of those it has.
        """
        if name not in self.baselines:
            raise ConfigError(f"Expected a baseline in {', '.join(self.baselines)}, got {name!r}.")
