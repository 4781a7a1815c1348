"""Hand-written programs for the engine: seeds of a search, and what evolved ones are compared with.

Adjacent strings and greedy insertion with blinks are those of slack induction by string
removals (Christiaens and Vanden Berghe, Transportation Science 54, 2020).
"""

import numpy as np

from specahd.routing.base import FloatArray, IntArray


def adjacent_strings(
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
    """Take strings of consecutive stops out of neighbouring routes; drawn orders."""
    customers = len(demands) - 1
    mean, longest = 10, 10
    most = min(max_size, 40)
    answer = np.zeros(max_groups * (most + 1), np.int64)
    keys = np.zeros(most)
    routes = np.zeros(8, np.int64)
    place = 0
    for group in range(max_groups):
        draw = 32 * group
        seed = 1 + int(noise[draw] * customers)
        strings = 1 + int(noise[draw + 1] * (4.0 * mean / (1.0 + longest) - 1.0))
        order = noise[draw + 2] * 11.0
        used = 0
        size = 0
        for near in range(-1, neighbours.shape[1]):
            if used == strings:
                break
            node = seed if near < 0 else neighbours[seed, near]
            route = route_of[node]
            known = False
            for other in range(used):
                if routes[other] == route:
                    known = True
            if known:
                continue
            routes[used] = route
            # How many stops the string has, of at most so many on the route around it.
            length = 1 + int(noise[draw + 3 + 4 * used] * longest)
            back = int(noise[draw + 4 + 4 * used] * length)
            skipped = 0
            if length > 1 and noise[draw + 5 + 4 * used] < 0.5:
                skipped = 1 + int(noise[draw + 6 + 4 * used] * 3.0)
            used += 1
            span = length + skipped
            first = node
            for _ in range(back + skipped):
                if preceding[first] == 0:
                    break
                first = preceding[first]
            here = first
            for step in range(span):
                if here == 0 or size == most:
                    break
                # The stops that are skipped stay on the route.
                if step < back or step >= back + skipped or here == node:
                    answer[place + size] = here
                    size += 1
                here = following[here]
        for member in range(size):
            node = answer[place + member]
            if order < 4.0:
                keys[member] = noise[draw + (7 * member + 5) % 32]
            elif order < 8.0:
                keys[member] = -float(demands[node])
            elif order < 10.0:
                keys[member] = -depot_distances[node]
            else:
                keys[member] = depot_distances[node]
        for member in range(1, size):
            node = answer[place + member]
            key = keys[member]
            slot = member
            while slot > 0 and keys[slot - 1] > key:
                keys[slot] = keys[slot - 1]
                answer[place + slot] = answer[place + slot - 1]
                slot -= 1
            keys[slot] = key
            answer[place + slot] = node
        place += size + 1
    return answer[:place]


def greedy_with_blinks(
    detours: FloatArray,
    distances: FloatArray,
    rests: FloatArray,
    noise: FloatArray,
    demand: float,
    depot_distance: float,
    capacity: float,
    progress: float,
) -> int:
    """Insert where the detour is smallest; each position is overlooked once in a hundred."""
    last = len(detours) - 1
    best = last
    least = np.inf
    for position in range(last + 1):
        # A route of its own only if nothing else is seen.
        if position == last and least < np.inf:
            break
        if detours[position] < least and noise[position] >= 0.01:
            least = detours[position]
            best = position
    return best
