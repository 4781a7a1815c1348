"""The checker F and the cost C of a solution, computed from the instance alone.

This module shares nothing with the code that builds solutions.
"""

from collections.abc import Callable

from specahd.core.sums import sequential_sum
from specahd.problems.sdvrp.deliveries import Delivery, Route, Solution
from specahd.problems.sdvrp.instance import SDVRPInstance
from specahd.routing.base import Violation
from specahd.routing.vehicles.feasibility import routes_length


def check(instance: SDVRPInstance, solution: Solution) -> tuple[Violation, ...]:
    """Return every violation of coverage, capacity and demand; empty means feasible.

    Kinds: ``empty_route``, ``depot_inside``, ``unknown_customer``, ``quantity``
    (not an integer of at least 1), ``repeated_visit`` (by one route; by the triangle
    inequality one stop is enough), ``capacity``, ``missing_customer`` and ``demand``
    (more or less than the demand is delivered). Deliveries of the kinds ``depot_inside``
    to ``quantity`` count towards neither load nor demand. Routes are numbered from 1.
    """
    demands: list[int] = instance.demands.tolist()
    received = [0] * len(demands)
    visited = [False] * len(demands)
    violations: list[Violation] = []
    quoted_name = instance.labels.quoted_name
    for number, route in enumerate(solution, start=1):
        load = _follow(number, route, demands, received, visited, violations, quoted_name)
        if load > instance.capacity:
            violations.append(
                Violation(
                    "capacity", f"Route {number} carries {load}, more than {instance.capacity}."
                )
            )
    for customer in range(1, len(demands)):
        if received[customer] == demands[customer]:
            continue
        if not visited[customer]:
            violations.append(
                Violation("missing_customer", f"Customer {quoted_name(customer)} is not visited.")
            )
        else:
            violations.append(
                Violation(
                    "demand",
                    f"Customer {quoted_name(customer)} receives {received[customer]} "
                    f"of {demands[customer]}.",
                )
            )
    return tuple(violations)


def _follow(
    number: int,
    route: Route,
    demands: list[int],
    received: list[int],
    visited: list[bool],
    violations: list[Violation],
    quoted_name: Callable[[int], str],
) -> int:
    """Follow one route, add its deliveries to those of the customers, and return its load."""
    if not route:
        violations.append(Violation("empty_route", f"Route {number} is empty."))
    load = 0
    seen = set()
    for customer, stated in route:
        if customer == 0:
            violations.append(Violation("depot_inside", "The depot stands inside a route."))
            continue
        if not 1 <= customer < len(demands):
            violations.append(Violation("unknown_customer", f"Customer {customer} does not exist."))
            continue
        visited[customer] = True
        if customer in seen:
            violations.append(
                Violation(
                    "repeated_visit",
                    f"Route {number} visits customer {quoted_name(customer)} more than once.",
                )
            )
        seen.add(customer)
        quantity = demands[customer] if stated is None else stated
        if type(quantity) is not int or quantity < 1:
            violations.append(
                Violation(
                    "quantity",
                    f"Route {number} delivers {quantity} to customer {quoted_name(customer)}.",
                )
            )
            continue
        load += quantity
        received[customer] += quantity
    return load


def cost(instance: SDVRPInstance, solution: Solution) -> float:
    """Return the total length of the routes in the instance's convention."""
    routes = tuple(tuple(customer for customer, _ in route) for route in solution)
    return routes_length(routes, instance.coords, instance.convention, instance.matrix)


def lower_bound(instance: SDVRPInstance) -> float:
    """Return 2 Σ q d / Q over the customers' demands q and distances d from the depot.

    A vehicle that brings q of its capacity Q to a customer drives at least there and back; the
    share q / Q of its route is the customer's. A rounded distance may be slightly longer than a
    detour. Then the bound holds up to the rounding.
    """
    demands: list[int] = instance.demands.tolist()
    trips = [cost(instance, ((Delivery(customer, 1),),)) for customer in range(1, len(demands))]
    driven = (q * trip for q, trip in zip(demands[1:], trips, strict=True))
    return sequential_sum(driven) / instance.capacity
