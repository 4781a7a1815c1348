"""Runner of CVRP programs in the sandbox child: one run of a lower program.

Only NumPy and the standard library are imported, so that a fresh child starts
fast. The results are not trusted: the merge M and the checker F check them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from specahd.core.answer import Answer
from specahd.core.errors import InvalidAnswer
from specahd.routing.answers import integer
from specahd.routing.base import IntArray
from specahd.routing.distances import of_block
from specahd.routing.local import UnservedNodes, local_distances


def rebuild(
    program: Callable[..., Any], arrays: Mapping[str, Any], inputs: Sequence[IntArray]
) -> Answer:
    """Rebuild one region with a lower program: new routes from the depot.

    Parameters
    ----------
    program
        Follows the lower contract.
    arrays
        The instance, as for :func:`~specahd.routing.vehicles.propose.propose`.
    inputs
        The customers of the region in ascending order.

    Returns
    -------
    Answer
        The routes as indices into ``[depot, *customers]``, with 0 between two
        routes. An unavailable answer is replaced by the nearest feasible customer.

    Raises
    ------
    InvalidAnswer
        An answer is not an integer, or a demand exceeds the capacity.
    """
    nodes = np.concatenate(([0], inputs[0]))
    distances, demands = of_block(arrays), arrays["demands"]
    if len(nodes) < len(demands):
        distances, demands = local_distances(distances, nodes), demands[nodes]
        demands.flags.writeable = False
    loads: list[int] = demands.tolist()
    capacity = int(arrays["capacity"][0])
    largest = max(loads)
    if largest > capacity:
        raise InvalidAnswer("A customer outweighs an empty vehicle.")

    waiting = UnservedNodes(len(nodes) - 1)
    route: list[int] = []
    current, rest, fallbacks = 0, capacity, 0
    # Every score in a run needs this loop, so it makes few NumPy calls per step.
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
                answer = integer(answer)
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
    return Answer([np.array(route, dtype=np.int64)], fallbacks)
