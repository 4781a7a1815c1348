"""What the engine keeps of a solution with split deliveries between two slices."""

from typing import Any

import numpy as np
from numba import njit

from specahd.engine import changes, deliveries, links, passes
from specahd.engine.random import refill, state_of
from specahd.engine.state import MAX_SIZE, State
from specahd.routing.base import IntArray
from specahd.routing.kernels.distances import between


def state_for(
    routes: IntArray,
    given: IntArray,
    distances: Any,
    demands: IntArray,
    capacity: int,
    seed: int,
) -> tuple[State, tuple[Any, ...]]:
    """Return the state that begins at a solution, and ``held``.

    Parameters
    ----------
    routes, given
        Of a feasible solution: customers with 0 between two routes, and what each is given there.
    distances
        :data:`specahd.routing.kernels.distances.Distances`.

    Raises
    ------
    ValueError
        A customer is given more or less than its demand, or does not exist.
    """
    customers = len(demands) - 1
    received = np.zeros(customers + 1, np.int64)
    if (
        len(given) != len(routes)
        or not ((routes >= 0) & (routes <= customers)).all()
        or (given[routes != 0] < 1).any()
    ):
        raise ValueError(f"Expected deliveries to customers from 1 to {customers}.")
    np.add.at(received, routes[routes != 0], given[routes != 0])
    if (received != demands).any():
        raise ValueError("Expected that each customer is given its demand.")
    used = int(np.count_nonzero(routes))
    # Nodes and routes that a group leaves are free only once the group stays.
    count = used + customers + int(demands.sum()) // capacity + MAX_SIZE
    nodes_count = 2 * count
    size = nodes_count + 1 + count
    nodes = np.zeros((size, 4), np.int32)
    edges = np.zeros((size, 2))
    loads = np.zeros(count, np.int64)
    free = np.zeros(count, np.int64)
    owners = np.zeros(size, np.int64)
    quantities = np.zeros(nodes_count + 1, np.int64)
    heads = np.zeros(customers + 1, np.int64)
    more = np.zeros(nodes_count + 1, np.int64)
    owners[1 : used + 1] = routes[routes != 0]
    quantities[1 : used + 1] = given[routes != 0]
    for node in range(1, used + 1):
        more[node] = heads[owners[node]]
        heads[owners[node]] = node
    numbered = routes.copy()
    numbered[routes != 0] = np.arange(1, used + 1)
    numbers = np.zeros(changes.NUMBERS, np.int64)
    numbers[changes.FREE] = links.load_routes(numbered, nodes, loads, quantities, free)
    spare = np.zeros(nodes_count, np.int64)
    left = nodes_count - used
    spare[:left] = np.arange(nodes_count, used, -1)
    generator = state_of(seed)
    noise = np.empty(passes.NOISE + 2 * 1024)
    refill(generator, noise, 0, len(noise))
    marks = np.zeros((2, size), np.int32)
    changed = np.zeros((2, size), np.int32)
    changed[0, :used] = np.arange(1, used + 1)
    marks[changes.CHANGES, 1 : used + 1] = 1
    numbers[changes.CHANGED] = used
    cost = _measure(nodes, edges, distances, owners, nodes_count)
    best = np.zeros((size, 3), np.int64)
    best[:, 0] = nodes[:, links.BEHIND]
    best[:, deliveries.OWNER_AT_BEST] = owners
    best[: nodes_count + 1, deliveries.QUANTITY_AT_BEST] = quantities
    state = State(
        nodes,
        edges,
        loads,
        free,
        np.zeros((4, customers + 1), np.int64),
        np.zeros(customers + 1),
        marks,
        changed,
        best,
        generator,
        noise,
        np.array([cost, cost]),
        np.zeros(changes.COUNTS, np.int64),
        numbers,
    )
    slots = np.zeros(count, np.int64)
    return state, (owners, quantities, heads, more, spare, np.array([left]), slots)


def set_apart(
    routes: IntArray, given: IntArray, capacity: int
) -> tuple[tuple[IntArray, IntArray], IntArray]:
    """Take whole loads that go to one customer and back out of a solution, all but one of each.

    A demand of very many loads would otherwise be delivered anew, load by load, in each repair.

    Returns
    -------
    The rest of ``routes`` and ``given``, and the customers of the loads that were taken out.
    """
    ends = np.concatenate(([0], routes, [0])) == 0
    direct = np.flatnonzero(ends[:-2] & ends[2:] & (routes != 0) & (given == capacity))
    _, first = np.unique(routes[direct], return_index=True)
    taken = np.delete(direct, first)
    kept = np.ones(len(routes), bool)
    kept[taken] = False
    return (routes[kept], given[kept]), routes[taken]


@njit(cache=True)
def _measure(nodes: Any, edges: Any, distances: Any, owners: Any, deliveries: int) -> Any:
    """Write the distances of a solution's edges and return their sum."""
    cost = 0.0
    for node in range(1, len(nodes)):
        if node <= deliveries and nodes[node, links.ROUTE] < 0:
            continue
        behind = nodes[node, links.BEHIND]
        distance = between(distances, owners[node], owners[behind])
        edges[node, links.BEHIND] = distance
        edges[behind, links.BEFORE] = distance
        cost += distance
    return cost
