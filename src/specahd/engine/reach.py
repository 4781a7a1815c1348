"""Limits of the distance of a route beside its times, and of its duration where vehicles wait.

Where a fleet has a reach, each node on a route has what the part of the route before it takes, and
what the part behind it does, so that a route of two such parts is measured at once (Vidal, Crainic,
Gendreau and Prins, Computers & Operations Research 40, 2013). Nothing is done that makes a route
longer than its type of vehicles may drive. A route is walked again after each change of it. Where
there is no reach, loops are compiled as if these functions were not there.

The least duration of a route is that with the latest departure that makes it end no later
(Savelsbergh, ORSA Journal on Computing 4, 1992).
"""

from typing import Any

import numpy as np

from specahd.core.loop_cache import njit
from specahd.engine.fleets import (
    DRIVEN,
    ENDS,
    LEAVES,
    REST_DRIVEN,
    REST_WORKED,
    WORKED,
    by_reach,
    nothing,
)
from specahd.engine.inlined import inlined
from specahd.engine.links import BEFORE, BEFORE_NOTED, BEHIND, NODE_NOTED, ROUTE
from specahd.engine.roads import travel_time

_DISTANCE, _DURATION = 0, 1
"""Columns of the limits."""


@inlined
def _length(own: Any, kind: int, start: int, end: int) -> Any:
    """Return the distance from a node, which may be a terminal, to another, with a type."""
    customers, reach = len(own.ready) - 1, own.fleet.reach
    if start > customers:
        return reach.ends[kind, 0, 0 if end > customers else end]
    if end > customers:
        return reach.ends[kind, 1, start]
    return reach.lengths[start, end]


@inlined
def _taken(own: Any, start: int, end: int) -> Any:
    """Return the time of the service at a node, which may be a terminal, and to another."""
    served = 0.0 if start >= len(own.ready) else own.service[start]
    return served + travel_time(own, start, end, 0.0)


@njit(cache=True)
def _measure(state: Any, route: int) -> None:
    """Measure the parts of a route before and behind each of its nodes."""
    nodes, own = state.nodes, state.own
    parts, kind, customers = own.fleet.reach.parts, own.fleet.kinds[route], len(own.ready) - 1
    terminal = customers + 1 + route
    driven, worked, leaves = 0.0, 0.0, np.inf
    here, node = terminal, nodes[terminal, BEHIND]
    while node <= customers:
        driven += _length(own, kind, here, node)
        worked += _taken(own, here, node)
        leaves = min(leaves, own.due[node] - worked)
        parts[node, DRIVEN], parts[node, WORKED], parts[node, LEAVES] = driven, worked, leaves
        here, node = node, nodes[node, BEHIND]
    driven, worked, ends = 0.0, 0.0, -np.inf
    here, node = terminal, nodes[terminal, BEFORE]
    while node <= customers:
        driven += _length(own, kind, node, here)
        worked += _taken(own, node, here)
        ends = max(ends, own.ready[node] + worked)
        parts[node, REST_DRIVEN], parts[node, REST_WORKED] = driven, worked
        parts[node, ENDS] = ends
        here, node = node, nodes[node, BEFORE]


@inlined
def _goes_on(
    own: Any,
    kind: int,
    ahead: int,
    driven: float,
    worked: float,
    leaves: float,
    start: float,
    behind: int,
) -> Any:
    """Return whether a route is short enough that goes on from a node to the part behind another.

    Parameters
    ----------
    driven, worked, leaves
        What the part before ``ahead`` takes, as :class:`specahd.engine.fleets.Reach` has it.
    start
        The earliest start of service at ``ahead``.
    """
    reach = own.fleet.reach
    driven += _length(own, kind, ahead, behind) + reach.parts[behind, REST_DRIVEN]
    taken = _taken(own, ahead, behind)
    leaves = min(leaves, own.latest[behind] - taken - worked)
    taken += reach.parts[behind, REST_WORKED]
    lasts = max(worked + taken, max(reach.parts[behind, ENDS], start + taken) - leaves)
    return driven <= reach.limits[kind, _DISTANCE] and lasts <= reach.limits[kind, _DURATION]


