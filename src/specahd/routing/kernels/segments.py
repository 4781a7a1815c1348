"""Descriptor coordinates of nodes within a closed tour: of a run, or of scattered nodes."""

import math
from typing import Any

import numpy as np

from specahd.core.loop_cache import njit
from specahd.routing.geometry import Convention
from specahd.routing.kernels.distances import CODES, leg_length

_EXACT = CODES[Convention.EXACT_2D]

SEGMENT_NAMES = (
    "log_size",
    "share",
    "spread",
    "elongation",
    "centre_distance",
    "edge_mean",
    "edge_variation",
    "edge_longest",
    "straightness",
    "anchor_distance",
    "turning",
    "nearness",
    "untangling",
)
"""Names of the values of :func:`describe_segment` in order; explained there."""
SCATTERED_NAMES = (
    "log_size",
    "share",
    "spread",
    "elongation",
    "centre_distance",
    "edge_mean",
    "edge_variation",
    "edge_longest",
    "fragmentation",
    "detour",
    "nearness",
)
"""Names of the values of :func:`describe_scattered` in order; explained there."""


@njit(cache=True, nogil=True)
def describe_segment(
    coords: Any, centre: Any, instance_spread: float, tour_edge: float, nodes: Any
) -> Any:
    """Describe a run by unrounded distances in the plane; a ratio with denominator 0 counts as 0.

    Size is the logarithm of the number of nodes. Share is the part of all nodes
    that is in the run. Spread (root mean square radius), the distance of the
    run's centre from that of the instance, and the distance of the anchors are
    in units of the instance's spread. Elongation is 0 for a disc and 1 for a
    line. The mean edge is in units of the tour's mean edge, and the longest edge
    in units of the run's. Edge variation is the coefficient of variation.
    Straightness is the distance of the anchors over the length of the run, the
    inverse of its detour. Turning is the mean change of direction, 1 for a
    reversal. Nearness is the mean distance from a node to its nearest in the run,
    over the mean edge: 1 if every edge leads to the nearest node. Untangling is
    the mean over edges of the largest saving by exchanging the edge with another
    one of the run (2-opt), over the mean edge: a measure of crossings.

    Parameters
    ----------
    centre
        Mean of all nodes of the instance, shape (2,).
    tour_edge
        Mean edge of the tour.
    nodes
        The run in tour order, anchors included.

    Returns
    -------
    Finite float64 values of :data:`SEGMENT_NAMES`.
    """
    out = np.empty(13)
    size = len(nodes)
    edges = np.empty(size - 1)
    for place in range(size - 1):
        edges[place] = _distance(coords, nodes[place], nodes[place + 1])
    length = edges.sum()
    mean = length / (size - 1)
    anchors = _distance(coords, nodes[0], nodes[size - 1])
    out[0] = math.log(size)
    out[1] = min(1.0, size / len(coords))
    out[2], out[3], out[4] = _shape(coords, centre, instance_spread, nodes)
    out[5] = _ratio(mean, tour_edge)
    out[6] = _ratio(edges.std(), mean)
    out[7] = _ratio(edges.max(), mean)
    out[8] = _ratio(anchors, length)
    out[9] = _ratio(anchors, instance_spread)
    out[10] = _turning(coords, nodes)
    out[11] = _ratio(_nearest_mean(coords, nodes), mean)
    out[12] = _ratio(_untangling(coords, nodes, edges), mean)
    return out


