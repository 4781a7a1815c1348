"""The parts of F and C that vehicle problems share: coverage, load and length of depot routes.

Nothing here is shared with the code that builds solutions.
"""

from itertools import chain

import numpy as np

from specahd.routing.base import FloatArray, IntArray, Violation
from specahd.routing.geometry import Convention, path_length
from specahd.routing.labels import Labels
from specahd.routing.vehicles.routes import Solution


def check_routes(
    solution: Solution, demands: IntArray, capacity: int, labels: Labels
) -> tuple[Violation, ...]:
    """Return every violation of coverage and capacity; empty means feasible.

    Kinds: ``empty_route``, ``depot_inside``, ``unknown_customer``,
    ``missing_customer``, ``duplicated_customer`` and ``capacity``. A route's
    load counts each visit to a known customer, repeated ones too. Routes are
    numbered from 1, as in solution files; ``labels`` names the customers.
    """
    size = len(demands) - 1
    lengths = _lengths(solution)
    visits = _visits(solution, lengths)
    known = (visits >= 1) & (visits <= size)
    customers = visits[known]
    counts = np.bincount(customers, minlength=size + 1)
    route_of = np.repeat(np.arange(len(solution)), lengths)[known]
    # Exact in float64: demands are below 2**31.
    loads = np.bincount(route_of, weights=demands[customers], minlength=len(solution))
    feasible = (
        len(customers) == len(visits) == size
        and bool((counts[1:] == 1).all())
        and bool((lengths > 0).all())
        and bool((loads <= capacity).all())
    )
    if feasible:
        return ()
    violations = [
        Violation("empty_route", f"Route {route + 1} is empty.")
        for route in np.flatnonzero(lengths == 0)
    ]
    unknown = visits[~known]
    violations += [
        Violation("depot_inside", "The depot stands inside a route.") for _ in unknown[unknown == 0]
    ]
    violations += [
        Violation("unknown_customer", f"Customer {node} does not exist.")
        for node in unknown[unknown != 0]
    ]
    violations += [
        Violation("missing_customer", f"Customer {labels.quoted_name(node + 1)} is not visited.")
        for node in np.flatnonzero(counts[1:] == 0).tolist()
    ]
    violations += [
        Violation(
            "duplicated_customer",
            f"Customer {labels.quoted_name(node)} is visited {counts[node]} times.",
        )
        for node in np.flatnonzero(counts > 1).tolist()
    ]
    violations += [
        Violation(
            "capacity",
            f"Route {route + 1} carries {labels.amount(int(loads[route]))}, "
            f"more than {labels.amount(capacity)}.",
        )
        for route in np.flatnonzero(loads > capacity)
    ]
    return tuple(violations)


def routes_length(
    solution: Solution, coords: FloatArray, convention: Convention, matrix: FloatArray | None
) -> float:
    """Return the total length of the routes, from depot to depot."""
    lengths = _lengths(solution)
    walk = np.zeros(int(lengths.sum()) + len(solution) + 1, np.int64)
    # The depot comes before each route and after the last.
    stops = np.ones(len(walk), bool)
    stops[np.cumsum(lengths) + np.arange(1, len(solution) + 1)] = False
    stops[0] = False
    walk[stops] = _visits(solution, lengths)
    return path_length(coords, walk, convention, matrix)


def _lengths(solution: Solution) -> IntArray:
    return np.fromiter(map(len, solution), np.int64, len(solution))


def _visits(solution: Solution, lengths: IntArray) -> IntArray:
    return np.fromiter(chain.from_iterable(solution), np.int64, int(lengths.sum()))
