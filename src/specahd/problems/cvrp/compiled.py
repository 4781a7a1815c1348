"""Compiled equivalent of :func:`specahd.problems.cvrp.construct.rebuild`."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numba import types

from specahd.core.answer import Answer
from specahd.core.errors import InvalidAnswer
from specahd.core.loop_cache import njit
from specahd.problems.cvrp.construct import rebuild
from specahd.routing.base import IntArray
from specahd.routing.compiled.runner import (
    MATRIX,
    NO_ANSWER,
    NUMBER,
    VECTOR,
    CompiledRunner,
    drop,
    local_distances,
    place_of,
    program_type,
    types_of,
)
from specahd.routing.distances import of_block
from specahd.routing.vehicles.interfaces import NEXT_CUSTOMER

_TYPES = types_of(NEXT_CUSTOMER)
_HEAVY, _NO_NODE = -1, -2


@njit(
    types.Tuple((types.Array(types.int64, 1, "C"), types.int64))(
        program_type(*_TYPES), MATRIX, VECTOR, NUMBER
    ),
    cache=True,
)
def _build(programs: Any, distances: Any, demands: Any, capacity: int) -> Any:
    """Return the routes, separated by 0, and the number of fallbacks (negative: an error code)."""
    program = programs[0]
    size = len(demands)
    route = np.empty(2 * size, np.int64)
    # numba does not prevent a program from writing to its arguments. Therefore the loop
    # takes no index from an array that the program receives.
    loads = demands.copy()
    shown = np.empty(size, np.int64)
    # In ascending order; the first `left` entries are unserved.
    remaining = np.arange(1, size)
    left = size - 1
    largest = loads.max()
    length = 0
    fallbacks = 0
    current = 0
    rest = capacity
    if largest > capacity:
        return route[:0], _HEAVY
    while left > 0:
        fitting = left
        if rest < largest:
            fitting = 0
            for place in range(left):
                shown[fitting] = remaining[place]
                fitting += loads[remaining[place]] <= rest
        else:
            for place in range(left):
                shown[place] = remaining[place]
        if fitting == 0:
            route[length] = 0
            length += 1
            current = 0
            rest = capacity
            continue
        answer = program(current, 0, shown[:fitting], rest, demands, distances)
        if answer == NO_ANSWER:
            return route[:0], _NO_NODE
        if answer == 0 and current != 0:
            route[length] = 0
            length += 1
            current = 0
            rest = capacity
            continue
        place = place_of(remaining, left, answer)
        if place < 0 or loads[answer] > rest:
            place = -1
            for other in range(left):
                node = remaining[other]
                if loads[node] <= rest and (
                    place < 0 or distances[current, node] < distances[current, answer]
                ):
                    place = other
                    answer = node
            fallbacks += 1
        route[length] = answer
        length += 1
        drop(remaining, left, place)
        left -= 1
        rest -= loads[answer]
        current = answer
    return route[:length].copy(), fallbacks


def _run(programs: Any, arrays: Mapping[str, Any], inputs: Sequence[IntArray]) -> Answer:
    nodes = np.concatenate(([0], inputs[0]))
    matrix, demands = of_block(arrays), arrays["demands"]
    if len(nodes) < len(demands):
        matrix, demands = local_distances(matrix, nodes), demands[nodes]
    route, fallbacks = _build(programs, matrix, demands, int(arrays["capacity"][0]))
    if fallbacks == _HEAVY:
        raise InvalidAnswer("A customer outweighs an empty vehicle.")
    if fallbacks == _NO_NODE:
        raise InvalidAnswer("Expected an integer, got NoneType.")
    return Answer([route], fallbacks)


REBUILD = CompiledRunner(*_TYPES, _run, rebuild)
"""Runner of the compiled tier in the sandbox child."""
