"""What the sandbox child runs for VRPTW: one call of an upper or of a lower program.

Only NumPy and the standard library are imported, so that a fresh child starts
fast. Nothing here is trusted: the validator V, the merge M and the checker F
judge what comes out.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from specahd.core.errors import InvalidAnswer
from specahd.routing.answers import flattened, views
from specahd.routing.base import IntArray
from specahd.routing.local import local_distances


def propose(
    program: Callable[..., Any], arrays: Mapping[str, Any], inputs: Sequence[IntArray]
) -> list[IntArray]:
    """Run an upper program once.

    Parameters
    ----------
    program
        Bears the upper contract.
    arrays
        The instance: ``coords`` (n + 1, 2), ``demands`` (n + 1,), ``capacity``
        (1,), ``ready_times``, ``due_times`` and ``service_times`` (n + 1,) and
        ``distance_matrix`` (n + 1, n + 1), read-only.
    inputs
        The incumbent as lengths of its routes and their customers
        concatenated, then ``[max_regions, max_size]``.

    Returns
    -------
    list of IntArray
        Lengths of the proposed groups and their entries concatenated;
        ``[-1]`` and nothing if the answer is no list of sequences.

    Raises
    ------
    InvalidAnswer
        The answer is a flood, far beyond what any instance could use.
    """
    lengths, values, (max_regions, max_size) = inputs
    routes = views(lengths, values)
    demands = arrays["demands"]
    with np.errstate(all="ignore"):
        groups = program(
            routes,
            arrays["coords"],
            demands,
            int(arrays["capacity"][0]),
            arrays["ready_times"],
            arrays["due_times"],
            arrays["service_times"],
            arrays["distance_matrix"],
            int(max_regions),
            int(max_size),
        )
    return flattened(groups, max_entries=10 * len(demands) + 1000)


def rebuild(
    program: Callable[..., Any], arrays: Mapping[str, Any], inputs: Sequence[IntArray]
) -> list[IntArray]:
    """Rebuild one region with a lower program: fresh routes from the depot.

    Times are summed in the order in which the checker sums them, so that both
    agree to the last bit.

    Parameters
    ----------
    program
        Bears the lower contract.
    arrays
        The instance, as for :func:`propose`.
    inputs
        The customers of the region in ascending order.

    Returns
    -------
    list of IntArray
        The routes as indices into ``[depot, *customers]``, with 0 between two
        routes; and the number of unavailable answers that were replaced by the
        nearest feasible customer.

    Raises
    ------
    InvalidAnswer
        An answer is no integer, or a customer cannot be served alone.
    """
    nodes = np.concatenate(([0], inputs[0]))
    distances = local_distances(arrays["distance_matrix"], nodes)
    demands, ready, due, service = (
        arrays[name][nodes] for name in ("demands", "ready_times", "due_times", "service_times")
    )
    for array in (demands, ready, due, service):
        array.flags.writeable = False
    home = distances[0]
    loads: list[int] = demands.tolist()
    largest = max(loads)
    capacity = int(arrays["capacity"][0])
    opening, closing = float(ready[0]), float(due[0])

    waiting = np.ones(len(nodes), dtype=bool)
    waiting[0] = False
    left = len(nodes) - 1
    route: list[int] = []
    current, rest, time, fallbacks = 0, capacity, opening, 0
    # This loop is the price of every score in a run: few NumPy calls per step.
    with np.errstate(all="ignore"):
        while left:
            finish = distances[current] + time
            np.maximum(finish, ready, out=finish)
            available = finish <= due
            finish += service
            available &= finish + home <= closing
            available &= waiting
            if rest < largest:
                available &= demands <= rest
            feasible = np.flatnonzero(available)
            if not len(feasible):
                if current == 0:
                    raise InvalidAnswer("A customer cannot be served by a vehicle of its own.")
                route.append(0)
                current, rest, time = 0, capacity, opening
                continue
            feasible.flags.writeable = False
            answer = program(
                current, 0, feasible, rest, time, demands, ready, due, service, distances
            )
            if type(answer) is not int:
                if not isinstance(answer, np.integer):
                    raise InvalidAnswer(f"Expected a node, got {type(answer).__name__}.")
                answer = int(answer)
            if answer == 0 and current != 0:
                route.append(0)
                current, rest, time = 0, capacity, opening
                continue
            if not (0 < answer < len(nodes) and available[answer]):
                answer = int(feasible[np.argmin(distances[current, feasible])])
                fallbacks += 1
            route.append(answer)
            waiting[answer] = False
            left -= 1
            rest -= loads[answer]
            time = float(finish[answer])
            current = answer
    return [np.array(route, dtype=np.int64), np.array([fallbacks], dtype=np.int64)]
