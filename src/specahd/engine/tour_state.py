"""What the engine keeps of one closed tour between two slices, in the process that runs it."""

from typing import Any, NamedTuple

import numpy as np

from specahd.engine.changes import CHANGED, CHANGES, COUNTS, NUMBERS
from specahd.engine.links import BEHIND
from specahd.engine.passes import NOISE
from specahd.engine.random import refill, state_of
from specahd.engine.tours import load_tour
from specahd.routing.base import IntArray


class TourState(NamedTuple):
    """The arrays that :func:`specahd.engine.tour_passes.improve` changes, in its order.

    :mod:`specahd.engine.tours` and :mod:`specahd.engine.changes` say what they hold. All are
    linear in the number of nodes.
    """

    nodes: Any
    edges: Any
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


def state_for(tour: IntArray, distances: Any, seed: int) -> TourState:
    """Return the state that begins at a tour.

    Parameters
    ----------
    tour
        All nodes but 0, in the order in which they follow it.
    distances
        :data:`specahd.routing.kernels.distances.Distances`.

    Raises
    ------
    ValueError
        A node is missing, comes twice or does not exist.
    """
    size = len(distances[0] if isinstance(distances, tuple) else distances)
    if len(tour) != size - 1 or (np.sort(tour) != np.arange(1, size)).any():
        raise ValueError(f"Expected each node from 1 to {size - 1} once.")
    nodes = np.zeros((size, 2), np.int32)
    edges = np.zeros(size)
    cost = load_tour(tour, nodes, edges, distances)
    generator = state_of(seed)
    noise = np.empty(NOISE + 2 * 1024)
    refill(generator, noise, 0, len(noise))
    marks = np.zeros((2, size), np.int32)
    marks[CHANGES] = 1
    changed = np.zeros((2, size), np.int32)
    changed[0] = np.arange(size)
    numbers = np.zeros(NUMBERS, np.int64)
    numbers[CHANGED] = size
    return TourState(
        nodes,
        edges,
        np.zeros((4, size), np.int64),
        np.zeros(size),
        marks,
        changed,
        nodes[:, BEHIND].astype(np.int64),
        generator,
        noise,
        np.array([cost, cost]),
        np.zeros(COUNTS, np.int64),
        numbers,
    )
