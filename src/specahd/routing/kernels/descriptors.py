"""Descriptor coordinates of a group within depot routes, and of nodes within a closed tour."""

import math
from typing import Any

import numpy as np

from specahd.core.loop_cache import njit
from specahd.routing.kernels.distances import leg_length

GROUP_NAMES = (
    "log_size",
    "spread",
    "elongation",
    "depot_distance",
    "edge_mean",
    "edge_variation",
    "depot_edges",
    "detour",
    "log_routes",
    "completeness",
    "fragmentation",
    "slack",
    "demand_mean",
    "demand_variation",
)
"""Names of the values of :func:`describe_group` in order; explained there."""


@njit(cache=True, nogil=True)
def describe_group(
    coords: Any,
    demands: Any,
    capacity: int,
    instance_spread: float,
    nodes: Any,
    lengths: Any,
    values: Any,
) -> Any:
    """Describe a group by unrounded distances; a ratio with denominator 0 counts as 0.

    Size and number of routes are logarithms of counts. Spread (root mean square
    radius) and the distance from the group's centre to the depot are in units of
    the instance's spread. Elongation is 0 for a disc and 1 for a line. Three values
    describe the edges that touch the group: their mean over that of all edges of the
    touched routes, their coefficient of variation, and the share that leads to the
    depot. Detour is the length of the touched routes over the sum of the round trips
    to the farthest customer of each. Completeness is the share of the touched routes'
    customers that belong to the group. Fragmentation is the number of unbroken runs
    of the group in routes, over its size. Slack is the free share of the touched
    routes' capacity. Demand mean is in units of the capacity.

    Parameters
    ----------
    nodes
        The group's customers.
    lengths, values
        The routes that they touch, concatenated.

    Returns
    -------
    Finite float64 values of :data:`GROUP_NAMES`.
    """
    out = np.empty(14)
    size = len(nodes)
    out[0] = math.log(size)
    out[1], out[2], out[3] = _shape(coords, coords[0], instance_spread, nodes)

    inside = np.zeros(len(coords), np.bool_)
    for node in nodes:
        inside[node] = True
    all_length = 0.0
    all_edges = 0
    straight = 0.0
    edges = 0
    depot_edges = 0
    mean = 0.0
    squares = 0.0
    runs = 0
    load = 0
    place = 0
    for route in range(len(lengths)):
        farthest = 0.0
        previous = 0
        for step in range(lengths[route] + 1):
            node = 0
            if step < lengths[route]:
                node = values[place]
                place += 1
                load += demands[node]
                farthest = max(farthest, _distance(coords, 0, node))
            edge = _distance(coords, previous, node)
            all_length += edge
            all_edges += 1
            if inside[node] and not inside[previous]:
                runs += 1
            if inside[node] or inside[previous]:
                edges += 1
                # Welford's update.
                change = edge - mean
                mean += change / edges
                squares += change * (edge - mean)
                if node == 0 or previous == 0:
                    depot_edges += 1
            previous = node
        straight += 2.0 * farthest
    touched = len(lengths)
    out[4] = _ratio(mean * all_edges, all_length)
    out[5] = _ratio(math.sqrt(squares / max(edges, 1)), mean)
    out[6] = _ratio(depot_edges, edges)
    out[7] = _ratio(all_length, straight)
    out[8] = math.log(max(touched, 1))
    out[9] = _ratio(size, place)
    out[10] = runs / size
    out[11] = 1.0 - _ratio(load, touched * capacity)

    mean = 0.0
    for node in nodes:
        mean += demands[node] / size
    squares = 0.0
    for node in nodes:
        squares += (demands[node] - mean) ** 2
    out[12] = mean / capacity
    out[13] = _ratio(math.sqrt(squares / size), mean)
    return out


@njit(cache=True, nogil=True)
def _shape(coords: Any, centre: Any, instance_spread: float, nodes: Any) -> Any:
    """Return the nodes' spread, elongation, and distance of their centre from another."""
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
def _distance(coords: Any, start: int, end: int) -> float:
    across = coords[start, 0] - coords[end, 0]
    along = coords[start, 1] - coords[end, 1]
    return math.sqrt(across * across + along * along)


@njit(cache=True, nogil=True)
def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0.0 else 0.0


TIME_NAMES = ("window_width", "waiting", "time_slack")
"""Names of the values of :func:`describe_times` in order; explained there."""


@njit(cache=True, nogil=True)
def describe_times(
    distances: Any,
    ready: Any,
    due: Any,
    service: Any,
    nodes: Any,
    lengths: Any,
    values: Any,
) -> Any:
    """Describe a group by the times of the routes that it touches.

    Window width and time slack (from the start of service to the closing of the
    window) are means over the group, in units of the time that the depot is open.
    Waiting is the waiting time at the group's customers, over the duration of the
    touched routes. A ratio with denominator 0 counts as 0.

    Parameters
    ----------
    nodes
        The group's customers.
    lengths, values
        The routes that they touch, concatenated.

    Returns
    -------
    Finite float64 values of :data:`TIME_NAMES`.
    """
    inside = np.zeros(len(ready), np.bool_)
    for node in nodes:
        inside[node] = True
    width = 0.0
    waiting = 0.0
    slack = 0.0
    duration = 0.0
    place = 0
    for route in range(len(lengths)):
        time = ready[0]
        previous = 0
        for _ in range(lengths[route]):
            node = values[place]
            place += 1
            arrival = time + leg_length(distances, previous, node)
            start = max(arrival, ready[node])
            if inside[node]:
                width += due[node] - ready[node]
                waiting += start - arrival
                slack += due[node] - start
            time = start + service[node]
            previous = node
        duration += time + leg_length(distances, previous, 0) - ready[0]
    scale = len(nodes) * (due[0] - ready[0])
    out = np.zeros(3)
    if scale > 0.0:
        out[0] = width / scale
        out[2] = slack / scale
    if duration > 0.0:
        out[1] = waiting / duration
    return out


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
