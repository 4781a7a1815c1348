"""The whole instance as one region, for programs that build complete solutions.

There is nothing to choose, so no upper programs are searched for. Every checkpoint has the
seed program of the contract, and the answer of this program is ignored.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from specahd.core.answer import Answer
from specahd.core.contract import Contract
from specahd.core.program import Level
from specahd.routing.base import IntArray, Region, RegionSelector, Validation


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


def is_whole(selector: RegionSelector) -> bool:
    """Return whether regions are whole instances, so that there is no upper level to search."""
    return isinstance(selector, WholeInstance)
