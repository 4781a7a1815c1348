"""The seed function of the repair operator ``insertion`` for the SDVRP, which is prompt text."""

import numpy as np

from specahd.routing.base import FloatArray


def select_position(
    detours: FloatArray,
    distances: FloatArray,
    rests: FloatArray,
    quantities: FloatArray,
    noise: FloatArray,
    demand: float,
    depot_distance: float,
    capacity: float,
    progress: float,
) -> int:
    """Choose where one customer that has left its routes is inserted, whole or in part.

    A route takes as much of its demand as there is room for. Whatever it still lacks is inserted
    next, by another call, until all is delivered.

    Parameters
    ----------
    detours
        What each position adds to the cost, shape (m,), m at least 1. There is one on every route
        that visits one of the customer's nearest neighbours and has room, where the detour is
        least; the last position opens a route of its own, at twice the distance from the depot.
    distances
        From the stop before each position to the customer, shape (m,).
    rests
        Capacity that remains on each position's route after the insertion, shape (m,).
    quantities
        What would be delivered at each position, shape (m,): all that the customer lacks, or less,
        and then the rest is 0.
    noise
        Uniform in [0, 1), new in every call, shape (m,).
    demand
        What the customer lacks.
    depot_distance
        Between the depot and the customer.
    capacity
        What one vehicle carries.
    progress
        How much of the time or of the repairs is spent, in [0, 1].

    Returns
    -------
    int
        An index into ``detours``. Any other answer is replaced by the cheapest position.

    Notes
    -----
    All arrays are read-only. It is called once or more for each customer that is inserted, so its
    speed decides how many repairs are made in a given time: one loop or a few operations on
    arrays. ``noise`` is the only source of chance.
    """
    return int(np.argmin(detours / quantities))
