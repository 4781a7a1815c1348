"""Compiled equivalent of :func:`specahd.problems.vrptw.construct.rebuild`."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numba import types

from specahd.core.answer import Answer
from specahd.core.errors import InvalidAnswer
from specahd.core.loop_cache import njit
from specahd.problems.vrptw.construct import rebuild
from specahd.problems.vrptw.interfaces import NEXT_CUSTOMER
from specahd.routing.base import IntArray
from specahd.routing.compiled.runner import (
    MATRIX,
    NO_ANSWER,
    NUMBER,
    REALS,
    VECTOR,
    CompiledRunner,
    local_distances,
    program_type,
    types_of,
)
from specahd.routing.distances import of_block

_TYPES = types_of(NEXT_CUSTOMER)
_UNREACHABLE, _NO_NODE = -1, -2


@njit(
    types.Tuple((types.Array(types.int64, 1, "C"), types.int64))(
        program_type(*_TYPES), MATRIX, VECTOR, NUMBER, REALS, REALS, REALS
    ),
    cache=True,
)
def _build(
    programs: Any, distances: Any, demands: Any, capacity: int, ready: Any, due: Any, service: Any
) -> Any:
    """Return the routes, separated by 0, and the number of fallbacks (negative: an error code)."""
    program = programs[0]
    size = len(demands)
    route = np.empty(2 * size, np.int64)
    # numba does not prevent a program from writing to its arguments. Therefore the loop
    # takes no index from an array that the program receives.
    waiting = np.ones(size, np.bool_)
    waiting[0] = False
    fits = np.zeros(size, np.bool_)
    finish = np.empty(size)
    shown = np.empty(size, np.int64)
    left = size - 1
    length = 0
    fallbacks = 0
    current = 0
    rest = capacity
    time = ready[0]
    while left > 0:
        fitting = 0
        for node in range(1, size):
            # The terms have the same order as in the checker.
            finish[node] = max(distances[current, node] + time, ready[node])
            in_time = finish[node] <= due[node]
            finish[node] += service[node]
            in_time &= finish[node] + distances[0, node] <= due[0]
            shown[fitting] = node
            fits[node] = in_time & waiting[node] & (demands[node] <= rest)
            fitting += fits[node]
        if fitting == 0:
            if current == 0:
                return route[:0], _UNREACHABLE
            route[length] = 0
            length += 1
            current = 0
            rest = capacity
            time = ready[0]
            continue
        answer = program(
            current, 0, shown[:fitting], rest, time, demands, ready, due, service, distances
        )
        if answer == NO_ANSWER:
            return route[:0], _NO_NODE
        if answer == 0 and current != 0:
            route[length] = 0
            length += 1
            current = 0
            rest = capacity
            time = ready[0]
            continue
        if not 0 < answer < size or not fits[answer]:
            answer = 0
            for node in range(1, size):
                if fits[node] and (
                    answer == 0 or distances[current, node] < distances[current, answer]
                ):
                    answer = node
            fallbacks += 1
        route[length] = answer
        length += 1
        waiting[answer] = False
        left -= 1
        rest -= demands[answer]
        time = finish[answer]
        current = answer
    return route[:length].copy(), fallbacks


def _run(programs: Any, arrays: Mapping[str, Any], inputs: Sequence[IntArray]) -> Answer:
    nodes = np.concatenate(([0], inputs[0]))
    matrix, demands = of_block(arrays), arrays["demands"]
    times = [arrays[name] for name in ("ready_times", "due_times", "service_times")]
    if len(nodes) < len(demands):
        matrix, demands = local_distances(matrix, nodes), demands[nodes]
        times = [array[nodes] for array in times]
    route, fallbacks = _build(programs, matrix, demands, int(arrays["capacity"][0]), *times)
    if fallbacks == _UNREACHABLE:
        raise InvalidAnswer("A customer cannot be served by a vehicle of its own.")
    if fallbacks == _NO_NODE:
        raise InvalidAnswer("Expected an integer, got NoneType.")
    return Answer([route], fallbacks)


REBUILD = CompiledRunner(*_TYPES, _run, rebuild)
"""Runner of the compiled tier in the sandbox child."""
