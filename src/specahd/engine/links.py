"""Routes as linked lists, for all problems but the TSP; changes are undone exactly.

Customers are nodes 1 to n. Every route has a node of its own for the depot, its *terminal*:
route r has node n + 1 + r, which stands before the route's first customer and behind its last.
``nodes`` holds for each node the one before it, the one behind it and its route (-1 while it is
out), ``edges`` the distances to these two. ``route_loads`` holds the loads of the routes.

Every change is written to a log. :func:`undo` undoes the changes in reverse order, exact to the
last bit: distances are restored, not computed again.
"""

from typing import Any

import numpy as np

from specahd.core.loop_cache import njit
from specahd.engine.inlined import inlined

BEFORE, BEHIND, ROUTE = 0, 1, 2
"""Columns of ``nodes``; the first two are those of ``edges`` too."""
OUT = -1
NODE_NOTED, BEFORE_NOTED, BEHIND_NOTED = 0, 1, 2
"""Columns of the log: a node that was removed or inserted, and the nodes around it."""
JOINED_NOTED = 2
"""Column of ``log_edges`` with the distance between these two, after the distances to them."""


@inlined
def join(state: Any, before: int, behind: int, distance: float) -> None:
    """Make a node follow another at the given distance."""
    nodes, edges = state.nodes, state.edges
    nodes[before, BEHIND] = behind
    nodes[behind, BEFORE] = before
    edges[before, BEHIND] = distance
    edges[behind, BEFORE] = distance


@inlined
def unlink(state: Any, node: int, load: int, distance: float) -> None:
    """Remove a node; ``distance`` is the distance between the nodes around it."""
    nodes = state.nodes
    join(state, nodes[node, BEFORE], nodes[node, BEHIND], distance)
    state.route_loads[nodes[node, ROUTE]] -= load
    nodes[node, ROUTE] = OUT


@inlined
def link(
    state: Any, node: int, load: int, before: int, distance_before: float, distance_behind: float
) -> None:
    """Insert a node behind another one, at the given distances to that one and to the next."""
    nodes, edges = state.nodes, state.edges
    behind = nodes[before, BEHIND]
    route = nodes[before, ROUTE]
    nodes[node, BEFORE] = before
    nodes[node, BEHIND] = behind
    nodes[node, ROUTE] = route
    edges[node, BEFORE] = distance_before
    edges[node, BEHIND] = distance_behind
    nodes[before, BEHIND] = node
    edges[before, BEHIND] = distance_before
    nodes[behind, BEFORE] = node
    edges[behind, BEFORE] = distance_behind
    state.route_loads[route] += load


@inlined
def note(state: Any, scratch: Any, line: int, node: int, joined: float) -> None:
    """Log a node that is about to be removed, or was just inserted.

    ``joined`` is the distance between the nodes around it.
    """
    nodes, edges, log, log_edges = state.nodes, state.edges, scratch.log, scratch.log_edges
    log[line, NODE_NOTED] = node
    log[line, BEFORE_NOTED] = nodes[node, BEFORE]
    log[line, BEHIND_NOTED] = nodes[node, BEHIND]
    log_edges[line, BEFORE] = edges[node, BEFORE]
    log_edges[line, BEHIND] = edges[node, BEHIND]
    log_edges[line, JOINED_NOTED] = joined


@inlined
def undo(state: Any, scratch: Any, loads: Any, removed: int, lines: int) -> None:
    """Undo the changes in the first ``lines`` lines of the log, the last one first.

    Parameters
    ----------
    loads
        The load that each node adds to its route.
    removed
        The number of lines that log removals. They come first; the others log insertions.
    """
    log, log_edges = scratch.log, scratch.log_edges
    for line in range(lines - 1, removed - 1, -1):
        node = log[line, NODE_NOTED]
        unlink(state, node, loads[node], log_edges[line, JOINED_NOTED])
    for line in range(removed - 1, -1, -1):
        node = log[line, NODE_NOTED]
        distance_before, distance_behind = log_edges[line, BEFORE], log_edges[line, BEHIND]
        link(state, node, loads[node], log[line, BEFORE_NOTED], distance_before, distance_behind)


@njit(cache=True)
def load_routes(routes: Any, nodes: Any, route_loads: Any, demands: Any, free: Any) -> int:
    """Write routes, with 0 between two of them, to the lists; return the number of free routes.

    ``free`` becomes the stack of the routes that have no customer, the lowest on top.
    """
    n = len(demands) - 1
    nodes[:, ROUTE] = OUT
    for route in range(len(route_loads)):
        terminal = n + 1 + route
        nodes[terminal, BEFORE] = terminal
        nodes[terminal, BEHIND] = terminal
        nodes[terminal, ROUTE] = route
        route_loads[route] = 0
    used = 0
    last = n + 1
    for place in range(len(routes)):
        node = routes[place]
        terminal = n + 1 + used
        if node == 0:
            if last != terminal:
                used += 1
                last = terminal + 1
            continue
        nodes[last, BEHIND] = node
        nodes[node, BEFORE] = last
        nodes[node, BEHIND] = terminal
        nodes[terminal, BEFORE] = node
        nodes[node, ROUTE] = used
        route_loads[used] += demands[node]
        last = node
    if last != n + 1 + used:
        used += 1
    count = 0
    for route in range(len(route_loads) - 1, used - 1, -1):
        free[count] = route
        count += 1
    return count


@njit(cache=True)
def flat_routes(following: Any, customers: int) -> Any:
    """Return the routes of a list of next nodes, with 0 between two of them."""
    routes = np.zeros(2 * customers, np.int64)
    length = 0
    for terminal in range(customers + 1, len(following)):
        node = following[terminal]
        if node == terminal:
            continue
        if length:
            length += 1
        while node <= customers:
            routes[length] = node
            length += 1
            node = following[node]
    return routes[:length].copy()
