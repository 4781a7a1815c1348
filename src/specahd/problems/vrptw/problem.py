"""The VRPTW as one class: instances have windows; options, baselines, operators and Φ."""

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import numpy as np

from specahd.core.options import Option, checked
from specahd.engine.family import Family
from specahd.engine.insertion import insertion
from specahd.engine.schedule import on_short_routes
from specahd.problems.vrptw import baseline, pools
from specahd.routing.base import FloatArray, PublicSet, Region
from specahd.routing.formats import solomon, vrplib
from specahd.routing.formats.vrplib import VRPLIBData
from specahd.routing.geometry import Convention
from specahd.routing.groups import concatenated
from specahd.routing.kernels.descriptors import GROUP_NAMES, TIME_NAMES, describe_times
from specahd.routing.problem import Baselines, Operators
from specahd.routing.vehicles import baselines
from specahd.routing.vehicles.instance import VehicleInstance
from specahd.routing.vehicles.problem import (
    CONVENTION,
    SUITED_TO_LARGE_INSTANCES,
    VehicleProblem,
    touched_routes,
)
from specahd.routing.vehicles.routes import Solution, append, construct

_MOST_INSERTED = 1000
"""Maximum number of customers with which solving starts from ``insertion``. It takes a second for
this number, and its time grows with the square. For more, ``cheapest`` is as good
(benchmarks/notes/2026-11-25-starts-with-time-windows.md)."""
_SHARED = tuple(name for name in GROUP_NAMES if name != "demand_variation")
"""Shared coordinates without one: a descriptor has at most 16, and times describe more than it."""
_KEPT = [GROUP_NAMES.index(name) for name in _SHARED]
_CONVENTIONS = {"dimacs": Convention.DIMACS, "float": Convention.EXACT_2D}


class VRPTW(VehicleProblem[Solution]):
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
        "nearest": baselines.nearest,
        "insertion": baseline.insertion,
        "cheapest": baseline.cheapest,
        "pyvrp": baselines.pyvrp,
    }
    iterated = "pyvrp"
    references: Sequence[str] = ("nearest", "insertion")
    construction = "insertion"
    engine = Family(
        name="vrptw",
        # Rebuilding routes with time windows raises the cost more:
        # benchmarks/notes/2026-11-22-what-the-rest-stands-on.md; and a change of a vehicle's type
        # more than one of an edge: benchmarks/notes/2026-11-29-types-of-vehicles.md
        start_temperature=lambda instance, near: 9.0 if instance.type_columns else 3.0,
        neighbours=lambda instance: 100 if on_short_routes(instance) else 50,
        timed=True,
        routes_disjoint=True,
        # Exchanges pay on long routes, of which a group removes only a small part:
        # benchmarks/notes/2026-11-23-exchanges-of-tails.md
        exchanges=lambda instance: 0 if on_short_routes(instance) else 128,
        evolved=on_short_routes,
    )
    operators: Operators = {"append": append, "insertion": insertion, "construct": construct}
    suited_sizes = {"append": (16, 400)}
    suited = {
        **SUITED_TO_LARGE_INSTANCES,
        "solve": {"problem.baseline": "insertion"},
    }
    descriptor_names = (*_SHARED, *TIME_NAMES)

    generate = staticmethod(pools.generate)

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

    def construction_of(self, instance: VehicleInstance) -> str:
        few = instance.size <= _MOST_INSERTED and instance.durations is None
        return self.construction if few else "cheapest"

    def read_data(self, path: Path) -> VRPLIBData:
        convention = _CONVENTIONS[self.convention]
        if solomon.is_solomon(path):
            return solomon.read(path, convention, self.customers)
        return vrplib.read(path, vrplib.TIMED, convention)

    @property
    def contracts(self) -> ModuleType:
        from specahd.problems.vrptw import contracts

        return contracts

    def describe(self, instance: VehicleInstance, solution: Solution, region: Region) -> FloatArray:
        shared = super().describe(instance, solution, region)
        distances, _, _, times = instance.kernel
        assert times is not None  # every instance of this problem has windows
        described = describe_times(
            distances,
            *times,
            np.array(region.nodes, np.int64),
            *concatenated(touched_routes(solution, region)),
        )
        return np.concatenate((shared[_KEPT], described))
