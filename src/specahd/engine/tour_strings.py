"""Hand-written programs for the TSP, as :mod:`specahd.engine.strings` has them for routes."""

import numpy as np

from specahd.routing.base import FloatArray, IntArray


def neighbouring_strings(
    preceding: IntArray,
    following: IntArray,
    neighbours: IntArray,
    noise: FloatArray,
    max_groups: int,
    max_size: int,
) -> IntArray:
    """Take strings of up to 6 nodes that pass near one drawn at random; a drawn order."""
    nodes = len(preceding)
    longest = 6.0
    most = min(max_size, 19)
    answer = np.zeros(max_groups * (most + 1), np.int64)
    place = 0
    for group in range(max_groups):
        draw = 32 * group
        seed = 1 + int(noise[draw] * (nodes - 1))
        wanted = 1 + int(noise[draw + 1] * most)
        size = 0
        for near in range(-1, neighbours.shape[1]):
            if size == wanted:
                break
            node = seed if near < 0 else neighbours[seed, near]
            known = False
            for member in range(size):
                if answer[place + member] == node:
                    known = True
            if known:
                continue
            length = min(wanted - size, 1 + int(noise[draw + (2 * near + 4) % 32] * longest))
            for _ in range(int(noise[draw + (2 * near + 5) % 32] * length)):
                if preceding[node] == 0:
                    break
                node = preceding[node]
            for _ in range(length):
                if node == 0:
                    break
                known = False
                for member in range(size):
                    if answer[place + member] == node:
                        known = True
                if not known:
                    answer[place + size] = node
                    size += 1
                node = following[node]
        for member in range(size - 1, 0, -1):
            other = int(noise[draw + (7 * member + 3) % 32] * (member + 1))
            node = answer[place + member]
            answer[place + member] = answer[place + other]
            answer[place + other] = node
        place += size + 1
    return answer[:place]


def greedy_with_blinks(detours: FloatArray, noise: FloatArray) -> int:
    """Insert where the detour is smallest; each position is overlooked once in a hundred."""
    best = 0
    least = np.inf
    for position in range(len(detours)):
        if detours[position] < least and noise[position] >= 0.01:
            least = detours[position]
            best = position
    return best
