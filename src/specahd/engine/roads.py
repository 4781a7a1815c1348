"""Ways that differ from the ways back, or from the time they take; chosen by type.

Where the times of a state (:class:`specahd.engine.timed.Times`) have durations, compiled loops look
up each way and the time it takes. Where they have none, what is known of a way holds for the way
back and for its time, and loops are compiled as if these functions were not there.
"""

from typing import Any

from numba import types
from numba.extending import overload

from specahd.engine.fleets import has_fleet, leg
from specahd.engine.inlined import inlined


def directed(own: Any) -> bool:
    """Return whether times have durations."""
    raise NotImplementedError


@overload(directed, jit_options={"forceinline": True})
def _directed(own: Any) -> Any:
    def yes(own: Any) -> Any:
        return True

    def no(own: Any) -> Any:
        return False

    return no if _without(own) else yes


def travel_time(own: Any, start: int, end: int, distance: float) -> float:
    """Return the time from a node, which may be a terminal, to another, given the distance."""
    raise NotImplementedError


@overload(travel_time, jit_options={"forceinline": True})
def _travel_time(own: Any, start: Any, end: Any, distance: Any) -> Any:
    def same(own: Any, start: Any, end: Any, distance: Any) -> Any:
        return distance

    def looked_up(own: Any, start: Any, end: Any, distance: Any) -> Any:
        customers = len(own.ready) - 1
        return own.durations[0 if start > customers else start, 0 if end > customers else end]

    def by_type(own: Any, start: Any, end: Any, distance: Any) -> Any:
        customers, fleet = len(own.ready) - 1, own.fleet
        if start > customers:
            there = 0 if end > customers else end
            return fleet.times[fleet.kinds[start - customers - 1], 0, there]
        if end > customers:
            return fleet.times[fleet.kinds[end - customers - 1], 1, start]
        return own.durations[start, end]

    if _without(own):
        return same
    return by_type if has_fleet(own) else looked_up


def _without(own: Any) -> bool:
    """Return whether a type of times has no durations."""
    return isinstance(own.types[own.fields.index("durations")], types.NoneType)


@inlined
def way(own: Any, distances: Any, route: int, start: int, end: int, known: float) -> Any:
    """Return the distance from a customer or the depot, 0, to another, given that of the way back.

    On the route of a type of vehicles, it is what the way costs.

    What is given is returned unless ways differ from ways back.
    """
    return leg(own, distances, route, start, end) if directed(own) else known
