"""The loop of the repair operator ``insertion`` for the CVRP, and what the child runs.

NumPy and the standard library only; :mod:`specahd.problems.cvrp.compiled_insertion` compiles it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from specahd.core.answer import Answer
from specahd.engine.reinsertion import (
    MOST_NOISE,
    SHARES,
    SPARE,
    Loops,
    random_numbers,
)
from specahd.routing.base import IntArray
from specahd.routing.distances import of_block


def reinsert(
    programs: Any,
    distances: Any,
    neighbours: Any,
    demands: Any,
    capacity: int,
    lengths: Any,
    customers: Any,
    group: Any,
    repeats: int,
    noise: Any,
    progress: float,
) -> Any:
    """Take a group out and insert it again, ``repeats`` times, and keep what is cheaper.

    Returns
    -------
    The routes that changed, 0 between two of them, and how many answers were replaced.
    """
    program = programs[0]
    nodes = len(demands)
    size = len(lengths) + len(group)
    preceding = np.zeros(nodes, np.int64)
    following = np.zeros(nodes, np.int64)
    route_of = np.zeros(nodes, np.int64)
    first = np.zeros(size, np.int64)
    last = np.zeros(size, np.int64)
    loads = np.zeros(size, np.int64)
    start = 0
    for route in range(len(lengths)):
        before = 0
        for place in range(start, start + lengths[route]):
            node = customers[place]
            route_of[node] = route
            loads[route] += demands[node]
            preceding[node] = before
            if before == 0:
                first[route] = node
            else:
                following[before] = node
            before = node
        last[route] = before
        start += lengths[route]
    touched = np.zeros(size, np.bool_)
    marked = np.zeros(size, np.bool_)
    most = 2 * neighbours.shape[1] + 1
    detours = np.zeros(most)
    steps = np.zeros(most)
    rests = np.zeros(most)
    places = np.zeros(most, np.int64)
    routes = np.zeros(most, np.int64)
    seen = np.zeros(nodes + size, np.int64)
    calls = 0
    drawn = 0
    fallbacks = 0
    for _ in range(repeats):
        old_preceding = preceding.copy()
        old_following = following.copy()
        old_route_of = route_of.copy()
        old_first = first.copy()
        old_last = last.copy()
        old_loads = loads.copy()
        marked[:] = False
        change = 0.0
        for index in range(len(group)):
            node = group[index]
            before = preceding[node]
            after = following[node]
            route = route_of[node]
            change += distances[before, after] - distances[before, node] - distances[node, after]
            if before == 0:
                first[route] = after
            else:
                following[before] = after
            if after == 0:
                last[route] = before
            else:
                preceding[after] = before
            loads[route] -= demands[node]
            route_of[node] = -1
            marked[route] = True
        for index in range(len(group)):
            node = group[index]
            demand = demands[node]
            calls += 1
            count = 0
            for near in range(neighbours.shape[1]):
                other = neighbours[node, near]
                route = route_of[other]
                if other == 0 or route < 0 or loads[route] + demand > capacity:
                    continue
                for side in range(2):
                    before = preceding[other] if side == 0 else other
                    after = other if side == 0 else following[other]
                    known = before if before > 0 else nodes + route
                    if seen[known] == calls:
                        continue
                    seen[known] = calls
                    detours[count] = (
                        distances[before, node] + distances[node, after] - distances[before, after]
                    )
                    steps[count] = distances[before, node]
                    rests[count] = capacity - loads[route] - demand
                    places[count] = before
                    routes[count] = route
                    count += 1
            opened = 0
            while first[opened] != 0:
                opened += 1
            detours[count] = 2.0 * distances[0, node]
            steps[count] = distances[0, node]
            rests[count] = capacity - demand
            places[count] = 0
            routes[count] = opened
            count += 1
            if drawn + count > len(noise):
                drawn = (drawn * 7 + calls) % SPARE
            answer = program(
                detours[:count],
                steps[:count],
                rests[:count],
                noise[drawn : drawn + count],
                float(demand),
                distances[0, node],
                float(capacity),
                progress,
            )
            drawn += count
            if answer < 0 or answer >= count:
                answer = 0
                for place in range(1, count):
                    if detours[place] < detours[answer]:
                        answer = place
                fallbacks += 1
            before = places[answer]
            route = routes[answer]
            after = first[route] if before == 0 else following[before]
            change += distances[before, node] + distances[node, after] - distances[before, after]
            preceding[node] = before
            following[node] = after
            route_of[node] = route
            if before == 0:
                first[route] = node
            else:
                following[before] = node
            if after == 0:
                last[route] = node
            else:
                preceding[after] = node
            loads[route] += demand
            marked[route] = True
        if change < -1e-9:
            for route in range(size):
                touched[route] |= marked[route]
        else:
            preceding = old_preceding
            following = old_following
            route_of = old_route_of
            first = old_first
            last = old_last
            loads = old_loads
    changed = np.zeros(nodes + size, np.int64)
    length = 0
    for route in range(size):
        if touched[route] and first[route] != 0:
            node = first[route]
            while node != 0:
                changed[length] = node
                length += 1
                node = following[node]
            length += 1
    return changed[: max(0, length - 1)].copy(), fallbacks


def rebuild_with(
    loops: Loops, program: Any, arrays: Mapping[str, Any], inputs: Sequence[IntArray]
) -> Answer:
    """Run a lower program on one group."""
    lengths, customers, group, (seed, repeats, progress) = inputs
    distances = of_block(arrays)
    neighbours, _ = loops.neighbours(arrays, distances)
    drawn = int(repeats) * len(group) * (2 * neighbours.shape[1] + 1)
    changed, fallbacks = loops.rebuild(
        program,
        distances,
        neighbours,
        arrays["demands"],
        int(arrays["capacity"][0]),
        lengths,
        customers,
        group,
        int(repeats),
        random_numbers(int(seed), min(MOST_NOISE, SPARE + drawn)),
        float(progress) / SHARES,
    )
    return Answer([changed], int(fallbacks))


LOOPS = Loops(rebuild=reinsert)
"""As they are, for tests."""


def rebuild(
    program: Callable[..., Any], arrays: Mapping[str, Any], inputs: Sequence[IntArray]
) -> Answer:
    """Run a lower program as it is."""
    return rebuild_with(LOOPS, [program], arrays, inputs)
