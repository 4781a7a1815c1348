"""The seed programs of the repair operator ``insertion``; their bodies are prompt text.

The engine (:mod:`specahd.engine`) calls programs as compiled functions, many thousand times a
second; what they may say is what :mod:`specahd.programs.language` lists. What they are
told stands in :mod:`specahd.engine.interfaces`; a function has those arguments that it uses.
"""

import numpy as np

from specahd.routing.base import FloatArray, IntArray


def nearest_customers(
    neighbours: IntArray, demands: IntArray, noise: FloatArray, max_groups: int, max_size: int
) -> IntArray:
    """Take the 10 customers nearest to one drawn at random."""
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


def nearest_nodes(
    preceding: IntArray, neighbours: IntArray, noise: FloatArray, max_groups: int, max_size: int
) -> IntArray:
    """Take the 10 nodes of a tour nearest to one drawn at random."""
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


def least_detour(detours: FloatArray) -> int:
    """Insert at the position with the least detour."""
    return int(np.argmin(detours))


def least_detour_per_unit(detours: FloatArray, quantities: FloatArray) -> int:
    """Insert at the position with the least detour per unit delivered."""
    return int(np.argmin(detours / quantities))
