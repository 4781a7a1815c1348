"""Baseline solvers B: quick, deterministic, always feasible."""

import math

import numpy as np
from scipy.spatial import cKDTree

from specahd.engine.neighbours import nearest_neighbours
from specahd.problems.tsp.instance import Solution, TSPInstance
from specahd.routing.base import FloatArray, IntArray
from specahd.routing.geometry import Convention
from specahd.routing.kernels.distances import Distances, distances_of
from specahd.routing.kernels.local_search import improve_tour
from specahd.routing.kernels.tours import (
    join_fragments,
    nearest_tour,
    pair_distances,
    walk,
)
from specahd.routing.space_filling import along_curve

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
    takes O(n log n). Ties go to the lower indices.
    """
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


def space_filling(instance: TSPInstance) -> Solution:
    """Visit the nodes in the order of a Hilbert curve through their square.

    Reference: J. J. Bartholdi and L. K. Platzman, Operations Research Letters 1
    (1982), 121-125. EXPLICIT instances use coordinates from scaling.
    """
    return tuple(np.argsort(along_curve(instance.coords), kind="stable").tolist())


def two_opt(instance: TSPInstance) -> Solution:
    """Improve the tour of ``greedy`` by 2-opt and Or-opt among the nearest neighbours."""
    tour = np.array(greedy(instance), np.int64)
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