@njit(cache=True, nogil=True)
def describe_scattered(
    coords: Any, centre: Any, instance_spread: float, tour_edge: float, tour: Any, nodes: Any
) -> Any:
    """Describe nodes anywhere on a tour, as :func:`describe_segment` describes a run.

    Edges are those of the tour that touch the nodes. Fragmentation is the number of unbroken
    runs of the nodes on the tour, over the number of nodes. Detour is the share of the edges'
    length that the tour saves if the nodes are removed and the gaps closed.

    Parameters
    ----------
    tour
        All nodes, in the order of the tour.
    nodes
        At least two.

    Returns
    -------
    Finite float64 values of :data:`SCATTERED_NAMES`.
    """
    out = np.empty(11)
    size = len(nodes)
    inside = np.zeros(len(coords), np.bool_)
    for node in nodes:
        inside[node] = True
    edges = np.empty(2 * size)
    count = 0
    runs = 0
    closed = 0.0
    # The walk begins outside the nodes, so that no run continues past its end.
    first = 0
    while first < len(tour) - 1 and inside[tour[first]]:
        first += 1
    left = tour[first]
    previous = left
    for step in range(1, len(tour) + 1):
        node = tour[(first + step) % len(tour)]
        if inside[node] or inside[previous]:
            edges[count] = _distance(coords, previous, node)
            count += 1
        if inside[node] and not inside[previous]:
            runs += 1
            left = previous
        elif inside[previous] and not inside[node]:
            closed += _distance(coords, left, node)
        previous = node
    edges = edges[:count]
    length = edges.sum()
    mean = length / count
    out[0] = math.log(size)
    out[1] = size / len(coords)
    out[2], out[3], out[4] = _shape(coords, centre, instance_spread, nodes)
    out[5] = _ratio(mean, tour_edge)
    out[6] = _ratio(edges.std(), mean)
    out[7] = _ratio(edges.max(), mean)
    out[8] = runs / size
    out[9] = _ratio(length - closed, length)
    out[10] = _ratio(_nearest_mean(coords, nodes), mean)
    return out


@njit(cache=True, nogil=True)
def _shape(coords: Any, centre: Any, instance_spread: float, nodes: Any) -> Any:
    """Return the nodes' spread, elongation, and distance of their centre from that of all."""
    size = len(nodes)
    # Relative to the centre, so that a translation changes only rounding errors.
    x = 0.0
    y = 0.0
    for node in nodes:
        x += (coords[node, 0] - centre[0]) / size
        y += (coords[node, 1] - centre[1]) / size
    xx = 0.0
    yy = 0.0
    xy = 0.0
    for node in nodes:
        across = coords[node, 0] - centre[0] - x
        along = coords[node, 1] - centre[1] - y
        xx += across * across / size
        yy += along * along / size
        xy += across * along / size
    # Eigenvalues of the covariance.
    root = math.sqrt((xx - yy) ** 2 + 4.0 * xy * xy)
    major = 0.5 * (xx + yy + root)
    minor = max(0.0, 0.5 * (xx + yy - root))
    elongation = 1.0 - math.sqrt(minor / major) if major > 0.0 else 0.0
    return (
        _ratio(math.sqrt(xx + yy), instance_spread),
        elongation,
        _ratio(math.sqrt(x * x + y * y), instance_spread),
    )


@njit(cache=True, nogil=True)
def _turning(coords: Any, nodes: Any) -> float:
    """Return the mean change of direction at the nodes that have one, over pi."""
    total = 0.0
    turns = 0
    for place in range(1, len(nodes) - 1):
        before = coords[nodes[place]] - coords[nodes[place - 1]]
        after = coords[nodes[place + 1]] - coords[nodes[place]]
        inner = before[0] * after[0] + before[1] * after[1]
        outer = before[0] * after[1] - before[1] * after[0]
        if inner != 0.0 or outer != 0.0:
            total += abs(math.atan2(outer, inner)) / math.pi
            turns += 1
    return _ratio(total, turns)


@njit(cache=True, nogil=True)
def _nearest_mean(coords: Any, nodes: Any) -> float:
    """Return the mean distance from a node to its nearest other node of the run."""
    total = 0.0
    for place in range(len(nodes)):
        shortest = np.inf
        for other in range(len(nodes)):
            if other != place:
                shortest = min(shortest, _distance(coords, nodes[place], nodes[other]))
        total += shortest
    return total / len(nodes)


@njit(cache=True, nogil=True)
def _untangling(coords: Any, nodes: Any, edges: Any) -> float:
    """Return the mean over the edges of the largest saving by a 2-opt move."""
    total = 0.0
    for first in range(len(edges)):
        largest = 0.0
        for second in range(len(edges)):
            low = min(first, second)
            high = max(first, second)
            if high - low > 1:
                saving = edges[low] + edges[high]
                saving -= _distance(coords, nodes[low], nodes[high])
                saving -= _distance(coords, nodes[low + 1], nodes[high + 1])
                largest = max(largest, saving)
        total += largest
    return total / len(edges)


@njit(cache=True, nogil=True)
def _distance(coords: Any, start: int, end: int) -> Any:
    return leg_length((coords, _EXACT), start, end)


@njit(cache=True, nogil=True)
def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0.0 else 0.0