@inlined
def _joins(own: Any, kind: int, ahead: int, behind: int) -> Any:
    """Return whether the route is short enough in which a node follows another one."""
    part = own.fleet.reach.parts[ahead]
    start = own.start[ahead]
    return _goes_on(own, kind, ahead, part[DRIVEN], part[WORKED], part[LEAVES], start, behind)


@inlined
def _always(own: Any, *arguments: Any) -> Any:
    return True


@by_reach(_always)
@inlined
def reaches(own: Any, route: int, ahead: int, customer: int, behind: int) -> Any:
    """Return whether a route between whose nodes a customer is inserted is short enough."""
    kind, part = own.fleet.kinds[route], own.fleet.reach.parts[ahead]
    taken = _taken(own, ahead, customer)
    driven = part[DRIVEN] + _length(own, kind, ahead, customer)
    worked = part[WORKED] + taken
    leaves = min(part[LEAVES], own.due[customer] - worked)
    start = max(own.start[ahead] + taken, own.ready[customer])
    return _goes_on(own, kind, customer, driven, worked, leaves, start, behind)


@by_reach(_always)
@njit(cache=True)
def walk_reaches(own: Any, kind: int, walk: Any, lasts: float) -> Any:
    """Return whether a route of some customers and some duration is short enough for a type."""
    reach = own.fleet.reach
    driven = reach.ends[kind, 0, walk[0]] + reach.ends[kind, 1, walk[-1]]
    for place in range(len(walk) - 1):
        driven += reach.lengths[walk[place], walk[place + 1]]
    return driven <= reach.limits[kind, _DISTANCE] and lasts <= reach.limits[kind, _DURATION]


@by_reach(_always)
@njit(cache=True)
def tails_reach(state: Any, first: int, behind: int, ahead: int, second: int) -> Any:
    """Return whether two routes are short enough with ``second`` behind ``first``.

    ``behind`` then follows ``ahead``. Each of these two may be a terminal.
    """
    own = state.own
    kind = own.fleet.kinds[state.nodes[first, ROUTE]]
    return _joins(own, kind, first, second) and _joins(own, kind, ahead, behind)


@by_reach(nothing)
@njit(cache=True)
def measure(state: Any, route: int) -> None:
    """Measure a route again."""
    _measure(state, route)


@by_reach(_always)
@njit(cache=True)
def remains_in_reach(state: Any, route: int) -> Any:
    """Measure a route again, and return whether it is short enough.

    The times of its nodes may not be known yet.
    """
    _measure(state, route)
    nodes, own = state.nodes, state.own
    reach, kind, terminal = own.fleet.reach, own.fleet.kinds[route], len(own.ready) + route
    first, leaves = nodes[terminal, BEHIND], reach.parts[nodes[terminal, BEFORE], LEAVES]
    driven = _length(own, kind, terminal, first) + reach.parts[first, REST_DRIVEN]
    worked = _taken(own, terminal, first) + reach.parts[first, REST_WORKED]
    lasts = max(worked, max(reach.parts[first, ENDS], own.start[terminal] + worked) - leaves)
    return driven <= reach.limits[kind, _DISTANCE] and lasts <= reach.limits[kind, _DURATION]


@by_reach(nothing)
@njit(cache=True)
def measure_noted(state: Any, scratch: Any, lines: int) -> None:
    """Measure again the routes from which or into which the log moved customers."""
    for column in (NODE_NOTED, BEFORE_NOTED):
        last = -1
        for line in range(lines):
            route = state.nodes[scratch.log[line, column], ROUTE]
            if route >= 0 and route != last:
                _measure(state, route)
            last = route
