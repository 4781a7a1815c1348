"""Runners of SDVRP programs in the engine's process."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from specahd.engine import changes, deliveries, interfaces, route_ends, strings
from specahd.engine.runner import LowerProgram, UpperProgram
from specahd.engine.searches import FLEET, Search
from specahd.engine.state import DEMANDS, State
from specahd.routing.base import IntArray
from specahd.routing.distances import DURATIONS, MATRIX


class SplitSearch(Search):
    """A search where several routes may deliver to a customer."""

    numbered = False

    @staticmethod
    def examples() -> Iterator[tuple[dict[str, Any], list[IntArray]]]:
        for arrays, routes in Search.examples():
            parts = [*routes, np.array([1, 0, 1])]
            yield arrays, parts
            if MATRIX in arrays:
                yield {**arrays, DURATIONS: np.ones((3, 3))}, parts

    def __init__(self, arrays: Mapping[str, Any], routes: Sequence[IntArray], seed: int) -> None:
        capacity, demands = int(arrays["capacity"][0]), arrays[DEMANDS]
        kept, self._direct = _set_apart(routes[0], routes[1], capacity)
        demands = demands - capacity * np.bincount(self._direct, minlength=len(demands))
        demands.flags.writeable = False
        super().__init__({**arrays, DEMANDS: demands}, kept, seed)

    def state_from(self, arrays: Mapping[str, Any], routes: Sequence[IntArray], seed: int) -> State:
        durations = arrays.get(DURATIONS)
        state = deliveries.state_for(routes[0], routes[1], self._instance, seed, durations)
        if FLEET in arrays:
            changes.limit_routes(state, int(arrays[FLEET][0]) - len(self._direct))
        return state

    def best_routes(self) -> tuple[IntArray, ...]:
        customers, given = deliveries.flat_deliveries(self._state)
        apart = np.zeros((2, 2 * len(self._direct)), np.int64)
        apart[:, 1::2] = self._direct, np.full(len(self._direct), self._instance.capacity)
        return np.concatenate((customers, apart[0])), np.concatenate((given, apart[1]))


def _set_apart(
    stops: IntArray, given: IntArray, capacity: int
) -> tuple[tuple[IntArray, IntArray], IntArray]:
    """Remove routes that bring a full load to a single customer, except one for each customer.

    Otherwise each repair would deliver a demand of very many loads again, load by load.

    Returns
    -------
    The rest of ``stops`` and ``given``, and the customers of the routes that were removed.
    """
    ends = np.concatenate(([0], stops, [0])) == 0
    direct = np.flatnonzero(ends[:-2] & ends[2:] & (stops != 0) & (given == capacity))
    _, first = np.unique(stops[direct], return_index=True)
    taken = np.delete(direct, first)
    kept = np.ones(len(stops), bool)
    kept[taken] = False
    return (stops[kept], given[kept]), stops[taken]


GROUPS = UpperProgram(
    SplitSearch,
    interfaces.SPLIT_GROUPS,
    [strings.adjacent_strings, route_ends.strings_and_ends],
)
POSITIONS = LowerProgram(GROUPS, interfaces.SPLIT_POSITIONS, strings.greedy_in_parts)
