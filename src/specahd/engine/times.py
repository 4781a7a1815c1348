"""Incremental updates of the times of routes.

A change is propagated along its route only as far as times differ. The first change of a node after
the removal of a group notes the node's old times, so that undoing the group needs no propagation.
"""

from typing import Any

from specahd.core.loop_cache import njit
from specahd.engine.inlined import inlined
from specahd.engine.links import BEFORE, BEHIND

GROUP, TOUCHED, CUSTOMER = range(3)
"""Indices of ``clock``, which counts groups, touched nodes and customers."""


@njit(cache=True)
def refresh_route(state: Any, route: int) -> None:
    """Compute all times of a route."""
    nodes, edges, own = state.nodes, state.edges, state.own
    ready, due, service, start, latest = own.ready, own.due, own.service, own.start, own.latest
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


@inlined
def touch(own: Any, node: int) -> None:
    """Note the times of a node, unless they were noted since the group was removed."""
    clock, stamps, noted, touched = own.clock, own.stamps, own.noted, own.touched
    if stamps[node] != clock[GROUP]:
        stamps[node] = clock[GROUP]
        noted[node, 0] = own.start[node]
        noted[node, 1] = own.latest[node]
        touched[clock[TOUCHED]] = node
        clock[TOUCHED] += 1


@inlined
def forward(state: Any, ahead: int) -> None:
    """Propagate a new start of service at a node to the later nodes."""
    nodes, edges, own = state.nodes, state.edges, state.own
    ready, service, start = own.ready, own.service, own.start
    customers = len(ready) - 1
    time = start[ahead] + (0.0 if ahead > customers else service[ahead])
    node = nodes[ahead, BEHIND]
    while node <= customers:
        time = max(time + edges[node, BEFORE], ready[node])
        # Where a vehicle waited long enough, nothing changes from there on.
        if time == start[node]:
            break
        touch(own, node)
        start[node] = time
        time += service[node]
        node = nodes[node, BEHIND]


@inlined
def backward(state: Any, behind: int) -> None:
    """Propagate a new latest start at a node to the earlier nodes."""
    nodes, edges, own = state.nodes, state.edges, state.own
    due, service, latest = own.due, own.service, own.latest
    customers = len(due) - 1
    time = latest[behind]
    node = nodes[behind, BEFORE]
    while node <= customers:
        time = min(due[node], time - edges[node, BEHIND] - service[node])
        if time == latest[node]:
            break
        touch(own, node)
        latest[node] = time
        node = nodes[node, BEFORE]
