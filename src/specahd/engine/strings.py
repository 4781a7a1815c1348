"""Hand-written programs for the engine: seeds of a search, and the reference for evolved ones.

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
    depot_distances: FloatArray,
    demands: IntArray,
    capacity: int,
    noise: FloatArray,
    max_groups: int,
    max_size: int,
) -> IntArray:
    """Take strings of consecutive stops out of neighbouring routes; drawn orders."""
    customers = len(demands) - 1
    mean = 10.0
    # As many stops as a route has on average.
    stops = capacity / max(1e-09, demands[1 : min(customers, 2000) + 1].mean())
    longest = int(max(2.0, min(10.0, stops)))
    most = min(max_size, 40)
    answer = np.zeros(max_groups * (most + 1), np.int64)
    keys = np.zeros(most)
    routes = np.zeros(20, np.int64)
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
            ahead = 0
            first = node
            while ahead < longest and preceding[first] != 0:
                first = preceding[first]
                ahead += 1
            behind = 0
            last = node
            while behind < longest and following[last] != 0:
                last = following[last]
                behind += 1
            whole = ahead + 1 + behind
            length = 1 + int(noise[draw + 3 + 4 * used % 24] * min(longest, whole))
            skipped = 0
            if 1 < length < whole and noise[draw + 5 + 4 * used % 24] < 0.5:
                skipped = 1
            span = length + skipped
            least = max(0, span - 1 - behind)
            choices = min(span - 1, ahead) - least + 1
            begin = ahead - least - int(noise[draw + 4 + 4 * used % 24] * choices)
            # The stop that is skipped stays on the route.
            spared = -1
            if skipped > 0:
                spared = begin + 1 + int(noise[draw + 6 + 4 * used % 24] * (span - 2))
            used += 1
            here = first
            for step in range(begin + span):
                if step >= begin and step != spared and size < most:
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


def greedy_with_blinks(detours: FloatArray, noise: FloatArray) -> int:
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


def route_removal(
    preceding: IntArray,
    following: IntArray,
    demands: IntArray,
    noise: FloatArray,
    max_groups: int,
    max_size: int,
) -> IntArray:
    """Take out a whole route, its customers in the order of their visit."""
    customers = len(demands) - 1
    answer = np.zeros(max_groups * (max_size + 1), np.int64)
    place = 0
    for group in range(max_groups):
        node = 1 + int(noise[32 * group] * customers)
        # No further back than a group is long: of a longer route a part is taken.
        for _ in range(max_size - 1):
            if preceding[node] == 0:
                break
            node = preceding[node]
        for _ in range(max_size):
            if node == 0:
                break
            answer[place] = node
            place += 1
            node = following[node]
        place += 1
    return answer[:place]


def nearest_customers(
    neighbours: IntArray, demands: IntArray, noise: FloatArray, max_groups: int, max_size: int
) -> IntArray:
    """Take a customer and those nearest to it, one in five left out, the nearest first."""
    customers = len(demands) - 1
    answer = np.zeros(max_groups * (max_size + 1), np.int64)
    place = 0
    for group in range(max_groups):
        draw = 32 * group
        seed = 1 + int(noise[draw] * customers)
        wanted = min(max_size, 5 + int(noise[draw + 1] * 11.0))
        answer[place] = seed
        size = 1
        for near in range(neighbours.shape[1]):
            if size == wanted:
                break
            if noise[draw + (2 + near) % 32] < 0.2:
                continue
            answer[place + size] = neighbours[seed, near]
            size += 1
        place += size + 1
    return answer[:place]


def greedy_in_time(detours: FloatArray, noise: FloatArray) -> int:
    """Insert where the detour is smallest, each position overlooked once in a hundred.

    Opening a route is a position like the others: windows make routes differ in what they cost.
    """
    last = len(detours) - 1
    best = last
    least = np.inf
    for position in range(last + 1):
        if detours[position] < least and noise[position] >= 0.01:
            least = detours[position]
            best = position
    return best


def greedy_in_parts(
    detours: FloatArray,
    rests: FloatArray,
    quantities: FloatArray,
    noise: FloatArray,
    demand: float,
    capacity: float,
) -> int:
    """Insert whole where the detour is smallest, or in parts where these cost less together.

    Parts go where the detour is smallest for what is delivered. If a new route is cheapest, the
    best part comes before it if it costs less than a share of that route's, drawn at random.
    """
    last = len(detours) - 1
    best = last
    least = detours[last]
    first = -1
    spent = 0.0
    lacking = demand
    cheapest = np.inf
    taken = np.zeros(last + 1)
    while lacking > 0.0 and spent < least:
        part = -1
        lowest = np.inf
        for position in range(last):
            if taken[position] > 0.0 or noise[position] < 0.01:
                continue
            quantity = min(lacking, rests[position] + quantities[position])
            if detours[position] < lowest * quantity:
                lowest = detours[position] / quantity
                part = position
            # With this one all is delivered.
            if quantity == lacking and spent + detours[position] < least:
                least = spent + detours[position]
                best = position if first < 0 else first
        if part < 0:
            break
        if first < 0:
            first = part
            cheapest = lowest
        taken[part] = 1.0
        spent += detours[part]
        lacking -= min(lacking, rests[part] + quantities[part])
    if best == last and cheapest * capacity < noise[last] * detours[last]:
        best = first
    return best
