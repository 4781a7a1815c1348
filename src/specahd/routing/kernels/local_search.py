"""2-opt and Or-opt on a closed tour, with neighbour lists and a queue of nodes to process.

The tour is an array of nodes, ``place`` holds the position of each, and a *step* of 1 or -1 is a
direction on it. Reference: J. L. Bentley, ORSA Journal on Computing 4 (1992), 387-411.
"""

from typing import Any

import numpy as np

from specahd.core.loop_cache import njit
from specahd.routing.kernels.distances import leg_length

LONGEST_RUN = 3
"""Most nodes that Or-opt moves together."""
SMALLEST = 8
"""Fewest nodes of a tour that is improved, so that all nodes of a move differ."""
_LEAST_GAIN = 1e-9
"""Least gain of a move, relative to the edge that it removes: more than rounding errors."""


@njit(cache=True, nogil=True)
def improve_tour(distances: Any, neighbours: Any, tour: Any, longest: int) -> None:
    """Make moves that shorten a tour until none is found; ``tour`` is changed in place.

    Parameters
    ----------
    neighbours
        The neighbours of each node, nearest first, shape (n, k).
    longest
        Most nodes that one move reverses: on large tours the rare longer reversals would take
        most of the time.
    """
    size = len(tour)
    if size < SMALLEST:
        return
    place = np.empty(size, np.int64)
    place[tour] = np.arange(size)
    queue = tour.copy()
    queued = np.ones(size, np.bool_)
    first = 0
    waiting = size
    touched = np.empty(6, np.int64)
    while waiting > 0:
        node = queue[first]
        first = (first + 1) % size
        waiting -= 1
        queued[node] = False
        while True:
            count = _two_opt(distances, neighbours, tour, place, node, longest, touched)
            if count == 0:
                count = _or_opt(distances, neighbours, tour, place, node, longest, touched)
            if count == 0:
                break
            for index in range(count):
                other = touched[index]
                if not queued[other]:
                    queued[other] = True
                    queue[(first + waiting) % size] = other
                    waiting += 1


@njit(cache=True, nogil=True)
def _neighbour(tour: Any, place: Any, node: int, step: int) -> Any:
    at = place[node] + step
    return tour[0 if at == len(tour) else at]


@njit(cache=True, nogil=True)
def _exchange(tour: Any, place: Any, first: int, second: int, third: int, fourth: int) -> None:
    """Replace the edges first-second and third-fourth by first-third and second-fourth.

    ``second`` follows ``first`` in the direction in which ``fourth`` follows ``third``.
    """
    size = len(tour)
    if _neighbour(tour, place, first, 1) == second:
        start, stop = place[second], place[third]
    else:
        start, stop = place[third], place[second]
    length = (stop - start) % size + 1
    # Reversing the rest of the tour gives the same closed tour.
    if 2 * length > size:
        start, stop, length = (stop + 1) % size, (start - 1) % size, size - length
    for _ in range(length // 2):
        node = tour[start]
        other = tour[stop]
        tour[start] = other
        place[other] = start
        tour[stop] = node
        place[node] = stop
        start = start + 1 if start + 1 < size else 0
        stop = stop - 1 if stop > 0 else size - 1


@njit(cache=True, nogil=True)
def _is_far(place: Any, node: int, other: int, longest: int) -> Any:
    """Return whether two nodes are more than ``longest`` positions apart in both directions."""
    apart = abs(place[node] - place[other])
    return min(apart, len(place) - apart) > longest


@njit(cache=True, nogil=True)
def _two_opt(
    distances: Any, neighbours: Any, tour: Any, place: Any, node: int, longest: int, touched: Any
) -> int:
    """Exchange two edges, one of them at ``node``; return how many nodes were ``touched``."""
    for step in (1, -1):
        after = _neighbour(tour, place, node, step)
        joined = leg_length(distances, node, after)
        for index in range(neighbours.shape[1]):
            other = neighbours[node, index]
            gain = joined - leg_length(distances, node, other)
            if gain <= 0.0:
                break
            beyond = _neighbour(tour, place, other, step)
            if other == after or beyond == node:
                continue
            gain += leg_length(distances, other, beyond) - leg_length(distances, after, beyond)
            if gain <= _LEAST_GAIN * joined or _is_far(place, node, other, longest):
                continue
            _exchange(tour, place, node, after, other, beyond)
            touched[0], touched[1], touched[2], touched[3] = node, after, other, beyond
            return 4
    return 0


@njit(cache=True, nogil=True)
def _or_opt(
    distances: Any, neighbours: Any, tour: Any, place: Any, node: int, longest: int, touched: Any
) -> int:
    """Move a short run that begins at ``node`` beside one of its neighbours, perhaps reversed."""
    size = len(tour)
    for step in (1, -1):
        before = _neighbour(tour, place, node, -step)
        end = node
        for length in range(1, LONGEST_RUN + 1):
            if length > 1:
                end = _neighbour(tour, place, end, step)
            after = _neighbour(tour, place, end, step)
            joined = leg_length(distances, before, node)
            saved = (
                joined + leg_length(distances, end, after) - leg_length(distances, before, after)
            )
            if saved <= _LEAST_GAIN * joined:
                continue
            for index in range(neighbours.shape[1]):
                other = neighbours[node, index]
                distance = leg_length(distances, node, other)
                if distance >= saved:
                    break
                if (step * (place[other] - place[node])) % size < length:
                    continue
                for side in (1, -1):
                    # The run is inserted between two nodes; ``near`` is the first one from its end.
                    beyond = _neighbour(tour, place, other, side)
                    if (step * (place[beyond] - place[node])) % size < length:
                        continue
                    gain = saved - distance
                    gain += leg_length(distances, other, beyond) - leg_length(
                        distances, end, beyond
                    )
                    if gain <= _LEAST_GAIN * joined or _is_far(place, node, other, longest):
                        continue
                    near, far = (other, beyond) if side == step else (beyond, other)
                    _exchange(tour, place, before, node, near, far)
                    if near != after:
                        _exchange(tour, place, before, near, after, end)
                    if near == other:
                        _exchange(tour, place, near, end, node, far)
                    touched[0], touched[1], touched[2] = node, end, before
                    touched[3], touched[4], touched[5] = after, other, beyond
                    return 6
    return 0
