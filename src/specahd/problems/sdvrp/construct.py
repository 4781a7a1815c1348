"""What the sandbox child runs for SDVRP: one call of an upper or of a lower program.

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
        The incumbent as lengths of its routes, their customers concatenated and
        the quantities beside them, then ``[max_regions, max_size]``.

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
    lengths, values, quantities, (max_regions, max_size) = inputs
    demands = arrays["demands"]
    with np.errstate(all="ignore"):
        groups = program(
            views(lengths, values),
            views(lengths, quantities),
            arrays["coords"],
            demands,
            int(arrays["capacity"][0]),
            arrays["distance_matrix"],
            int(max_regions),
            int(max_size),
        )
    # An incumbent may stop at a customer more than once.
    return flattened(groups, max_entries=10 * (len(demands) + len(values)) + 1000)


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
        routes; the quantity delivered at each of these stops, 0 at a 0; and the
        number of unavailable answers that were replaced: a customer by the
        nearest that waits and all that fits, a quantity by all that fits.

    Raises
    ------
    InvalidAnswer
        An answer is no pair of integers, or the program takes more than
        :func:`most_stops`.
    """
    nodes = np.concatenate(([0], inputs[0]))
    distances, residuals = arrays["distance_matrix"], arrays["demands"][nodes]
    if len(nodes) < len(arrays["demands"]):
        distances = local_distances(distances, nodes)
    # Programs see the array change, and cannot change it.
    seen = residuals.view()
    seen.flags.writeable = False
    left: list[int] = residuals.tolist()
    capacity = int(arrays["capacity"][0])
    most = most_stops(len(nodes) - 1, sum(left), capacity)

    waiting = Waiting(len(nodes) - 1)
    route: list[int] = []
    amounts: list[int] = []
    current, rest, fallbacks, visited = 0, capacity, 0, 0
    # This loop is the price of every score in a run: few NumPy calls per step.
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
    return [
        np.array(route, dtype=np.int64),
        np.array(amounts, dtype=np.int64),
        np.array([fallbacks], dtype=np.int64),
    ]


def most_stops(customers: int, demand: int, capacity: int) -> int:
    """Return how many stops the rebuild of a region may take.

    Far more than any sensible one takes: a delivery ends a demand or a load.
    Crumbs of a unit each would otherwise go on for as long as demands are large.
    """
    return 1000 + 10 * (customers + demand // capacity)


def _pair(answer: Any) -> tuple[int, int]:
    """Return the customer and the quantity; nobody looks at a quantity for the depot."""
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise InvalidAnswer(f"Expected a customer and a quantity, got {type(answer).__name__}.")
    customer = _integer(answer[0])
    return customer, _integer(answer[1]) if customer else 0


def _integer(answer: Any) -> int:
    if type(answer) is int or isinstance(answer, np.integer):
        return int(answer)
    raise InvalidAnswer(f"Expected an integer, got {type(answer).__name__}.")
