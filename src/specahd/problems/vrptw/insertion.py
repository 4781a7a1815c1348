"""The lower contract of the repair operator ``insertion`` for the VRPTW: a seed function.

Its upper contract is that of the CVRP (:mod:`specahd.problems.cvrp.insertion`).
"""

import numpy as np

from specahd.routing.base import FloatArray


def select_position(
    detours: FloatArray,
    distances: FloatArray,
    rests: FloatArray,
    slacks: FloatArray,
    shifts: FloatArray,
    noise: FloatArray,
    demand: float,
    depot_distance: float,
    capacity: float,
    progress: float,
) -> int:
    """Choose where one customer that has left its route is inserted.

    Parameters
    ----------
    detours
        What each position adds to the cost, shape (m,), m at least 1. The positions are those
        next to the customer's nearest neighbours, on routes with room for it, where it and all
        later stops are served in time; the last one opens a route of its own, at twice the
        distance from the depot.
    distances
        From the stop before each position to the customer, shape (m,).
    rests
        Capacity that remains on each position's route after the insertion, shape (m,).
    slacks
        How much later its service could begin than it would, with all later stops still in
        time, shape (m,).
    shifts
        How much later the next stop begins than before, or the vehicle is back, shape (m,); 0
        where it waits long enough. In the unit of distances, as ``slacks`` are.
    noise
        Uniform in [0, 1), new in every call, shape (m,).
    demand
        Of the customer.
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
    All arrays are read-only. It is called once for each customer that is inserted, so its
    speed decides how many repairs are made in a given time: one loop or a few operations on
    arrays. ``noise`` is the only source of chance.
    """
    return int(np.argmin(detours))
