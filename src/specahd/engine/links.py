"""Routes as linked lists: what the loops of all problem families do with them, exactly undone.

Customers are nodes 1 to n. Every route has a node of its own for the depot, its *terminal*:
route r has node n + 1 + r, which stands before the route's first customer and behind its last.
``nodes`` holds for each node the one before it, the one behind it and its route (-1 while it is
out), ``edges`` the distances to these two. ``route_loads`` are those of the routes.

Every change is written to a log; :func:`undo` takes back what was done since, in reverse, to
the last bit: distances are restored, not computed again.
"""

from typing import Any

import numpy as np
from numba import njit

BEFORE, BEHIND, ROUTE = 0, 1, 2
"""Columns of ``nodes``; the first two are those of ``edges`` too."""
OUT = -1
ROUTE_NOTED = 4
"""Where a line of the log has the route."""

REMOVED, INSERTED = 0, 1
"""What a line of the log says of its customer."""


@njit(cache=True)
def join(nodes: Any, edges: Any, before: int, behind: int, distance: float) -> None:
    """Let a node follow another at such a distance."""
    nodes[before, BEHIND] = behind
    nodes[behind, BEFORE] = before
    edges[before, BEHIND] = distance
    edges[behind, BEFORE] = distance


@njit(cache=True)
def unlink(
    nodes: Any, edges: Any, route_loads: Any, demand: int, customer: int, distance: float
) -> None:
    """Take a customer out; ``distance`` is that between the nodes around it."""
    join(nodes, edges, nodes[customer, BEFORE], nodes[customer, BEHIND], distance)
    route_loads[nodes[customer, ROUTE]] -= demand
    nodes[customer, ROUTE] = OUT


@njit(cache=True)
def link(
    nodes: Any,
    edges: Any,
    route_loads: Any,
    demand: int,
    customer: int,
    before: int,
    there: float,
    back: float,
) -> None:
    """Put a customer behind a node, at such distances from that and from the next."""
    behind = nodes[before, BEHIND]
    route = nodes[before, ROUTE]
    nodes[customer, BEFORE] = before
    nodes[customer, BEHIND] = behind
    nodes[customer, ROUTE] = route
    edges[customer, BEFORE] = there
    edges[customer, BEHIND] = back
    nodes[before, BEHIND] = customer
    edges[before, BEHIND] = there
    nodes[behind, BEFORE] = customer
    edges[behind, BEFORE] = back
    route_loads[route] += demand


@njit(cache=True)
def note(
    log: Any,
    log_distances: Any,
    line: int,
    kind: int,
    nodes: Any,
    edges: Any,
    node: int,
    joined: float,
) -> None:
    """Write to the log what is about to be taken out, or was just put in.

    ``joined`` is the distance between the nodes around it.
    """
    log[line, 0] = kind
    log[line, 1] = node
    log[line, 2] = nodes[node, BEFORE]
    log[line, 3] = nodes[node, BEHIND]
    log[line, ROUTE_NOTED] = nodes[node, ROUTE]
    log_distances[line, 0] = edges[node, BEFORE]
    log_distances[line, 1] = edges[node, BEHIND]
    log_distances[line, 2] = joined


@njit(cache=True)
def undo(
    log: Any,
    log_distances: Any,
    lines: int,
    nodes: Any,
    edges: Any,
    route_loads: Any,
    demands: Any,
) -> None:
    """Take back the changes that so many lines of the log tell, the last one first."""
    for line in range(lines - 1, -1, -1):
        customer = log[line, 1]
        if log[line, 0] == INSERTED:
            joined = log_distances[line, 2]
            unlink(nodes, edges, route_loads, demands[customer], customer, joined)
        else:
            link(
                nodes,
                edges,
                route_loads,
                demands[customer],
                customer,
                log[line, 2],
                log_distances[line, 0],
                log_distances[line, 1],
            )


@njit(cache=True)
def load_routes(routes: Any, nodes: Any, route_loads: Any, demands: Any, free: Any) -> int:
    """Write routes, with 0 between two of them, to the lists; return how many are free.

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
