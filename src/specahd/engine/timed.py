"""What the loops do for routes with time windows: positions in time, and times kept up to date.

``times`` holds when service may begin at the earliest and at the latest and how long it takes
(``ready``, ``due``, ``service``, shape (n + 1,); the depot serves nobody), and per node of the
linked lists when service does begin at the earliest (``start``) and may begin at the latest so
that all later stops are in time (``latest``); at a terminal these are when the depot opens and
closes. A change runs along its route only as far as times differ. What they were before a group
was taken out is noted at the first change (``held``, of the ``touched`` nodes, which ``stamps``
tell), so that a group that is taken back costs no walk. ``offered`` tells which positions a
customer was offered. ``views``, shape (4, n + 1), are what upper programs see of all this, and
nothing else reads them. ``clock`` counts groups, touched nodes and customers.
"""

from typing import Any

from numba import njit

from specahd.engine import changes
from specahd.engine.links import BEFORE, BEHIND, ROUTE
from specahd.engine.programs import BACK, DETOUR, REST, SHIFT, SLACK, THERE
from specahd.routing.kernels.distances import between

GROUP, TOUCHED, CUSTOMER = range(3)
"""What ``clock`` counts."""
OPENS, CLOSES, EARLIEST, LATEST = range(4)
"""The rows of ``views``: windows, and the times of the current solution."""


@njit(cache=True)
def positions(
    times: Any,
    customer: int,
    distances: Any,
    neighbours: Any,
    neighbour_distances: Any,
    depot_distances: Any,
    room: int,
    most: float,
    nodes: Any,
    edges: Any,
    route_loads: Any,
    terminal: int,
    found: Any,
    before: Any,
) -> int:
    """Do what :func:`specahd.engine.families.find_positions` says."""
    ready, due, service, start, latest, _, _, _, offered, _, clock = times
    customers = len(neighbours) - 1
    home = depot_distances[customer]
    opens = ready[customer]
    closes = due[customer]
    lasts = service[customer]
    clock[CUSTOMER] += 1
    now = clock[CUSTOMER]
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
        for side in range(2):
            ahead = near if side == 0 else nodes[near, BEFORE]
            if offered[ahead] == now:
                continue
            offered[ahead] = now
            leaves = start[ahead]
            if side == 0:
                there = away
                leaves += service[near]
            elif ahead > customers:
                there = home
            else:
                there = between(distances, customer, ahead)
                leaves += service[ahead]
            begins = max(leaves + there, opens)
            if begins > closes:
                continue
            behind = nodes[ahead, BEHIND]
            if side == 1:
                back = away
            elif behind > customers:
                back = home
            else:
                back = between(distances, customer, behind)
            joined = edges[ahead, BEHIND]
            detour = there + back - joined
            slack = min(closes, latest[behind] - back - lasts) - begins
            if slack < 0.0 or detour > most:
                continue
            reached = begins + lasts + back
            planned = leaves + joined if behind > customers else start[behind]
            found[DETOUR, count] = detour
            found[THERE, count] = there
            found[BACK, count] = back
            found[REST, count] = rest
            found[SLACK, count] = slack
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
def show(
    times: Any,
    distances: Any,
    nodes: Any,
    edges: Any,
    shown: Any,
    gains: Any,
    marks: Any,
    changed: Any,
    numbers: Any,
) -> None:
    """Do what :func:`specahd.engine.families.show` says."""
    changes.show(distances, nodes, edges, shown, gains, marks, changed, numbers)
    _, _, _, start, latest, _, _, _, _, views, _ = times
    # Copying all takes no longer than a list of what differs would, for a thousand customers.
    for node in range(views.shape[1]):
        views[EARLIEST, node] = start[node]
        views[LATEST, node] = latest[node]


@njit(cache=True)
def refresh_route(times: Any, nodes: Any, edges: Any, route: int) -> None:
    """Compute all times of a route."""
    ready, due, service, start, latest, _, _, _, _, _, _ = times
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
def _touch(times: Any, node: int) -> None:
    """Note the times of a node, unless they were since the group was taken out."""
    _, _, _, start, latest, stamps, held, touched, _, _, clock = times
    if stamps[node] != clock[GROUP]:
        stamps[node] = clock[GROUP]
        held[node, 0] = start[node]
        held[node, 1] = latest[node]
        touched[clock[TOUCHED]] = node
        clock[TOUCHED] += 1


@njit(cache=True)
def restore(times: Any) -> None:
    """Take back the times from before the group was taken out."""
    _, _, _, start, latest, _, held, touched, _, _, clock = times
    for place in range(clock[TOUCHED]):
        node = touched[place]
        start[node] = held[node, 0]
        latest[node] = held[node, 1]
    clock[TOUCHED] = 0


@njit(cache=True)
def forward(times: Any, nodes: Any, edges: Any, ahead: int) -> None:
    """Let what is new at a node reach the later ones."""
    ready, _, service, start, _, _, _, _, _, _, _ = times
    customers = len(ready) - 1
    time = start[ahead] + (0.0 if ahead > customers else service[ahead])
    node = nodes[ahead, BEHIND]
    while node <= customers:
        time = max(time + edges[node, BEFORE], ready[node])
        # Where a vehicle waited long enough, nothing changes from there on.
        if time == start[node]:
            break
        _touch(times, node)
        start[node] = time
        time += service[node]
        node = nodes[node, BEHIND]


@njit(cache=True)
def backward(times: Any, nodes: Any, edges: Any, behind: int) -> None:
    """Let what is new at a node reach the earlier ones."""
    _, due, service, _, latest, _, _, _, _, _, _ = times
    customers = len(due) - 1
    time = latest[behind]
    node = nodes[behind, BEFORE]
    while node <= customers:
        time = min(due[node], time - edges[node, BEHIND] - service[node])
        if time == latest[node]:
            break
        _touch(times, node)
        latest[node] = time
        node = nodes[node, BEFORE]


@njit(cache=True)
def close_gaps(times: Any, nodes: Any, edges: Any, log: Any, lines: int) -> None:
    """Bring times up to date where the customers of a group left gaps."""
    clock = times[-1]
    clock[GROUP] += 1
    clock[TOUCHED] = 0
    for line in range(lines):
        ahead = log[line, 2]
        behind = log[line, 3]
        # Of a string only the customer that left last stood between two that stay.
        if (
            nodes[ahead, ROUTE] >= 0
            and nodes[behind, ROUTE] >= 0
            and nodes[ahead, BEHIND] == behind
        ):
            forward(times, nodes, edges, ahead)
            backward(times, nodes, edges, behind)


@njit(cache=True)
def push(times: Any, nodes: Any, edges: Any, customer: int) -> None:
    """Bring times up to date after a customer was put in."""
    ready, due, service, start, latest, _, _, _, _, _, _ = times
    customers = len(ready) - 1
    _touch(times, customer)
    ahead = nodes[customer, BEFORE]
    time = start[ahead] + (0.0 if ahead > customers else service[ahead])
    start[customer] = max(time + edges[customer, BEFORE], ready[customer])
    forward(times, nodes, edges, customer)
    time = latest[nodes[customer, BEHIND]]
    latest[customer] = min(due[customer], time - edges[customer, BEHIND] - service[customer])
    backward(times, nodes, edges, customer)
