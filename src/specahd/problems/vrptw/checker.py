"""The checker F and the cost C of a solution, computed from the instance alone.

This module shares nothing with the code that builds solutions.
"""

from itertools import chain

import numpy as np

from specahd.problems.vrptw.instance import VRPTWInstance
from specahd.routing.base import Violation
from specahd.routing.geometry import distances
from specahd.routing.vehicles.feasibility import check_routes, routes_length
from specahd.routing.vehicles.routes import Solution


def check(instance: VRPTWInstance, solution: Solution) -> tuple[Violation, ...]:
    """Return every violation of coverage, capacity and time windows; empty means feasible.

    Kinds: those of :func:`~specahd.routing.vehicles.feasibility.check_routes`,
    ``late`` (service starts after the window has closed) and ``late_return`` (the
    vehicle is back after the depot has closed). A vehicle leaves when the depot
    opens, waits for windows to open, and continues if it is late. Visits to
    nodes that are not customers are skipped.
    """
    coverage = check_routes(solution, instance.demands, instance.capacity, instance.labels)
    return (*coverage, *_late(instance, solution))


def cost(instance: VRPTWInstance, solution: Solution) -> float:
    """Return the total length of the routes in the file's unit, exact for integral distances."""
    length = routes_length(solution, instance.coords, instance.measure, instance.matrix)
    return length / instance.parts


def _late(instance: VRPTWInstance, solution: Solution) -> list[Violation]:
    routes = [[node for node in route if 1 <= node <= instance.size] for route in solution]
    walk = np.array([0, *chain.from_iterable((*route, 0) for route in routes)])
    if instance.matrix is not None:
        travel = instance.matrix[walk[:-1], walk[1:]]
    else:
        points = instance.coords[walk]
        travel = distances(points[:-1], points[1:], instance.measure)
    legs = iter(travel.tolist())
    ready = instance.windows.ready.tolist()
    due = instance.windows.due.tolist()
    service = instance.windows.service.tolist()
    parts = instance.parts * instance.windows.speed
    quoted_name, clock = instance.labels.quoted_name, instance.labels.time
    violations = []
    for number, route in enumerate(routes, start=1):
        time = ready[0]
        for node in route:
            start = max(time + next(legs), ready[node])
            if start > due[node]:
                violations.append(
                    Violation(
                        "late",
                        f"Customer {quoted_name(node)} on route {number} is served at "
                        f"{clock(start / parts)}, after {clock(due[node] / parts)}.",
                    )
                )
            time = start + service[node]
        time += next(legs)
        if time > due[0]:
            violations.append(
                Violation(
                    "late_return",
                    f"Route {number} is back at {clock(time / parts)}, "
                    f"after {clock(due[0] / parts)}.",
                )
            )
    return violations
