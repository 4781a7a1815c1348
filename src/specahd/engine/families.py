"""What the loops of problem families do differently, chosen by type when they are compiled.

``times`` is empty for the CVRP. For the VRPTW it holds when service may begin at the earliest
and at the latest and how long it takes (``ready``, ``due``, ``service``, shape (n + 1,); the
depot serves nobody), and per node of the linked lists when service does begin at the earliest
(``start``) and may begin at the latest so that all later stops are in time (``latest``); at a
terminal these are when the depot opens and closes. ``seen`` and ``clock`` tell which routes
were refreshed already.
"""

from collections.abc import Callable
from typing import Any

from numba import njit, types
from numba.extending import overload

from specahd.engine.links import BEFORE, BEHIND, ROUTE, ROUTE_NOTED
from specahd.routing.kernels.distances import between

DETOUR, THERE, BACK, REST, SLACK, SHIFT = range(6)
"""Rows of the positions found for a customer: what it adds, the distances from the node before
and to the node behind, and what lower programs see besides."""


def find_positions(times: Any, *_: Any) -> Any:
    """Write the positions for a customer, that on a new route last; return how many.

    Arguments: ``times``, the customer, the distances, the neighbours and their distances, those
    from the depot, the load of a route up to which the customer fits, ``nodes``, ``edges``,
    ``route_loads``, a free route's terminal, and what is written: ``found`` (:data:`DETOUR`
    and so on) and the nodes ``before`` the positions.
    """
    raise NotImplementedError


def choose(times: Any, *_: Any) -> Any:
    """Ask a lower program.

    Arguments: ``times``, the program, ``found``, how many positions there are, their noise,
    demand, distance from the depot, capacity, progress.
    """
    raise NotImplementedError


def refresh(times: Any, *_: Any) -> Any:
    """Bring the times of all routes up to date that so many lines of the log name.

    Arguments: ``times``, ``nodes``, ``edges``, the log, its lines.
    """
    raise NotImplementedError


def push(times: Any, *_: Any) -> Any:
    """Bring the times of a route up to date after a customer was put in.

    Arguments: ``times``, ``nodes``, ``edges``, the customer.
    """
    raise NotImplementedError


@njit(cache=True)
def _plain_positions(
    times: Any,
    customer: int,
    distances: Any,
    neighbours: Any,
    neighbour_distances: Any,
    depot_distances: Any,
    room: int,
    nodes: Any,
    edges: Any,
    route_loads: Any,
    terminal: int,
    found: Any,
    before: Any,
) -> int:
    customers = len(neighbours) - 1
    home = depot_distances[customer]
    count = 0
    for place in range(neighbours.shape[1]):
        near = neighbours[customer, place]
        route = nodes[near, ROUTE]
        if route < 0:
            continue
        rest = room - route_loads[route]
        if rest < 0:
            continue
        away = neighbour_distances[customer, place]
        behind = nodes[near, BEHIND]
        back = home if behind > customers else between(distances, customer, behind)
        found[DETOUR, count] = away + back - edges[near, BEHIND]
        found[THERE, count] = away
        found[BACK, count] = back
        found[REST, count] = rest
        before[count] = near
        count += 1
        first = nodes[near, BEFORE]
        if first > customers:
            found[DETOUR, count] = home + away - edges[near, BEFORE]
            found[THERE, count] = home
            found[BACK, count] = away
            found[REST, count] = rest
            before[count] = first
            count += 1
    found[DETOUR, count] = home + home
    found[THERE, count] = home
    found[BACK, count] = home
    found[REST, count] = room
    before[count] = terminal
    return count + 1


@njit(cache=True)
def _timed_positions(
    times: Any,
    customer: int,
    distances: Any,
    neighbours: Any,
    neighbour_distances: Any,
    depot_distances: Any,
    room: int,
    nodes: Any,
    edges: Any,
    route_loads: Any,
    terminal: int,
    found: Any,
    before: Any,
) -> int:
    ready, due, service, start, latest, _, _ = times
    customers = len(neighbours) - 1
    home = depot_distances[customer]
    opens = ready[customer]
    closes = due[customer]
    lasts = service[customer]
    farthest = neighbour_distances[customer, neighbours.shape[1] - 1]
    count = 0
    for place in range(neighbours.shape[1]):
        near = neighbours[customer, place]
        route = nodes[near, ROUTE]
        if route < 0:
            continue
        rest = room - route_loads[route]
        if rest < 0:
            continue
        away = neighbour_distances[customer, place]
        # Behind the neighbour, and before it unless that is behind another one.
        for side in range(2):
            if side == 0:
                ahead = near
                behind = nodes[near, BEHIND]
                there = away
                leaves = start[near] + service[near]
            else:
                ahead = nodes[near, BEFORE]
                behind = near
                if ahead > customers:
                    there = home
                    leaves = start[ahead]
                else:
                    there = between(distances, customer, ahead)
                    if there <= farthest:
                        continue
                    leaves = start[ahead] + service[ahead]
            begins = max(leaves + there, opens)
            if begins > closes:
                continue
            if side == 1:
                back = away
            else:
                back = home if behind > customers else between(distances, customer, behind)
            slack = min(closes, latest[behind] - back - lasts) - begins
            if slack < 0.0:
                continue
            reached = begins + lasts + back
            joined = edges[ahead, BEHIND]
            found[DETOUR, count] = there + back - joined
            found[THERE, count] = there
            found[BACK, count] = back
            found[REST, count] = rest
            found[SLACK, count] = slack
            planned = leaves + joined if behind > customers else start[behind]
            found[SHIFT, count] = max(0.0, reached - planned)
            before[count] = ahead
            count += 1
    begins = max(start[terminal] + home, opens)
    found[DETOUR, count] = home + home
    found[THERE, count] = home
    found[BACK, count] = home
    found[REST, count] = room
    found[SLACK, count] = min(closes, latest[terminal] - home - lasts) - begins
    found[SHIFT, count] = begins + lasts + home - start[terminal]
    before[count] = terminal
    return count + 1


