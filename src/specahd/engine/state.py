"""Records of arrays for the loop (:mod:`specahd.engine.passes`)."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from specahd.core.loop_cache import njit
from specahd.engine import changes, links
from specahd.engine.random import refill, state_of
from specahd.routing.base import IntArray
from specahd.routing.distances import CONVENTION, MATRIX
from specahd.routing.kernels.distances import leg_length

DEMANDS = "demands"
"""Name of an array that the block of a problem without vehicles does not have."""
PRIZES = "prizes"
"""Name of an array that the block of an instance has where customers may be left out."""
NOISE = 4096
"""Number of random numbers from which the noise of positions is cut."""
NOISE_PER_GROUP = 32
"""Number of random numbers for an upper program per group."""
MAX_SIZE = 1000
"""Maximum number of customers of a group."""


class Instance(NamedTuple):
    """An instance; read-only.

    Parameters
    ----------
    distances
        :data:`specahd.routing.kernels.distances.Distances`.
    neighbours, neighbour_distances
        Shape (n + 1, k), nearest first.
    depot_distances, demands
        Shape (n + 1,); empty and unused for tours.
    prizes
        What leaving a customer out costs, shape (n + 1,): infinite where that is forbidden, 0 where
        it is never inserted; the first entry is the price of those that should be served above all,
        or 0. Empty if all customers must be served.
    """

    distances: Any
    neighbours: Any
    neighbour_distances: Any
    depot_distances: Any
    demands: Any
    capacity: int
    prizes: Any


def instance_for(arrays: Mapping[str, Any], distances: Any, neighbours: Any, near: Any) -> Instance:
    """Return the instance with these columns, and with lists of neighbours and their distances."""
    if DEMANDS not in arrays:
        nothing = np.zeros(0), np.zeros(0, np.int64), 0, np.zeros(0)
        return Instance(distances, neighbours, near, *nothing)
    demands, capacity = arrays[DEMANDS], int(arrays["capacity"][0])
    depot = _depot_row(distances, len(demands))
    # A copy, since loops are compiled for one type of array.
    prizes = np.array(arrays.get(PRIZES, ()), float)
    return Instance(distances, neighbours, near, depot, demands, capacity, prizes)


def examples() -> Iterator[dict[str, Any]]:
    """Yield blocks of an instance of two customers, one of each form that a block may have.

    Loops are compiled for them, and for no other types of arrays.
    """
    for distances in ({MATRIX: np.ones((3, 3))}, {CONVENTION: np.zeros(1, np.int64)}):
        yield {
            "coords": np.arange(6.0).reshape(3, 2),
            DEMANDS: np.array([0, 1, 1]),
            "capacity": np.array([2]),
            "neighbours": np.array([[1], [2], [1]]),
            "neighbour_distances": np.ones((3, 1)),
            **distances,
        }


@njit(cache=True)
def _depot_row(distances: Any, nodes: int) -> Any:
    """Return the distances from the depot to the first ``nodes`` nodes."""
    row = np.empty(nodes)
    for node in range(nodes):
        row[node] = leg_length(distances, 0, node)
    return row


class State(NamedTuple):
    """One current solution, changed in place; kept between slices.

    :mod:`specahd.engine.links` and :mod:`specahd.engine.changes` describe most of the arrays.
    The sizes of all arrays are linear in the number of customers.

    Parameters
    ----------
    free
        A stack of the routes without customers.
    prizes
        The prices by which groups are accepted (:func:`specahd.engine.changes.first_prizes`).
    generator, noise
        The state of the random generator, and the random numbers for lower programs.
    own
        The fields that only this problem has. Their type determines the functions of
        :mod:`specahd.engine.steps`.
    """

    nodes: Any
    edges: Any
    route_loads: Any
    free: Any
    upper_inputs: Any
    gains: Any
    marks: Any
    changed: Any
    best: Any
    generator: Any
    noise: Any
    costs: Any
    counts: Any
    integers: Any
    prizes: Any
    own: Any


class Scratch(NamedTuple):
    """Working memory, not kept between groups.

    Parameters
    ----------
    group
        The customers that are removed.
    log, log_edges
        The log of the changes (:mod:`specahd.engine.links`).
    found, before
        The positions for a customer, a column each (:mod:`specahd.engine.programs` has the rows),
        and the nodes before them.
    upper_noise
        The random numbers for an upper program.
    """

    group: Any
    log: Any
    log_edges: Any
    found: Any
    before: Any
    upper_noise: Any


class Span(NamedTuple):
    """A part of a search: its length, its limits, and values at its beginning and its end."""

    repairs: int
    max_groups: int
    max_size: int
    progress: float
    end_progress: float
    temperature: float
    end_temperature: float
    step_repairs: float


def begun(
    instance: Instance,
    nodes: Any,
    edges: Any,
    loads: Any,
    free: Any,
    left: int,
    used: IntArray,
    cost: float,
    seed: int,
    own: Any,
) -> State:
    """Return the initial state of a search: its solution is the best, upper inputs are not set.

    Parameters
    ----------
    left
        The number of free routes.
    used
        The nodes that belong to customers.
    """
    generator = state_of(seed)
    noise = np.empty(NOISE + 2 * 1024)
    refill(generator, noise, 0, len(noise))
    size = len(instance.neighbours)
    marks, changed = np.zeros((2, 2, len(nodes)), np.int32)
    marks[changes.CHANGES, used] = 1
    changed[0, : len(used)] = used
    integers = np.zeros(changes.INTEGERS, np.int64)
    integers[changes.FREE], integers[changes.CHANGED] = left, len(used)
    return State(
        *(nodes, edges, loads, free),
        *(np.zeros((4, size), np.int64), np.zeros(size)),
        *(marks, changed, nodes[:, links.BEHIND].copy(), generator, noise),
        *(np.array([cost, cost]), np.zeros(changes.COUNTS, np.int64), integers),
        *(changes.first_prizes(instance), own),
    )
