"""Limits of the distance of a route beside limits of its time; chosen by type.

Where a fleet has a reach, the distance of each route is kept beside its times, and nothing is done
that makes it longer than its type of vehicles may drive. A route is walked again after each change
of it. Where there is none, loops are compiled as if these functions were not there.
"""

from typing import Any

from specahd.core.loop_cache import njit
from specahd.engine.fleets import by_reach, nothing
from specahd.engine.inlined import inlined
from specahd.engine.links import BEFORE_NOTED, BEHIND, NODE_NOTED, ROUTE


@inlined
def _length(own: Any, kind: int, start: int, end: int) -> Any:
    """Return the distance from a node, which may be a terminal, to another, with a type."""
    customers, reach = len(own.ready) - 1, own.fleet.reach
    if start > customers:
        return reach.ends[kind, 0, 0 if end > customers else end]
    if end > customers:
        return reach.ends[kind, 1, start]
    return reach.lengths[start, end]


@njit(cache=True)
def _from(state: Any, kind: int, node: int) -> Any:
    """Return the distance from a node to the end of its route, with a type."""
    customers, length = len(state.own.ready) - 1, 0.0
    while node <= customers:
        behind = state.nodes[node, BEHIND]
        length += _length(state.own, kind, node, behind)
        node = behind
    return length


@njit(cache=True)
def _whole(state: Any, route: int, kind: int) -> Any:
    """Return the distance of a route, with a type."""
    terminal = len(state.own.ready) + route
    first = state.nodes[terminal, BEHIND]
    return _length(state.own, kind, terminal, first) + _from(state, kind, first)


@inlined
def _always(own: Any, *arguments: Any) -> Any:
    return True


@by_reach(_always)
@inlined
def reaches(own: Any, route: int, ahead: int, customer: int, behind: int) -> Any:
    """Return whether a route between whose nodes a customer is inserted is short enough."""
    kind, reach = own.fleet.kinds[route], own.fleet.reach
    more = _length(own, kind, ahead, customer) + _length(own, kind, customer, behind)
    more -= _length(own, kind, ahead, behind)
    return reach.driven[route] + more <= reach.limits[kind]


@by_reach(_always)
@njit(cache=True)
def reaches_with(state: Any, route: int, kind: int) -> Any:
    """Return whether a route is short enough for another type."""
    return _whole(state, route, kind) <= state.own.fleet.reach.limits[kind]


@by_reach(_always)
@njit(cache=True)
def tails_reach(state: Any, first: int, behind: int, ahead: int, second: int) -> Any:
    """Return whether two routes are short enough with ``second`` behind ``first``.

    ``behind`` then follows ``ahead``. Each of these two may be a terminal.
    """
    nodes, own = state.nodes, state.own
    fleet, route, other = own.fleet, nodes[first, ROUTE], nodes[second, ROUTE]
    kind, driven = fleet.kinds[route], fleet.reach.driven
    tail = _length(own, kind, first, behind) + _from(state, kind, behind)
    other_tail = _length(own, kind, ahead, second) + _from(state, kind, second)
    new = _length(own, kind, first, second) + _from(state, kind, second)
    other_new = _length(own, kind, ahead, behind) + _from(state, kind, behind)
    most = fleet.reach.limits[kind]
    return driven[route] - tail + new <= most and driven[other] - other_tail + other_new <= most


@by_reach(nothing)
@njit(cache=True)
def measure(state: Any, route: int) -> None:
    """Measure a route again."""
    fleet = state.own.fleet
    fleet.reach.driven[route] = _whole(state, route, fleet.kinds[route])


@by_reach(_always)
@njit(cache=True)
def remains_in_reach(state: Any, route: int) -> Any:
    """Measure a route again, and return whether it is short enough."""
    fleet = state.own.fleet
    kind = fleet.kinds[route]
    fleet.reach.driven[route] = _whole(state, route, kind)
    return fleet.reach.driven[route] <= fleet.reach.limits[kind]


@by_reach(nothing)
@njit(cache=True)
def measure_noted(state: Any, scratch: Any, lines: int) -> None:
    """Measure again the routes from which or into which the log moved customers."""
    for line in range(lines):
        for column in (NODE_NOTED, BEFORE_NOTED):
            route = state.nodes[scratch.log[line, column], ROUTE]
            if route >= 0:
                fleet = state.own.fleet
                fleet.reach.driven[route] = _whole(state, route, fleet.kinds[route])
