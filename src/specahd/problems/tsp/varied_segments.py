"""Upper programs by hand that cut runs out of a tour, each in another way.

A search with ``search.seeds=varied`` begins with all of them. Arguments of the contract that one
does not use are added to it.
"""

from collections.abc import Sequence

import numpy as np

from specahd.routing.base import FloatArray, IntArray


def shifted_runs(
    route: IntArray, max_segments: int, max_segment_size: int
) -> Sequence[Sequence[int] | IntArray]:
    """Take runs of the allowed size that begin half a run later than the tour does."""
    count = len(route)
    size = min(count, max(4, max_segment_size))
    turned = np.roll(route, -(size // 2))
    step = max(size - 1, count // max_segments)
    runs = [np.roll(turned, -start)[:size] for start in range(0, count - size + 1, step)]
    return runs[:max_segments]


def longest_legs(
    route: IntArray, distance_matrix: FloatArray, max_segments: int, max_segment_size: int
) -> Sequence[Sequence[int] | IntArray]:
    """Take runs of the allowed size around the longest legs."""
    count = len(route)
    size = min(count, max(4, max_segment_size))
    legs = distance_matrix[route, np.roll(route, -1)].copy()
    runs: list[IntArray] = []
    while len(runs) < max_segments:
        middle = int(np.argmax(legs))
        if legs[middle] < 0.0:
            break
        places = (middle - size // 2 + np.arange(size)) % count
        runs.append(route[places])
        legs[(middle + np.arange(-size, size)) % count] = -1.0
    return runs


def crossing_legs(
    route: IntArray, distance_matrix: FloatArray, max_segments: int, max_segment_size: int
) -> Sequence[Sequence[int] | IntArray]:
    """Take short runs where turning a piece round would save most."""
    count = len(route)
    size = min(count, max(4, max_segment_size), 40)
    places = (np.arange(count)[:, None] + np.arange(size)) % count
    legs = distance_matrix[route, np.roll(route, -1)]
    across = distance_matrix[route[:, None], route[places]]
    saved = legs[:, None] + legs[places] - across - np.roll(across, -1, axis=0)
    worth = saved[:, 1:-1].max(axis=1)
    runs: list[IntArray] = []
    while len(runs) < max_segments:
        start = int(np.argmax(worth))
        if worth[start] == -np.inf:
            break
        runs.append(route[(start - 2 + np.arange(size)) % count])
        worth[(start + np.arange(2 - size, size - 1)) % count] = -np.inf
    return runs


VARIED = (
    (shifted_runs, "Take runs of the allowed size that begin half a run later."),
    (longest_legs, "Take runs of the allowed size around the longest legs of the tour."),
    (crossing_legs, "Take runs of up to 40 nodes where turning a piece round would save most."),
)
"""The functions, each with its idea."""
