"""The hand-written program that chooses groups where a CVRP is solved.

That whole ends of routes should leave was the idea of a program that a language model wrote
(``upper-1-0000`` of ``cassettes/cvrp-insertion-smoke-seed0.jsonl``).
"""

import numpy as np

from specahd.routing.base import FloatArray, IntArray


def strings_and_ends(
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
    """Take strings of consecutive stops, or ends of routes, out of neighbouring routes.

    The strings are those of :func:`specahd.engine.strings.adjacent_strings`. Two groups in five
    are ends: each route is cut at a stop near the first one, and one side of it leaves. Inserted
    again together, ends change places as in a 2-opt* move, for which strings are too short.
    """
    customers = len(demands) - 1
    # As many stops as a route has on average.
    stops = capacity / max(1e-09, demands[1 : min(customers, 2000) + 1].mean())
    longest = int(max(2.0, min(10.0, stops)))
    answer = np.zeros(max_groups * (max_size + 1), np.int64)
    keys = np.zeros(max_size)
    routes = np.zeros(20, np.int64)
    place = 0
    for group in range(max_groups):
        draw = 32 * group
        seed = 1 + int(noise[draw] * customers)
        ends = noise[draw + 31] < 0.4
        wanted = 1 + int(noise[draw + 1] * (40.0 / (1.0 + longest) - 1.0))
        most = min(max_size, 40)
        if ends:
            wanted = 2 + int(noise[draw + 1] * 3.0)
            most = min(max_size, 12 + int(noise[draw + 30] * 20.0))
        used = 0
        size = 0
        for near in range(-1, neighbours.shape[1]):
            if used == wanted:
                break
            node = seed if near < 0 else neighbours[seed, near]
            known = False
            for other in range(used):
                if routes[other] == route_of[node]:
                    known = True
            if known:
                continue
            routes[used] = route_of[node]
            other_draw = draw + 4 * used % 24
            used += 1
            here = node
            begin = 0
            steps = most
            spared = -1
            backwards = ends and noise[other_draw + 5] < 0.5
            if not ends:
                ahead = 0
                while ahead < longest and preceding[here] != 0:
                    here = preceding[here]
                    ahead += 1
                behind = 0
                last = node
                while behind < longest and following[last] != 0:
                    last = following[last]
                    behind += 1
                whole = ahead + 1 + behind
                length = 1 + int(noise[other_draw + 3] * min(longest, whole))
                skipped = 0
                if 1 < length < whole and noise[other_draw + 5] < 0.5:
                    skipped = 1
                span = length + skipped
                least = max(0, span - 1 - behind)
                choices = min(span - 1, ahead) - least + 1
                begin = ahead - least - int(noise[other_draw + 4] * choices)
                steps = begin + span
                # The stop that is skipped stays on the route.
                if skipped > 0:
                    spared = begin + 1 + int(noise[other_draw + 6] * (span - 2))
            for step in range(steps):
                if here == 0 or size == most:
                    break
                if step >= begin and step != spared:
                    answer[place + size] = here
                    size += 1
                here = preceding[here] if backwards else following[here]
        order = noise[draw + 2] * 11.0
        for member in range(size):
            node = answer[place + member]
            if order < 4.0:
                key = noise[draw + (7 * member + 5) % 32]
            elif order < 8.0:
                key = -float(demands[node])
            elif order < 10.0:
                key = -depot_distances[node]
            else:
                key = depot_distances[node]
            slot = member
            while slot > 0 and keys[slot - 1] > key:
                keys[slot] = keys[slot - 1]
                answer[place + slot] = answer[place + slot - 1]
                slot -= 1
            keys[slot] = key
            answer[place + slot] = node
        place += size + 1
    return answer[:place]
