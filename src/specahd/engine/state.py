"""What the engine keeps of one solution between two slices, in the process that runs it."""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from specahd.engine import changes, links, passes, timed
from specahd.engine.random import refill, state_of
from specahd.routing.base import FloatArray, IntArray
from specahd.routing.kernels.distances import between

MAX_SIZE = 1000
"""Most customers of a group."""


class State(NamedTuple):
    """The arrays that :func:`specahd.engine.passes.improve` changes, in the order in which it
    takes them; :mod:`specahd.engine.links` and :mod:`specahd.engine.passes` say what they hold.

    All are linear in the number of customers.
    """

    nodes: Any
    edges: Any
    route_loads: Any
    free: Any
    shown: Any
    gains: Any
    marks: Any
    changed: Any
    best: Any
    generator: Any
    noise: Any
    costs: Any
    counts: Any
    numbers: Any


def state_for(routes: IntArray, distances: Any, demands: IntArray, seed: int) -> State:
    """Return the state that begins at a solution.

    Parameters
    ----------
    routes
        Of a feasible solution: every customer once, 0 between two routes.
    distances
        :data:`specahd.routing.kernels.distances.Distances`.

    Raises
    ------
    ValueError
        A customer is missing, comes twice or does not exist.
    """
    customers = len(demands) - 1
    visited = routes[routes != 0]
    if len(visited) != customers or (np.sort(visited) != np.arange(1, customers + 1)).any():
        raise ValueError(f"Expected each customer from 1 to {customers} once.")
    # A route that a group empties is free only once the group stays.
    count = customers + MAX_SIZE
    size = customers + 1 + count
    nodes = np.zeros((size, 4), np.int32)
    edges = np.zeros((size, 2))
    loads = np.zeros(count, np.int64)
    free = np.zeros(count, np.int64)
    numbers = np.zeros(changes.NUMBERS, np.int64)
    numbers[changes.FREE] = links.load_routes(routes, nodes, loads, demands, free)
    generator = state_of(seed)
    noise = np.empty(passes.NOISE + 2 * 1024)
    refill(generator, noise, 0, len(noise))
    shown = np.zeros((4, customers + 1), np.int64)
    gains = np.zeros(customers + 1)
    marks = np.zeros((2, size), np.int32)
    changed = np.zeros((2, size), np.int32)
    changed[0, :customers] = np.arange(1, customers + 1)
    marks[changes.CHANGES, 1 : customers + 1] = 1
    numbers[changes.CHANGED] = customers
    cost = _measure(nodes, edges, distances, customers)
    best = nodes[:, links.BEHIND].copy()
    return State(
        nodes,
        edges,
        loads,
        free,
        shown,
        gains,
        marks,
        changed,
        best,
        generator,
        noise,
        np.array([cost, cost]),
        np.zeros(changes.COUNTS, np.int64),
        numbers,
    )


def times_for(
    state: State, ready: FloatArray, due: FloatArray, service: FloatArray
) -> tuple[Any, ...]:
    """Return the times of a state's routes, as :mod:`specahd.engine.timed` has them."""
    size, customers = len(state.nodes), len(ready) - 1
    served = service.copy()
    served[0] = 0.0
    start = np.full(size, ready[0])
    latest = np.full(size, due[0])
    stamps, touched, offered = np.zeros((3, size), np.int64)
    held = np.zeros((size, 2))
    views = np.stack((ready, due, ready, due))
    times = (
        *(ready, due, served, start, latest),
        *(stamps, held, touched, offered, views, np.zeros(3, np.int64)),
    )
    for route in np.unique(state.nodes[1 : customers + 1, links.ROUTE]).tolist():
        timed.refresh_route(times, state.nodes, state.edges, route)
    return times


@njit(cache=True)
def _measure(nodes: Any, edges: Any, distances: Any, customers: int) -> Any:
    """Write the distances of a solution's edges and return their sum."""
    cost = 0.0
    for node in range(1, len(nodes)):
        behind = nodes[node, links.BEHIND]
        distance = between(
            distances,
            0 if node > customers else node,
            0 if behind > customers else behind,
        )
        edges[node, links.BEHIND] = distance
        edges[behind, links.BEFORE] = distance
        cost += distance
    return cost
