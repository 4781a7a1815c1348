"""What the sandbox child runs for the contract of ``giant_tour``: one call per region."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from specahd.core.answer import Answer
from specahd.core.errors import InvalidAnswer
from specahd.routing.answers import integer
from specahd.routing.append import local_distances
from specahd.routing.base import IntArray


def rebuild(
    program: Callable[..., Any], arrays: Mapping[str, Any], inputs: Sequence[IntArray]
) -> Answer:
    """Let a program order the customers of a region, and cut that order where a vehicle is full.

    Customers that the program forgets come last; each is a fallback.
    """
    nodes = np.concatenate(([0], inputs[0]))
    demands = arrays["demands"][nodes]
    demands.flags.writeable = False
    answer = program(demands, local_distances(arrays["distance_matrix"], nodes))
    if not isinstance(answer, list | tuple | np.ndarray):
        raise InvalidAnswer(f"Expected a sequence, got {type(answer).__name__}.")
    waiting = dict.fromkeys(range(1, len(nodes)))
    order = []
    for entry in list(answer)[: len(nodes)]:
        customer = integer(entry)
        if customer in waiting:
            del waiting[customer]
            order.append(customer)
    capacity, load, route = int(arrays["capacity"][0]), 0, []
    for customer in (*order, *waiting):
        load += int(demands[customer])
        if load > capacity:
            route.append(0)
            load = int(demands[customer])
        route.append(customer)
    return Answer([np.array(route, np.int64)], len(waiting))
