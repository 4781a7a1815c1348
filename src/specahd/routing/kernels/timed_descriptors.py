"""Descriptor coordinates of a group of customers within depot routes that keep time windows."""

from typing import Any

import numpy as np

from specahd.core.loop_cache import njit
from specahd.routing.kernels.distances import leg_length

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
