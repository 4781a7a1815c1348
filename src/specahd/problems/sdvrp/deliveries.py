"""Solutions with split deliveries; replace a region's deliveries by rebuilt ones (R, M)."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from specahd.routing.base import IntArray, Region
from specahd.routing.groups import concatenated, is_vector
from specahd.routing.vehicles.routes import local_customers


class Delivery(NamedTuple):
    """One stop of a route.

    Parameters
    ----------
    customer
        The customer at which the vehicle stops.
    quantity
        The quantity delivered, at least 1; None stands for the customer's whole
        demand, as in solution files that contain routes only.
    """

    customer: int
    quantity: int | None


Route = tuple[Delivery, ...]
Solution = tuple[Route, ...]
"""Routes without the depot. A route stops at a customer once; several routes may stop there."""


def stops(solution: Solution) -> tuple[tuple[int, ...], ...]:
    """Return the customers of each route, in the order in which it visits them."""
    return tuple(tuple(customer for customer, _ in route) for route in solution)


def quantities(solution: Solution, demands: IntArray) -> tuple[tuple[int, ...], ...]:
    """Return the deliveries of each route of a feasible solution, stop by stop."""
    whole = demands.tolist()
    return tuple(
        tuple(whole[customer] if quantity is None else quantity for customer, quantity in route)
        for route in solution
    )


def flat(solution: Solution, demands: IntArray) -> tuple[IntArray, IntArray]:
    """Return customers and quantities of a feasible solution, with 0 between two routes."""
    lengths, customers = concatenated(stops(solution))
    _, given = concatenated(quantities(solution, demands))
    ends = np.cumsum(lengths)
    return np.insert(customers, ends, 0), np.insert(given, ends, 0)


def unflat(arrays: Sequence[IntArray]) -> Solution | None:
    """Return the solution of arrays as :func:`flat` returns them; None if they are malformed.

    Feasibility is not checked here.
    """
    if len(arrays) != 2 or not all(is_vector(array) for array in arrays):
        return None
    customers, given = arrays
    if customers.size != given.size:
        return None
    routes: list[list[Delivery]] = [[]]
    for customer, quantity in zip(customers.tolist(), given.tolist(), strict=True):
        if customer:
            routes[-1].append(Delivery(customer, quantity))
        elif routes[-1]:
            routes.append([])
    return tuple(tuple(route) for route in routes if route)


def joined(pairs: Iterable[tuple[int, int]]) -> Route:
    """Return the deliveries of one route; those to the same customer are joined at the first."""
    quantities: dict[int, int] = {}
    for customer, quantity in pairs:
        quantities[customer] = quantities.get(customer, 0) + quantity
    return tuple(Delivery(customer, quantity) for customer, quantity in quantities.items())


def merge(
    solution: Solution, region: Region, output: Sequence[IntArray], most: int
) -> Solution | None:
    """Replace all deliveries to the region's customers; None when ``output`` is malformed.

    The deliveries are removed from their routes, empty routes are deleted, and
    the rebuilt routes come last. If a rebuilt route stops at a customer again,
    the deliveries are joined at the first stop, so that no route visits a
    customer twice. Quantities and capacity are not checked here.

    Parameters
    ----------
    output
        ``[route, quantities]`` from untrusted code: local indices with a 0
        between routes, and a quantity for each index.
    most
        Maximum number of stops; output of more than twice as many entries is malformed.
    """
    rebuilt = _routes(region, output, most)
    if rebuilt is None:
        return None
    members = set(region.nodes)
    kept = []
    for route in solution:
        rest = tuple(delivery for delivery in route if delivery[0] not in members)
        if rest:
            kept.append(rest)
    return (*kept, *rebuilt)


def _routes(region: Region, output: Sequence[IntArray], most: int) -> list[Route] | None:
    if len(output) != 2 or not all(is_vector(array) for array in output):
        return None
    local, amounts = output
    # There is at most one separator after each stop.
    if local.size != amounts.size or not 1 <= local.size <= 2 * most:
        return None
    if local.min() < 0 or local.max() > len(region.nodes):
        return None
    customers = local_customers(region)
    routes: list[Route] = []
    current: list[tuple[int, int]] = []
    for index, amount in zip([*local.tolist(), 0], [*amounts.tolist(), 0], strict=True):
        if index:
            current.append((customers[index - 1], amount))
        elif current:
            routes.append(joined(current))
            current = []
    return routes
