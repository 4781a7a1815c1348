"""Baseline solvers B: quick, deterministic, always feasible."""

import math
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial import cKDTree

from specahd.core.loop_cache import njit
from specahd.engine.neighbours import directed_neighbours, nearest_neighbours
from specahd.problems.tsp.instance import Solution, TSPInstance
from specahd.routing.base import FloatArray, IntArray
from specahd.routing.geometry import Convention, along_curve
from specahd.routing.kernels.distances import Distances, distances_of, leg_length, whole_matrix

NEIGHBOURS = 10
"""Number of neighbours of each node that ``greedy`` considers first."""
MOVE_NEIGHBOURS = 24
"""Number of neighbours of each node for ``two_opt``; fewer miss edges between clusters."""
LONGEST_TURN = 50_000
"""Maximum number of nodes that a move of ``two_opt`` reverses."""

# Nodes at distance d are at most stretch * d + slack apart in the plane.
_REACH = {
    Convention.EUC_2D: (1.0, 0.5),
    Convention.CEIL_2D: (1.0, 0.0),
    Convention.ATT: (math.sqrt(10.0), 0.0),
    Convention.EXACT_2D: (1.0, 0.0),
    Convention.FLOOR_2D: (1.0, 1.0),
    Convention.DIMACS: (1.0, 0.1),
}


def nearest(instance: TSPInstance) -> Solution:
    """Go from node 0 to the nearest unvisited node until none is left.

    Ties go to the lowest index. If distances are measured in the plane, a grid
    of about two nodes to a cell avoids most comparisons.
    """
    side, reach = math.inf, (1.0, 0.0)
    if instance.convention in _REACH:
        side, reach = _cell_side(instance.coords), _REACH[instance.convention]
    return tuple(nearest_tour(instance.coords, _distances(instance), side, *reach).tolist())


def _distances(instance: TSPInstance) -> Distances:
    return distances_of(instance.coords, instance.convention, instance.matrix)


def _cell_side(coords: FloatArray) -> float:
    """Return the side of square cells of which there are about half as many as nodes."""
    width, height = (coords.max(axis=0) - coords.min(axis=0)).tolist()
    share = 2.0 / len(coords)
    side = max(math.sqrt(width * height * share), max(width, height) * share)
    return side if side > 0.0 else math.inf


def greedy(instance: TSPInstance) -> Solution:
    """Take the shortest edges first that keep every node on a simple path.

    At first only edges to the :data:`NEIGHBOURS` nearest are tried. While paths
    are left, the same is done again among the ends of the paths, so the whole
    takes O(n log n). Ties go to the lower indices. Where ways are directed, it takes ways, and
    paths have a first and a last node.
    """
    if instance.matrix is not None and instance.directed:
        return _greedy_ways(instance.matrix)
    neighbours = np.full((instance.size, 2), -1)
    other_end = np.arange(instance.size)
    # Otherwise many nodes at one place would all have the same few neighbours.
    paths = instance.size - join_fragments(*_twins(instance), neighbours, other_end)
    nodes = np.flatnonzero(neighbours[:, 1] < 0)
    while paths > 1:
        starts, ends = _pairs(instance, nodes)
        # At most two of an end's three or more nearest are itself and its path's other
        # end. So a pair is left, and every round joins some paths.
        apart = other_end[starts] != ends
        starts, ends = starts[apart], ends[apart]
        lengths = pair_distances(_distances(instance), starts, ends)
        # Pairs come in lexicographic order, which a stable sort keeps among equals.
        order = np.argsort(lengths, kind="stable")
        paths -= join_fragments(starts[order], ends[order], neighbours, other_end)
        nodes = nodes[neighbours[nodes, 1] < 0]
    return tuple(walk(neighbours).tolist())


def _greedy_ways(matrix: FloatArray) -> Solution:
    """Return the tour of the shortest ways first.

    Node i is a pair of nodes that are joined: i, from which a way leaves, and n + i, at which one
    arrives. Ways are then edges between the two halves, as :func:`join_fragments` takes them.
    """
    size = len(matrix)
    nodes = np.arange(size)
    other_end = np.concatenate((size + nodes, nodes))
    neighbours = np.stack((other_end, np.full(2 * size, -1)), axis=1)
    lasts = firsts = nodes
    paths = size
    while paths > 1:
        ways = matrix[np.ix_(lasts, firsts)]
        ranks = np.argsort(ways, axis=1, kind="stable")[:, : NEIGHBOURS + 1]
        starts, ends = np.repeat(lasts, ranks.shape[1]), size + firsts[ranks.ravel()]
        # Of two or more first nodes, one is not that of the same path.
        apart = other_end[starts] != ends
        starts, ends = starts[apart], ends[apart]
        order = np.argsort(matrix[starts, ends - size], kind="stable")
        paths -= join_fragments(starts[order], ends[order], neighbours, other_end)
        lasts, firsts = (np.flatnonzero(half[:, 1] < 0) for half in np.split(neighbours, 2))
    path = walk(neighbours)
    # It begins where the last way would leave.
    return tuple(path[path < size][::-1].tolist())


