"""Runner of SDVRP programs in the sandbox child: one run of a lower program.

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
        routes; and the quantity delivered at each stop, 0 for each 0. An unavailable
        customer is replaced by the nearest unserved one with the largest quantity
        that fits, an invalid quantity by the largest that fits.

    Raises
    ------
    InvalidAnswer
        An answer is not a pair of integers, or the program makes more stops than
        :func:`most_stops` allows.
    """
    nodes = np.concatenate(([0], inputs[0]))
    distances, residuals = of_block(arrays), arrays["demands"][nodes]
    if len(nodes) < len(arrays["demands"]):
        distances = local_distances(distances, nodes)
    # A read-only view: programs see the changes but cannot write.
    seen = residuals.view()
    seen.flags.writeable = False
    left: list[int] = residuals.tolist()
    capacity = int(arrays["capacity"][0])
    most = most_stops(len(nodes) - 1, sum(left), capacity)

    waiting = UnservedNodes(len(nodes) - 1)
    route: list[int] = []
    amounts: list[int] = []
    current, rest, fallbacks, visited = 0, capacity, 0, 0
    # Every score in a run needs this loop, so it makes few NumPy calls per step.
    with np.errstate(all="ignore"):
        while waiting:
            unvisited = waiting.array()
            customer, quantity = 0, 0
            if rest:
                customer, quantity = _pair(program(current, 0, unvisited, rest, seen, distances))
            if customer == 0 and current != 0:
                route.append(0)
                amounts.append(0)
                current, rest = 0, capacity
                continue
            place = waiting.place(customer)
            available = place >= 0
            if not available:
                customer = int(unvisited[np.argmin(distances[current, unvisited])])
                place = waiting.place(customer)
            fits = min(left[customer], rest)
            if not (available and 1 <= quantity <= fits):
                quantity = fits
                fallbacks += 1
            visited += 1
            if visited > most:
                raise InvalidAnswer(f"More than {most} stops.")
            route.append(customer)
            amounts.append(quantity)
            left[customer] -= quantity
            residuals[customer] = left[customer]
            rest -= quantity
            current = customer
            if not left[customer]:
                waiting.remove(place)
    stops = [np.array(route, dtype=np.int64), np.array(amounts, dtype=np.int64)]
    return Answer(stops, fallbacks)


def most_stops(customers: int, demand: int, capacity: int) -> int:
    """Return the maximum number of stops in the rebuild of a region.

    A sensible rebuild needs far fewer, as each delivery completes a demand or a load.
    Without a limit, deliveries of one unit each would take time linear in the demands.
    """
    return 1000 + 10 * (customers + demand // capacity)


def _pair(answer: Any) -> tuple[int, int]:
    """Return the customer and the quantity; the quantity for the depot is not read."""
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise InvalidAnswer(f"Expected a customer and a quantity, got {type(answer).__name__}.")
    customer = integer(answer[0])
    return customer, integer(answer[1]) if customer else 0
