"""Construction of closed tours."""

from typing import Any

import numpy as np

from specahd.core.loop_cache import njit
from specahd.routing.kernels.distances import leg_length


@njit(cache=True, nogil=True)
def nearest_tour(coords: Any, distances: Any, side: float, stretch: float, slack: float) -> Any:
    """Return the nearest-neighbour tour from node 0.

    Ties go to the lowest index. The nodes lie in the square cells of a grid,
    which are searched in rings from the current cell outwards.

    Parameters
    ----------
    side
        The side of a cell, in the unit of ``coords``; infinite puts all nodes into one cell.
    stretch, slack
        Nodes at distance d in the convention are at most ``stretch * d + slack``
        apart in the plane.
    """
    size = len(coords)
    left = coords[:, 0].min()
    low = coords[:, 1].min()
    column = ((coords[:, 0] - left) / side).astype(np.int64)
    row = ((coords[:, 1] - low) / side).astype(np.int64)
    columns = column.max() + 1
    rows = row.max() + 1
    cell = column * rows + row
    first = np.zeros(columns * rows, np.int64)
    waiting = np.bincount(cell, minlength=columns * rows)
    first[1:] = np.cumsum(waiting)[:-1]
    # The nodes cell by cell; the unvisited nodes come first in each cell.
    members = np.argsort(cell, kind="mergesort")
    place = np.empty(size, np.int64)
    place[members] = np.arange(size)
    tour = np.zeros(size, np.int64)
    current = 0
    for step in range(size):
        if step > 0:
            chosen = -1
            shortest = np.inf
            ring = 0
            while chosen < 0 or (ring - 1) * side * (1.0 - 1e-9) <= stretch * shortest + slack:
                if ring > max(columns, rows):
                    break
                across = column[current]
                along = row[current]
                for x in range(max(0, across - ring), min(columns, across + ring + 1)):
                    # In the columns between the outermost ones, only the two ends are in the ring.
                    stride = 1 if abs(x - across) == ring else 2 * ring
                    for y in range(along - ring, along + ring + 1, stride):
                        if y < 0 or y >= rows:
                            continue
                        start = first[x * rows + y]
                        for index in range(start, start + waiting[x * rows + y]):
                            node = members[index]
                            distance = leg_length(distances, current, node)
                            if distance < shortest or (distance == shortest and node < chosen):
                                shortest = distance
                                chosen = node
                ring += 1
            current = chosen
            tour[step] = current
        home = cell[current]
        waiting[home] -= 1
        last = members[first[home] + waiting[home]]
        members[place[current]] = last
        place[last] = place[current]
    return tour


@njit(cache=True, nogil=True)
def pair_distances(distances: Any, starts: Any, ends: Any) -> Any:
    """Return the distance of each pair of nodes."""
    out = np.empty(len(starts))
    for pair in range(len(starts)):
        out[pair] = leg_length(distances, starts[pair], ends[pair])
    return out


@njit(cache=True, nogil=True)
def join_fragments(starts: Any, ends: Any, neighbours: Any, other_end: Any) -> int:
    """Join paths end to end in place, trying the pairs in the given order.

    Parameters
    ----------
    starts, ends
        Pairs of nodes.
    neighbours
        Shape (n, 2): the neighbours of each node in its path, -1 where there is none.
    other_end
        Shape (n,): for each end of a path its other end, which is the node itself if
        the path is one node. Kept up to date at the ends only.

    Returns
    -------
    Number of joins.
    """
    joins = 0
    for pair in range(len(starts)):
        i = starts[pair]
        j = ends[pair]
        if i == j or neighbours[i, 1] >= 0 or neighbours[j, 1] >= 0 or other_end[i] == j:
            continue
        neighbours[i, 1 if neighbours[i, 0] >= 0 else 0] = j
        neighbours[j, 1 if neighbours[j, 0] >= 0 else 0] = i
        first = other_end[i]
        last = other_end[j]
        other_end[first] = last
        other_end[last] = first
        joins += 1
    return joins


@njit(cache=True, nogil=True)
def walk(neighbours: Any) -> Any:
    """Return the nodes of the one path that ``neighbours`` holds, from its end of lower index."""
    size = len(neighbours)
    tour = np.empty(size, np.int64)
    node = 0
    while neighbours[node, 1] >= 0:
        node += 1
    previous = -1
    for step in range(size):
        tour[step] = node
        following = neighbours[node, 0]
        if following == previous:
            following = neighbours[node, 1]
        previous = node
        node = following
    return tour