def patching(instance: TSPInstance) -> Solution:
    """Join the cycles of the cheapest assignment of a following node to each node.

    The smallest cycle is joined to another one where that costs least, until one is left. Good
    where ways differ much from the ways back. O(n^3), with a matrix.

    Reference: R. M. Karp, SIAM Journal on Computing 8 (1979), 561-573.
    """
    who = f"The baseline patching of {instance.name}"
    ways = whole_matrix(instance.coords, instance.convention, instance.matrix, who, 2).copy()
    np.fill_diagonal(ways, np.inf)
    following = linear_sum_assignment(ways)[1]
    cycle = np.full(instance.size, -1)
    for start in range(instance.size):
        node = start
        while cycle[node] < 0:
            cycle[node] = start
            node = following[node]
    sizes = np.bincount(cycle)
    while np.count_nonzero(sizes) > 1:
        joined = int(np.argmin(np.where(sizes, sizes, instance.size)))
        own, others = np.flatnonzero(cycle == joined), np.flatnonzero(cycle != joined)
        added = ways[np.ix_(own, following[others])] + ways[np.ix_(others, following[own])].T
        added -= ways[own, following[own]][:, None] + ways[others, following[others]]
        place, other_place = np.unravel_index(np.argmin(added), added.shape)
        node, other = own[place], others[other_place]
        following[[node, other]] = following[[other, node]]
        sizes[cycle[other]] += sizes[joined]
        sizes[joined] = 0
        cycle[own] = cycle[other]
    tour = [0]
    while len(tour) < instance.size:
        tour.append(int(following[tour[-1]]))
    return tuple(tour)


def space_filling(instance: TSPInstance) -> Solution:
    """Visit the nodes in the order of a Hilbert curve through their square.

    Reference: J. J. Bartholdi and L. K. Platzman, Operations Research Letters 1
    (1982), 121-125. EXPLICIT instances use coordinates from scaling.
    """
    return tuple(np.argsort(along_curve(instance.coords), kind="stable").tolist())


def two_opt(instance: TSPInstance) -> Solution:
    """Improve the tour of ``greedy`` by 2-opt and Or-opt among the nearest neighbours.

    Where ways are directed, nothing is turned round: runs of nodes are moved as they stand.
    """
    tour = np.array(greedy(instance), np.int64)
    if instance.matrix is not None and instance.directed:
        both = directed_neighbours(instance.matrix, NEIGHBOURS)
        improve_tour(instance.matrix, both, tour, LONGEST_TURN)
        return tuple(tour.tolist())
    count = min(MOVE_NEIGHBOURS, instance.size - 1)
    near, _ = nearest_neighbours(
        instance.coords, instance.convention, instance.matrix, count, depot=False
    )
    improve_tour(_distances(instance), near, tour, LONGEST_TURN)
    return tuple(tour.tolist())


def with_fixed_edges(instance: TSPInstance, tour: Solution) -> Solution:
    """Insert every path of fixed edges into the tour at the place of its first node."""
    if not instance.fixed_edges:
        return tour
    neighbours: dict[int, list[int]] = {}
    for start, end in instance.fixed_edges:
        neighbours.setdefault(start, []).append(end)
        neighbours.setdefault(end, []).append(start)
    laid: list[int] = []
    placed: set[int] = set()
    for node in tour:
        if node not in placed:
            path = _path(node, neighbours)
            laid += path
            placed.update(path)
    return tuple(laid)


def _path(node: int, neighbours: dict[int, list[int]]) -> list[int]:
    """Return the path of fixed edges through a node, from one end to the other."""
    path = [node]
    for _ in neighbours.get(node, ()):
        # Once in each direction.
        path.reverse()
        while following := [other for other in neighbours[path[-1]] if other not in path]:
            path.append(following[0])
    return path


def _pairs(instance: TSPInstance, nodes: IntArray) -> tuple[IntArray, IntArray]:
    """Return the sorted pairs i < j of ``nodes`` in which one is among the other's nearest."""
    neighbours = _neighbours(instance, nodes)
    owners = np.repeat(nodes, neighbours.shape[1])
    low = np.minimum(owners, neighbours.ravel())
    high = np.maximum(owners, neighbours.ravel())
    keys = np.unique((low * instance.size + high)[low < high])
    starts, ends = np.divmod(keys, instance.size)
    return starts, ends


def _twins(instance: TSPInstance) -> tuple[IntArray, IntArray]:
    """Return pairs that chain the nodes with equal coordinates; none if there is a matrix."""
    order = np.lexsort(instance.coords.T)
    if instance.matrix is not None:
        return order[:0], order[:0]
    points = instance.coords[order]
    same = (points[1:] == points[:-1]).all(axis=1)
    return order[:-1][same], order[1:][same]


