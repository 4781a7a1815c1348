"""What runs programs in the engine's process."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from limited_cvrp import lengths
from specahd.engine import interfaces, steps, strings
from specahd.engine.runner import LowerProgram, UpperProgram
from specahd.engine.searches import Search
from specahd.engine.state import State
from specahd.routing.base import IntArray


class LimitedSearch(Search):
    """A search for routes of limited length."""

    @staticmethod
    def examples() -> Iterator[tuple[dict[str, Any], list[IntArray]]]:
        for arrays, routes in Search.examples():
            yield {**arrays, "longest": np.array([100.0])}, routes

    def state_from(self, arrays: Mapping[str, Any], routes: Sequence[IntArray], seed: int) -> State:
        state = super().state_from(arrays, routes, seed)
        return lengths.limited(state, float(arrays["longest"][0]))


steps.FAMILIES[lengths.Lengths] = lengths
GROUPS = UpperProgram(LimitedSearch, interfaces.GROUPS, [strings.adjacent_strings])
POSITIONS = LowerProgram(GROUPS, interfaces.POSITIONS, strings.greedy_with_blinks)
