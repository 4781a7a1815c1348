"""Compiled equivalent of :func:`specahd.problems.sdvrp.construct.rebuild`."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numba import types

from specahd.core.answer import Answer
from specahd.core.errors import InvalidAnswer
from specahd.core.loop_cache import njit
from specahd.problems.sdvrp.construct import most_stops, rebuild
from specahd.problems.sdvrp.interfaces import NEXT_DELIVERY
from specahd.routing.base import IntArray
from specahd.routing.compiled.runner import (
    MATRIX,
    NO_ANSWER,
    NUMBER,
    CompiledRunner,
    drop,
    local_distances,
    place_of,
    program_type,
    types_of,
)
from specahd.routing.distances import of_block

_TYPES = types_of(NEXT_DELIVERY)
_TOO_MANY, _NO_PAIR = -1, -2


@njit(
    types.Tuple((types.Array(types.int64, 2, "C"), types.int64))(
        program_type(*_TYPES), MATRIX, types.Array(types.int64, 1, "C"), NUMBER, NUMBER
    ),
    cache=True,
)
def _build(programs: Any, distances: Any, residuals: Any, capacity: int, most: int) -> Any:
    """Return stops and amounts as two rows, and the fallbacks (negative: an error code)."""
    program = programs[0]
    # Every stop may be followed by a return to the depot.
    stops = np.empty((2, 2 * most + 1), np.int64)
    # numba does not prevent a program from writing to its arguments. Therefore the loop
    # takes no index from an array that the program receives.
    shown = np.empty(len(residuals), np.int64)
    # In ascending order; the first `left` entries are unserved.
    remaining = np.arange(1, len(residuals))
    left = len(remaining)
    length = 0
    visited = 0
    fallbacks = 0
    current = 0
    rest = capacity
    while left > 0:
        customer = 0
        quantity = 0
        if rest > 0:
            for place in range(left):
                shown[place] = remaining[place]
            customer, quantity = program(current, 0, shown[:left], rest, residuals, distances)
            if customer == NO_ANSWER:
                return stops[:, :0].copy(), _NO_PAIR
        if customer == 0 and current != 0:
            stops[:, length] = 0
            length += 1
            current = 0
            rest = capacity
            continue
        fits = 0
        if 0 < customer < len(residuals):
            fits = min(residuals[customer], rest)
        if fits == 0:
            customer = remaining[0]
            for node in remaining[1:left]:
                if distances[current, node] < distances[current, customer]:
                    customer = node
            quantity = min(residuals[customer], rest)
            fallbacks += 1
        elif not 1 <= quantity <= fits:
            quantity = fits
            fallbacks += 1
        visited += 1
        if visited > most:
            return stops[:, :0].copy(), _TOO_MANY
        stops[0, length] = customer
        stops[1, length] = quantity
        length += 1
        residuals[customer] -= quantity
        rest -= quantity
        current = customer
        if residuals[customer] == 0:
            drop(remaining, left, place_of(remaining, left, customer))
            left -= 1
    return stops[:, :length].copy(), fallbacks


def _run(programs: Any, arrays: Mapping[str, Any], inputs: Sequence[IntArray]) -> Answer:
    nodes = np.concatenate(([0], inputs[0]))
    residuals = arrays["demands"][nodes]
    capacity = int(arrays["capacity"][0])
    most = most_stops(len(nodes) - 1, int(residuals.sum()), capacity)
    distances = local_distances(of_block(arrays), nodes)
    stops, fallbacks = _build(programs, distances, residuals, capacity, most)
    if fallbacks == _TOO_MANY:
        raise InvalidAnswer(f"More than {most} stops.")
    if fallbacks == _NO_PAIR:
        raise InvalidAnswer("Expected a customer and a quantity, got None.")
    return Answer([stops[0].copy(), stops[1].copy()], fallbacks)


REBUILD = CompiledRunner(*_TYPES, _run, rebuild)
"""Runner of the compiled tier in the sandbox child."""