def _neighbours(instance: TSPInstance, nodes: IntArray) -> IntArray:
    """Return the nearest of ``nodes`` for each of them, itself included, the farthest last."""
    # The nearest points of a node include itself.
    count = min(NEIGHBOURS + 1, len(nodes))
    if instance.matrix is None:
        points = _points(instance)[nodes]
        ranks = np.asarray(cKDTree(points).query(points, k=np.arange(1, count + 1))[1])
    else:
        distances = instance.matrix[np.ix_(nodes, nodes)]
        ranks = np.argsort(distances, axis=1, kind="stable")[:, :count]
    return nodes[ranks]


def _points(instance: TSPInstance) -> FloatArray:
    """Return points whose straight distances have the same order as the convention's distances."""
    if instance.convention is not Convention.GEO:
        return instance.coords
    whole = np.trunc(instance.coords)
    angles = (whole + 5.0 * (instance.coords - whole) / 3.0) * math.pi / 180.0
    latitude, longitude = angles[:, 0], angles[:, 1]
    across = np.cos(latitude)
    return np.stack(
        (across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)), axis=1
    )


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


LONGEST_RUN = 3
"""Most nodes that Or-opt moves together."""
LONGEST_DIRECTED_RUN = 50
"""The same number where ways are directed, and nothing is turned round."""
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
        The neighbours of each node, nearest first, shape (n, k). If ways are directed, those of
        :func:`specahd.engine.neighbours.directed_neighbours`.
    longest
        Most nodes that one move reverses or shifts: on large tours the rare longer moves would take
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
            # Chosen when this is compiled.
            if neighbours.ndim == 3:
                count = _move_run(distances, neighbours, tour, place, node, longest, touched)
            else:
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
def _exchange(tour: Any, place: Any, first: int, second: int, third: int) -> None:
    """Replace the edges first-second and third-fourth by first-third and second-fourth.

    ``fourth`` follows ``third`` in the direction in which ``second`` follows ``first``.
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
            _exchange(tour, place, node, after, other)
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
                    near = other if side == step else beyond
                    _exchange(tour, place, before, node, near)
                    if near != after:
                        _exchange(tour, place, before, near, after)
                    if near == other:
                        _exchange(tour, place, near, end, node)
                    touched[0], touched[1], touched[2] = node, end, before
                    touched[3], touched[4], touched[5] = after, other, beyond
                    return 6
    return 0


@njit(cache=True, nogil=True)
def _move_run(
    distances: Any, neighbours: Any, tour: Any, place: Any, node: int, longest: int, touched: Any
) -> int:
    """Move a run that begins or ends at ``node`` behind or before a near node, not reversed."""
    size = len(tour)
    for step in (1, -1):
        far = node
        for length in range(1, min(LONGEST_DIRECTED_RUN, size - 3) + 1):
            if length > 1:
                far = _neighbour(tour, place, far, step)
            start, end = (node, far) if step == 1 else (far, node)
            before = _neighbour(tour, place, start, -1)
            after = _neighbour(tour, place, end, 1)
            left = leg_length(distances, before, start) + leg_length(distances, end, after)
            saved = left - leg_length(distances, before, after)
            for side in range(2):
                for index in range(neighbours.shape[2]):
                    near = neighbours[side, start if side == 0 else end, index]
                    ahead = near if side == 0 else _neighbour(tour, place, near, -1)
                    behind = _neighbour(tour, place, ahead, 1)
                    # Nodes from the run to the new place, and from there to the run.
                    beyond = (place[ahead] - place[end]) % size
                    within = size - length - beyond
                    if beyond < 1 or within < 1 or min(beyond, within) > longest:
                        continue
                    opened = leg_length(distances, ahead, behind)
                    gain = saved + opened - leg_length(distances, ahead, start)
                    gain -= leg_length(distances, end, behind)
                    if gain <= _LEAST_GAIN * (left + opened):
                        continue
                    if beyond <= within:
                        _swap(tour, place, place[start], length, beyond)
                    else:
                        _swap(tour, place, place[behind], within, length)
                    touched[0], touched[1], touched[2] = start, end, before
                    touched[3], touched[4], touched[5] = after, ahead, behind
                    return 6
    return 0


@njit(cache=True, nogil=True)
def _swap(tour: Any, place: Any, first: int, length: int, other: int) -> None:
    """Exchange two adjacent blocks of ``length`` and ``other`` nodes, at a position ``first``."""
    size = len(tour)
    block = np.empty(length + other, np.int64)
    for index in range(len(block)):
        block[index] = tour[(first + (index + length) % len(block)) % size]
    for index in range(len(block)):
        at = (first + index) % size
        tour[at] = block[index]
        place[block[index]] = at
