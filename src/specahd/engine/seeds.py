"""The seed functions of the repair operator ``insertion``, which are prompt text.

The engine (:mod:`specahd.engine`) calls both as compiled functions, many thousand times a
second; what they may say is what :mod:`specahd.routing.compiled.language` lists. Contracts of
problems say what they add or change (``passages``).
"""

import numpy as np

from specahd.routing.base import FloatArray, IntArray


def select_customer_groups(
    preceding: IntArray,
    following: IntArray,
    route_of: IntArray,
    neighbours: IntArray,
    neighbour_distances: FloatArray,
    depot_distances: FloatArray,
    removal_gains: FloatArray,
    demands: IntArray,
    capacity: int,
    exposures: IntArray,
    noise: FloatArray,
    progress: float,
    max_groups: int,
    max_size: int,
) -> IntArray:
    """Choose groups of customers to take out of their routes and to insert again.

    It is called at the start of every pass. The groups are then repaired one after the
    other: all customers of a group leave their routes, the gaps close, and each is inserted
    again, in the order in which the group lists them, where the other program chooses. The
    changed solution stays if it is cheaper, or dearer by less than a random amount: at first one
    to three distances between near customers on average, a twentieth of one at the end.

    Parameters
    ----------
    preceding, following
        The stop before and after every customer on its route, shape (n + 1,); 0 is the depot.
        Entry 0 has no meaning.
    route_of
        The number of every customer's route, shape (n + 1,); the numbers have gaps.
    neighbours
        Customers near every customer, nearest first, without itself and the depot, shape
        (n + 1, k), k up to 100; row 0 is the depot's.
    neighbour_distances
        The distances to them, shape (n + 1, k).
    depot_distances
        Between the depot and every customer, shape (n + 1,).
    removal_gains
        By how much the solution gets cheaper without each customer, shape (n + 1,).
    demands
        Demand of every customer, shape (n + 1,); ``demands[0]`` is 0.
    capacity
        What one vehicle carries, in units of demand.
    exposures
        How often every customer was in a group so far, shape (n + 1,).
    noise
        Uniform in [0, 1), new in every pass, shape (32 * max_groups,).
    progress
        How much of the time or of the repairs is spent, in [0, 1].
    max_groups, max_size
        Later groups, and later customers of a group, are dropped.

    Returns
    -------
    array of int
        Customers from 1 to n of all groups, in the order in which to insert them, with 0
        between two groups: one array of int64. A customer that comes again, in any group,
        is dropped.

    Notes
    -----
    ``noise`` is the only source of chance; derive more from it. A pass takes less than a
    millisecond: loop over some hundred customers, not over all.
    """
    n = len(demands) - 1
    size = min(10, max_size)
    groups = np.zeros(max_groups * (size + 1), np.int64)
    count = 0
    for group in range(max_groups):
        seed = 1 + int(noise[group] * n)
        groups[count] = seed
        count += 1
        for near in range(min(size - 1, neighbours.shape[1])):
            groups[count] = neighbours[seed, near]
            count += 1
        count += 1
    return groups


def select_position(
    detours: FloatArray,
    distances: FloatArray,
    rests: FloatArray,
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
        next to the customer's nearest neighbours, on routes with room for it; the last one
        opens a route of its own, at twice the distance from the depot.
    distances
        From the stop before each position to the customer, shape (m,).
    rests
        Capacity that remains on each position's route after the insertion, shape (m,).
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
