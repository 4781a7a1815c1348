"""Runners of VRPTW programs in the sandbox child: one run of an upper or a lower program.

Only NumPy and the standard library are imported, so that a fresh child starts
fast. The results are not trusted: the validator V, the merge M and the checker
F check them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from specahd.core.answer import Answer
from specahd.core.errors import InvalidAnswer
from specahd.routing.answers import integer
from specahd.routing.base import IntArray
from specahd.routing.distances import of_block
from specahd.routing.local import local_distances
from specahd.routing.vehicles.propose import propose as propose_groups

_TIMES = ("ready_times", "due_times", "service_times")


def propose(
    program: Callable[..., Any], arrays: Mapping[str, Any], inputs: Sequence[IntArray]
) -> Answer:
    """Run an upper program once, as :func:`specahd.routing.vehicles.propose.propose` does."""
    return propose_groups(program, arrays, inputs, _TIMES)


def rebuild(
    program: Callable[..., Any], arrays: Mapping[str, Any], inputs: Sequence[IntArray]
) -> Answer:
    """Rebuild one region with a lower program: new routes from the depot.

    Times are summed in the order in which the checker sums them, so that both
    agree to the last bit.

    Parameters
    ----------
    program
        Follows the lower contract.
    arrays
        The instance, as for :func:`propose`.
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
        An answer is not an integer, or a customer cannot be served by a route of its own.
    """
    nodes = np.concatenate(([0], inputs[0]))
    distances = local_distances(of_block(arrays), nodes)
    demands, ready, due, service = (arrays[name][nodes] for name in ("demands", *_TIMES))
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
    # Every score in a run needs this loop, so it makes few NumPy calls per step.
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
                answer = integer(answer)
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
    return Answer([np.array(route, dtype=np.int64)], fallbacks)