@njit(cache=True)
def _plain_choice(
    times: Any,
    lower: Any,
    found: Any,
    count: int,
    noise: Any,
    demand: float,
    home: float,
    capacity: float,
    now: float,
) -> Any:
    return lower(
        found[DETOUR, :count],
        found[THERE, :count],
        found[REST, :count],
        noise,
        demand,
        home,
        capacity,
        now,
    )


@njit(cache=True)
def _timed_choice(
    times: Any,
    lower: Any,
    found: Any,
    count: int,
    noise: Any,
    demand: float,
    home: float,
    capacity: float,
    now: float,
) -> Any:
    return lower(
        found[DETOUR, :count],
        found[THERE, :count],
        found[REST, :count],
        found[SLACK, :count],
        found[SHIFT, :count],
        noise,
        demand,
        home,
        capacity,
        now,
    )


@njit(cache=True)
def _refresh_routes(times: Any, nodes: Any, edges: Any, log: Any, lines: int) -> None:
    seen = times[5]
    clock = times[6]
    clock[0] += 1
    for line in range(lines):
        route = log[line, ROUTE_NOTED]
        if seen[route] != clock[0]:
            seen[route] = clock[0]
            refresh_route(times, nodes, edges, route)


@njit(cache=True)
def refresh_route(times: Any, nodes: Any, edges: Any, route: int) -> None:
    """Compute all times of a route."""
    ready, due, service, start, latest, _, _ = times
    customers = len(ready) - 1
    terminal = customers + 1 + route
    time = start[terminal]
    node = nodes[terminal, BEHIND]
    while node <= customers:
        time = max(time + edges[node, BEFORE], ready[node])
        start[node] = time
        time += service[node]
        node = nodes[node, BEHIND]
    time = latest[terminal]
    node = nodes[terminal, BEFORE]
    while node <= customers:
        time = min(due[node], time - edges[node, BEHIND] - service[node])
        latest[node] = time
        node = nodes[node, BEFORE]


@njit(cache=True)
def _push_route(times: Any, nodes: Any, edges: Any, customer: int) -> None:
    ready, due, service, start, latest, _, _ = times
    customers = len(ready) - 1
    ahead = nodes[customer, BEFORE]
    time = start[ahead] + (0.0 if ahead > customers else service[ahead])
    time = max(time + edges[customer, BEFORE], ready[customer])
    start[customer] = time
    time += service[customer]
    node = nodes[customer, BEHIND]
    while node <= customers:
        time = max(time + edges[node, BEFORE], ready[node])
        # Where a vehicle waited long enough, nothing changes from there on.
        if time == start[node]:
            break
        start[node] = time
        time += service[node]
        node = nodes[node, BEHIND]
    time = latest[nodes[customer, BEHIND]]
    time = min(due[customer], time - edges[customer, BEHIND] - service[customer])
    latest[customer] = time
    node = ahead
    while node <= customers:
        time = min(due[node], time - edges[node, BEHIND] - service[node])
        if time == latest[node]:
            break
        latest[node] = time
        node = nodes[node, BEFORE]


def _of_family(plain: Any, timed: Any) -> Callable[..., Any]:
    """Return what chooses between two functions by the type of ``times``."""

    def chosen(times: Any, *arguments: Any) -> Any:
        function = plain if isinstance(times, types.BaseTuple) and not len(times) else timed

        def call(times: Any, *arguments: Any) -> Any:
            return function(times, *arguments)

        return call

    return chosen


@njit(cache=True)
def _nothing(times: Any, *_: Any) -> None:
    pass


overload(find_positions)(_of_family(_plain_positions, _timed_positions))
overload(choose)(_of_family(_plain_choice, _timed_choice))
overload(refresh)(_of_family(_nothing, _refresh_routes))
overload(push)(_of_family(_nothing, _push_route))
