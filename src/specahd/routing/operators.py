"""The base of operators that rebuild regions; and the whole instance as the only region.

Where the region is the whole instance there is nothing to choose, so no upper programs are searched
for. Every checkpoint has the seed program of the contract, and the answer of this program is
ignored.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from numpy.typing import NDArray

from specahd.core.answer import Answer
from specahd.core.contract import Contract
from specahd.core.program import Level, Program
from specahd.routing.base import (
    AnyProblem,
    ArrayLayout,
    IntArray,
    Region,
    RegionSelector,
    T,
    Validation,
)


def whole_instance() -> bool:
    """Rebuild the whole instance.

    Returns
    -------
    bool
        Not looked at.
    """
    return True


def propose(
    program: Callable[..., Any], arrays: Mapping[str, Any], inputs: Sequence[IntArray]
) -> Answer:
    """Return an empty answer; the program is not called, because the region is known."""
    return Answer([])


WHOLE_INSTANCE = Contract.of(
    whole_instance,
    id="whole_instance",
    level=Level.UPPER,
    idea="Rebuild the whole instance.",
    task="The region is the whole instance; there is nothing to decide.",
    runner=propose,
)


@dataclass(frozen=True)
class WholeInstance:
    """The selector with one region for each instance: the whole instance.

    Parameters
    ----------
    region
        Returns the region of an instance and its incumbent; None if nothing can be rebuilt.
    """

    region: Callable[[Any, Any], Region | None]
    contract: Contract = WHOLE_INSTANCE

    def inputs(self, instance: Any, solution: Any) -> tuple[IntArray, ...]:
        return ()

    def validate(self, instance: Any, solution: Any, output: Sequence[IntArray]) -> Validation:
        region = self.region(instance, solution)
        return Validation(1, () if region is None else (region,), ())


class RegionOperator:
    """Base of operators whose programs rebuild the regions of a solution, each one once a pass."""

    selector: RegionSelector
    contract: Contract
    repairs_per_customer = 0
    final_repairs_per_customer = 0
    stages: Mapping[int, float] = {}

    @property
    def whole(self) -> bool:
        return isinstance(self.selector, WholeInstance)

    @property
    def one_pass(self) -> str:
        return "where regions are whole instances" if self.whole else ""

    def of(self, program: Program) -> Self:
        return self

    def at(self, progress: float) -> Self:
        return self

    def admit(self, instance: Any, solution: Any) -> None:
        """Accept any solution."""

    def repairs(self, region: Region) -> int:
        return len(region.nodes)

    def search_repairs(self, instance: Any, programs: Sequence[Program], each: int) -> int:
        return 0

    def repair(self, passes: Callable[[], T], search: Callable[[], T]) -> T:
        return passes()

    def layout(self, problem: AnyProblem, instance: Any) -> ArrayLayout:
        return problem.layout(instance)

    def fill(self, problem: AnyProblem, instance: Any, arrays: Mapping[str, NDArray[Any]]) -> None:
        problem.fill(instance, arrays)
