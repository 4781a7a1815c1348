"""Descriptor coordinates of a group of customers within depot routes."""

import math
from typing import Any

import numpy as np

from specahd.core.loop_cache import njit

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
    out[1], out[2], out[3] = _shape(coords, nodes, instance_spread)

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
def _shape(coords: Any, nodes: Any, instance_spread: float) -> Any:
    """Return spread, elongation and depot distance of the nodes."""
    size = len(nodes)
    # Relative to the depot, so that a translation changes only rounding errors.
    x = 0.0
    y = 0.0
    for node in nodes:
        x += (coords[node, 0] - coords[0, 0]) / size
        y += (coords[node, 1] - coords[0, 1]) / size
    xx = 0.0
    yy = 0.0
    xy = 0.0
    for node in nodes:
        across = coords[node, 0] - coords[0, 0] - x
        along = coords[node, 1] - coords[0, 1] - y
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
