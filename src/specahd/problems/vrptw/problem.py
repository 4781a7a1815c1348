"""The VRPTW as one class: options, baselines, operators, checker F, cost C and descriptor Φ."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import numpy as np

from specahd.core.options import Option, checked
from specahd.engine.family import Family
from specahd.engine.insertion import insertion
from specahd.engine.schedule import on_short_routes
from specahd.problems.vrptw import baseline, instance
from specahd.problems.vrptw.instance import VRPTWInstance
from specahd.routing.base import FloatArray, PublicSet, Region, Violation
from specahd.routing.geometry import Convention, distances
from specahd.routing.groups import concatenated
from specahd.routing.kernels.descriptors import GROUP_NAMES, TIME_NAMES, describe_times
from specahd.routing.kernels.distances import distances_of
from specahd.routing.problem import Baselines, Operators
from specahd.routing.vehicles.feasibility import check_routes, routes_length
from specahd.routing.vehicles.problem import CONVENTION, VehicleProblem, touched_routes
from specahd.routing.vehicles.routes import Solution, append, construct

_MOST_INSERTED = 1000
"""Maximum number of customers with which solving starts from ``insertion``. It takes a second for
this number, and its time grows with the square. For more, ``cheapest`` is as good
(benchmarks/notes/2026-11-25-starts-with-time-windows.md)."""
_SHARED = tuple(name for name in GROUP_NAMES if name != "demand_variation")
"""Shared coordinates without one: a descriptor has at most 16, and times describe more than it."""
_KEPT = [GROUP_NAMES.index(name) for name in _SHARED]
_CONVENTIONS = {"dimacs": Convention.DIMACS, "float": Convention.EXACT_2D}


class VRPTW(VehicleProblem[VRPTWInstance, Solution]):
    """The vehicle routing problem with time windows.

    Parameters
    ----------
    convention
        Of files in Solomon's format, and of files of LKH's collection whose
        EDGE_WEIGHT_TYPE is EUC_2D: ``dimacs`` (rounded down to tenths) or
        ``float`` (unrounded).
    options
        Those of every vehicle problem.

    Raises
    ------
    ConfigError
        A parameter is out of its range.
    """

    name = "vrptw"
    types = ("VRPTW",)
    public_sets: Sequence[PublicSet] = (
        PublicSet("solomon", convention="dimacs"),
        PublicSet("homberger", convention="dimacs"),
    )
    conventions = tuple(_CONVENTIONS)
    pool_unit = "tenths of Homberger's unit"
    baselines: Baselines = {
        "nearest": baseline.nearest,
        "insertion": baseline.insertion,
        "cheapest": baseline.cheapest,
        "pyvrp": baseline.pyvrp,
    }
    iterated = "pyvrp"
    references: Sequence[str] = ("nearest", "insertion")
    construction = "insertion"
    engine = Family(
        name="vrptw",
        # Rebuilding routes with time windows raises the cost more:
        # benchmarks/notes/2026-11-22-what-the-rest-stands-on.md
        start_temperature=3.0,
        neighbours=lambda instance: 100 if on_short_routes(instance) else 50,
        timed=True,
        routes_disjoint=True,
        # Exchanges pay on long routes, of which a group removes only a small part:
        # benchmarks/notes/2026-11-23-exchanges-of-tails.md
        exchanges=lambda instance: 0 if on_short_routes(instance) else 128,
        evolved=on_short_routes,
    )
    operators: Operators = {"append": append, "insertion": insertion, "construct": construct}
    suited = {
        "specahd_passes": {"problem.max_size": 400},
        "comparison": {"budget.lower_train": 16},
        "solve": {"problem.baseline": "insertion"},
    }
    descriptor_names = (*_SHARED, *TIME_NAMES)

    from_table = staticmethod(instance.from_vrplib)
    dumps = staticmethod(instance.dumps)
    generate = staticmethod(instance.generate)

    @checked("")
    def __init__(
        self,
        convention: Annotated[str, Option(CONVENTION, choices=_CONVENTIONS)] = "dimacs",
        customers: Annotated[
            int | None, Option("how many customers of Solomon's text to take; null: all", 1)
        ] = None,
        **options: Annotated[Any, VehicleProblem],
    ) -> None:
        super().__init__(**options)
        self.convention = convention
        self.customers = customers

    def construction_of(self, instance: VRPTWInstance) -> str:
        return self.construction if instance.size <= _MOST_INSERTED else "cheapest"

    def read(self, path: Path) -> VRPTWInstance:
        return instance.read(path, _CONVENTIONS[self.convention], self.customers)

    @property
    def contracts(self) -> ModuleType:
        from specahd.problems.vrptw import contracts

        return contracts

    @staticmethod
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

    @staticmethod
    def cost(instance: VRPTWInstance, solution: Solution) -> float:
        """Return the total length in the file's unit, exact for integral distances."""
        length = routes_length(solution, instance.coords, instance.measure, instance.matrix)
        return length / instance.parts

    def describe(self, instance: VRPTWInstance, solution: Solution, region: Region) -> FloatArray:
        shared = super().describe(instance, solution, region)
        windows = instance.windows
        times = describe_times(
            distances_of(instance.coords, instance.measure, instance.matrix),
            windows.ready,
            windows.due,
            windows.service,
            np.array(region.nodes, np.int64),
            *concatenated(touched_routes(solution, region)),
        )
        return np.concatenate((shared[_KEPT], times))


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
