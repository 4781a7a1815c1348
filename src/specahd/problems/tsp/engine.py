"""Runners of TSP programs in the engine's process."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from specahd.engine import directed_tours, interfaces, tour_strings, tours
from specahd.engine.runner import LowerProgram, UpperProgram
from specahd.engine.searches import Search
from specahd.engine.state import DEMANDS, State
from specahd.routing.base import IntArray
from specahd.routing.distances import DIRECTED, MATRIX


class TourSearch(Search):
    """A search for a closed tour."""

    numbered = False

    @staticmethod
    def examples() -> Iterator[tuple[dict[str, Any], list[IntArray]]]:
        for arrays, _ in Search.examples():
            del arrays[DEMANDS], arrays["capacity"]
            yield arrays, [np.array([2, 1])]
            if MATRIX in arrays:
                yield {**arrays, DIRECTED: np.ones((2, 3, 1), np.int64)}, [np.array([2, 1])]

    def state_from(self, arrays: Mapping[str, Any], routes: Sequence[IntArray], seed: int) -> State:
        own: Any = tours.Tour(min(tours.PLACES, arrays["neighbours"].shape[1]))
        if DIRECTED in arrays:
            own = directed_tours.fields_for(arrays[DIRECTED])
        return tours.state_for(routes[0], self._instance, own, seed)

    def best_routes(self) -> tuple[IntArray, ...]:
        return (tours.flat_tour(self._state.best),)


GROUPS = UpperProgram(TourSearch, interfaces.TOUR_GROUPS, [tour_strings.neighbouring_strings])
POSITIONS = LowerProgram(GROUPS, interfaces.TOUR_POSITIONS, tour_strings.greedy_with_blinks)
