"""What the sandbox child runs for CVRP: one call of an upper or of a lower program.

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
from specahd.routing.local import Waiting, local_distances


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
        (1,) and ``distance_matrix`` (n + 1, n + 1), read-only.
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
            arrays["distance_matrix"],
            int(max_regions),
            int(max_size),
        )
    return flattened(groups, max_entries=10 * len(demands) + 1000)


def rebuild(
    program: Callable[..., Any], arrays: Mapping[str, Any], inputs: Sequence[IntArray]
) -> list[IntArray]:
    """Rebuild one region with a lower program: fresh routes from the depot.

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
        An answer is no integer, or a customer outweighs an empty vehicle.
    """
    nodes = np.concatenate(([0], inputs[0]))
    distances, demands = arrays["distance_matrix"], arrays["demands"]
    if len(nodes) < len(demands):
        distances, demands = local_distances(distances, nodes), demands[nodes]
        demands.flags.writeable = False
    loads: list[int] = demands.tolist()
    capacity = int(arrays["capacity"][0])
    largest = max(loads)
    if largest > capacity:
        raise InvalidAnswer("A customer outweighs an empty vehicle.")

    waiting = Waiting(len(nodes) - 1)
    route: list[int] = []
    current, rest, fallbacks = 0, capacity, 0
    # This loop is the price of every score in a run: few NumPy calls per step.
    with np.errstate(all="ignore"):
        while waiting:
            feasible = waiting.array()
            if rest < largest:
                feasible = feasible[demands[feasible] <= rest]
                if not len(feasible):
                    route.append(0)
                    current, rest = 0, capacity
                    continue
                feasible.flags.writeable = False
            answer = program(current, 0, feasible, rest, demands, distances)
            if type(answer) is not int:
                if not isinstance(answer, np.integer):
                    raise InvalidAnswer(f"Expected a node, got {type(answer).__name__}.")
                answer = int(answer)
            if answer == 0 and current != 0:
                route.append(0)
                current, rest = 0, capacity
                continue
            place = waiting.place(answer)
            if place < 0 or loads[answer] > rest:
                answer = int(feasible[np.argmin(distances[current, feasible])])
                place = waiting.place(answer)
                fallbacks += 1
            route.append(answer)
            waiting.remove(place)
            rest -= loads[answer]
            current = answer
    return [np.array(route, dtype=np.int64), np.array([fallbacks], dtype=np.int64)]
