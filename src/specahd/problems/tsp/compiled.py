"""Compiled equivalent of :func:`specahd.problems.tsp.construct.rebuild`."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numba import types

from specahd.core.answer import Answer
from specahd.core.errors import InvalidAnswer
from specahd.core.loop_cache import njit
from specahd.problems.tsp.construct import rebuild
from specahd.problems.tsp.interfaces import NEXT_NODE
from specahd.routing.base import IntArray
from specahd.routing.compiled.runner import (
    MATRIX,
    NO_ANSWER,
    CompiledRunner,
    drop,
    local_distances,
    place_of,
    program_type,
    types_of,
)
from specahd.routing.distances import of_block

_TYPES = types_of(NEXT_NODE)
_NO_NODE = -1


@njit(
    types.Tuple((types.Array(types.int64, 1, "C"), types.int64))(program_type(*_TYPES), MATRIX),
    cache=True,
)
def _build(programs: Any, distances: Any) -> Any:
    """Return the path between the anchors, and the fallbacks (negative: an answer was None)."""
    program = programs[0]
    end = len(distances) - 1
    path = np.empty(end - 1, np.int64)
    # numba does not prevent a program from writing to its arguments. Therefore the loop
    # takes no index from an array that the program receives.
    shown = np.empty(end - 1, np.int64)
    # In ascending order; the first `left` entries are unserved.
    remaining = np.arange(1, end)
    left = end - 1
    fallbacks = 0
    current = 0
    while left > 0:
        for place in range(left):
            shown[place] = remaining[place]
        answer = program(current, end, shown[:left], distances)
        if answer == NO_ANSWER:
            return path[:0], _NO_NODE
        place = place_of(remaining, left, answer)
        if place < 0:
            place = 0
            for other in range(1, left):
                if distances[current, remaining[other]] < distances[current, remaining[place]]:
                    place = other
            answer = remaining[place]
            fallbacks += 1
        path[end - 1 - left] = answer
        drop(remaining, left, place)
        left -= 1
        current = answer
    return path, fallbacks


def _run(programs: Any, arrays: Mapping[str, Any], inputs: Sequence[IntArray]) -> Answer:
    [nodes] = inputs
    path, fallbacks = _build(programs, local_distances(of_block(arrays), nodes))
    if fallbacks == _NO_NODE:
        raise InvalidAnswer("Expected an integer, got NoneType.")
    return Answer([path], fallbacks)


REBUILD = CompiledRunner(*_TYPES, _run, rebuild)
"""Runner of the compiled tier in the sandbox child."""
