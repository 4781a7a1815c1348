"""Runners of VRPTW programs in the engine's process."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from specahd.engine import changes, fleets, interfaces, strings, timed, timed_strings
from specahd.engine.runner import LowerProgram, UpperProgram
from specahd.engine.searches import Search
from specahd.engine.state import State
from specahd.engine.type_prices import with_vehicles
from specahd.routing.base import IntArray
from specahd.routing.distances import DURATIONS, MATRIX, PRICES

_TIMES = ("ready_times", "due_times", "service_times")


class TimedSearch(Search):
    """A search with time windows."""

    @staticmethod
    def examples() -> Iterator[tuple[dict[str, Any], list[IntArray]]]:
        for arrays, routes in Search.examples():
            windows = zip(_TIMES, (0.0, 100.0, 0.0), strict=True)
            arrays |= {name: np.full(3, time) for name, time in windows}
            yield arrays, routes
            if MATRIX in arrays:
                yield {**arrays, DURATIONS: np.ones((3, 3))}, routes
                for reach in (False, True):
                    yield fleets.examples(arrays, reach=reach), routes

    def state_from(self, arrays: Mapping[str, Any], routes: Sequence[IntArray], seed: int) -> State:
        ready, due, service = (arrays[name] for name in _TIMES)
        durations, fleet = arrays.get(DURATIONS), None
        if PRICES in arrays:
            fleet = fleets.fleet_of(arrays)
            # No node is on a route yet.
            own = timed.times_for(ready, due, service, 0, durations, fleet)
            routes = [with_vehicles(own, arrays["demands"], routes[0])]
        state = super().state_from(arrays, routes, seed)
        if fleet is not None:
            changes.limit_routes(state, len(state.free))
        return timed.timed(state, ready, due, service, durations, fleet)


GROUPS = UpperProgram(
    TimedSearch, interfaces.TIMED_GROUPS, [timed_strings.strings_in_time], shipped="vrptw"
)
POSITIONS = LowerProgram(GROUPS, interfaces.TIMED_POSITIONS, strings.greedy_in_time)
