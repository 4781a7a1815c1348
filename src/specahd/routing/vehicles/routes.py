"""Depot routes: put rebuilt customers in place of a region (R, M)."""

from collections.abc import Sequence

from specahd.routing.base import IntArray, Region
from specahd.routing.groups import is_vector

Solution = tuple[tuple[int, ...], ...]
"""Routes of customers, without the depot."""


def local_customers(region: Region) -> list[int]:
    """Return the customers of a region as its local problem numbers them, from 1 on."""
    return sorted(region.nodes)


def merge(solution: Solution, region: Region, output: Sequence[IntArray]) -> Solution | None:
    """Replace the region's customers by rebuilt routes; None when ``output`` is malformed.

    The customers leave their routes, gaps close, empty routes are removed, and
    the rebuilt routes come last. Coverage and capacity are not checked here.

    Parameters
    ----------
    output
        ``[route]`` from untrusted code: local indices with a 0 between routes.
    """
    rebuilt = _routes(region, output)
    if rebuilt is None:
        return None
    members = set(region.nodes)
    kept = []
    for route in solution:
        if members.isdisjoint(route):
            kept.append(route)
        elif rest := tuple(node for node in route if node not in members):
            kept.append(rest)
    return (*kept, *rebuilt)


def _routes(region: Region, output: Sequence[IntArray]) -> list[tuple[int, ...]] | None:
    if len(output) != 1 or not is_vector(output[0]):
        return None
    [local] = output
    size = len(region.nodes)
    # A route for each customer has 2 * size - 1 entries.
    if not 1 <= local.size <= 2 * size + 1:
        return None
    if local.min() < 0 or local.max() > size:
        return None
    customers = local_customers(region)
    routes: list[tuple[int, ...]] = []
    current: list[int] = []
    for index in [*local.tolist(), 0]:
        if index:
            current.append(customers[index - 1])
        elif current:
            routes.append(tuple(current))
            current = []
    return routes
