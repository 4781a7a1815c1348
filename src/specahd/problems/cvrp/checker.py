"""The checker F and the cost C of a solution, computed from the instance alone.

This module shares nothing with the code that builds solutions.
"""

from specahd.problems.cvrp.instance import CVRPInstance
from specahd.routing.base import Violation
from specahd.routing.vehicles.feasibility import check_routes, routes_length
from specahd.routing.vehicles.routes import Solution


def check(instance: CVRPInstance, solution: Solution) -> tuple[Violation, ...]:
    """Return every violation of coverage and capacity; empty means feasible."""
    return check_routes(solution, instance.demands, instance.capacity, instance.labels)


def cost(instance: CVRPInstance, solution: Solution) -> float:
    """Return the total length of the routes in the instance's convention."""
    return routes_length(solution, instance.coords, instance.convention, instance.matrix)
