"""The seed functions of the repair operator ``insertion`` for the TSP, which are prompt text.

The engine (:mod:`specahd.engine.passes`) calls both as compiled functions, many thousand
times a second; what they may say is what :mod:`specahd.routing.compiled.language` lists.
"""

import numpy as np

from specahd.routing.base import FloatArray, IntArray


def select_customer_groups(
    preceding: IntArray,
    following: IntArray,
    neighbours: IntArray,
    neighbour_distances: FloatArray,
    removal_gains: FloatArray,
    exposures: IntArray,
    noise: FloatArray,
    progress: float,
    max_groups: int,
    max_size: int,
) -> IntArray:
    """Choose groups of nodes to take out of the tour and to insert again.

    It is called at the start of every pass. The groups are then repaired one after the
    other: all nodes of a group leave the tour, the gaps close, and each is inserted again, in
    the order in which the group lists them, where the other program chooses. Several strings
    of nodes that pass near each other open the tour in several places at once. The changed
    tour stays if it is shorter, or longer by less than a random amount: at first a distance
    between near nodes on average, a twentieth of it at the end.

    Parameters
    ----------
    preceding, following
        The node before and behind every node on the tour, shape (n,). The tour begins and ends
        at node 0, which never leaves it.
    neighbours
        Nodes near every node, nearest first, without itself and node 0, shape (n, k).
    neighbour_distances
        The distances to them, shape (n, k).
    removal_gains
        By how much the tour gets shorter without each node, shape (n,).
    exposures
        How often every node was in a group so far, shape (n,).
    noise
        Uniform in [0, 1), new in every pass, shape (32 * max_groups,).
    progress
        How much of the time or of the repairs is spent, in [0, 1].
    max_groups, max_size
        Later groups, and later nodes of a group, are dropped.

    Returns
    -------
    array of int
        Nodes from 1 to n - 1 of all groups, in the order in which to insert them, with 0
        between two groups: one array of int64. A node that comes again, in any group, is
        dropped.

    Notes
    -----
    All arrays are read-only. ``noise`` is the only source of chance; derive more from it. A
    pass takes less than a millisecond: loop over some hundred nodes, not over all.
    """
    n = len(preceding) - 1
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
    edges: FloatArray,
    noise: FloatArray,
    removal_gain: float,
    progress: float,
) -> int:
    """Choose where one node that has left the tour is inserted.

    Parameters
    ----------
    detours
        What each position adds to the length of the tour, shape (m,), m at least 1. The
        positions are those next to the node's nearest neighbours.
    distances
        From the node before each position to the one that is inserted, shape (m,).
    edges
        The length of the edge that is opened at each position, shape (m,).
    noise
        Uniform in [0, 1), new in every call, shape (m,).
    removal_gain
        By how much the tour of this pass would be shorter without this node alone.
    progress
        How much of the time or of the repairs is spent, in [0, 1].

    Returns
    -------
    int
        An index into ``detours``. Any other answer is replaced by the cheapest position.

    Notes
    -----
    All arrays are read-only. It is called once for each node that is inserted, so its speed
    decides how many repairs are made in a given time: one loop or a few operations on arrays.
    ``noise`` is the only source of chance.
    """
    return int(np.argmin(detours))
