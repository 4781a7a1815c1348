"""The CVRP as one class: no optional field of an instance; options, baselines, operators, pools.

The paper's appendix C and docs/reference/pools.md describe the generated pools.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import numpy as np

from specahd.core.options import Option, checked
from specahd.engine.family import Family
from specahd.engine.insertion import insertion
from specahd.engine.schedule import many_on_short_routes, on_long_routes, temperature_by_stops
from specahd.routing.base import PublicSet
from specahd.routing.formats import vrplib
from specahd.routing.formats.vrplib import VRPLIBData
from specahd.routing.generation import LAYOUTS, Slot, instances, uniform
from specahd.routing.geometry import Convention
from specahd.routing.problem import Baselines, Operators
from specahd.routing.vehicles import baselines
from specahd.routing.vehicles.instance import VehicleInstance
from specahd.routing.vehicles.problem import CONVENTION, VehicleProblem
from specahd.routing.vehicles.routes import Solution, append, construct

_SERIALS = {
    "lower_train": range(256),
    "upper_train": range(300, 360),
    "selection": range(400, 460),
    "validation": range(500, 560),
}
_VALIDATION_SIZES = (100, 200, 300, 500, 800)
_VALIDATION_FAMILIES = ("clustered", "ring", "corridor", "mixed")
# Demand d has weight d.
_WEIGHTED_DEMANDS = np.repeat(np.arange(1, 10), np.arange(1, 10))


def generate(pool: str, seed: int) -> Iterator[VehicleInstance]:
    """Yield the instances of a pool in order.

    A name like ``cvrp-uniform-n100-s2024017`` states the spatial family, the
    number of nodes (with the depot, as in CVRPLIB) and 1000 times the seed
    plus a serial number that no two instances of the pools share.

    Parameters
    ----------
    pool
        ``lower_train``, ``upper_train`` and ``selection`` are uniform with 20
        to 200 nodes; ``validation`` has 100 to 800 customers in other families.
    seed
        As for :func:`~specahd.routing.generation.instances`, which lists the exceptions.
    """
    return instances("cvrp", pool, seed, _SERIALS, _drawn)


def _drawn(rng: np.random.Generator, slot: Slot) -> VehicleInstance:
    if slot.pool == "validation":
        customers = _VALIDATION_SIZES[slot.number // 12]
        family = _VALIDATION_FAMILIES[slot.number % 4]
    else:
        customers = int(rng.integers(19, 200))
        family = "uniform"
    capacity = int(rng.integers(10, 151))
    demands = np.zeros(customers + 1, np.int64)
    demands[1:] = _WEIGHTED_DEMANDS[rng.integers(len(_WEIGHTED_DEMANDS), size=customers)]
    depot = uniform(rng, 1)
    points = LAYOUTS[family](rng, customers)
    return VehicleInstance(
        name=slot.name(family, customers + 1),
        coords=np.concatenate((depot, points)).astype(np.float64),
        demands=demands,
        capacity=capacity,
        comment=slot.comment,
    )


_CONVENTIONS = {"rounded": Convention.EUC_2D, "float": Convention.EXACT_2D}


class CVRP(VehicleProblem[Solution]):
    """The capacitated vehicle routing problem.

    Parameters
    ----------
    convention
        Of files whose EDGE_WEIGHT_TYPE is EUC_2D: ``rounded`` to the nearest integer, as TSPLIB
        defines, or ``float`` (unrounded).
    options
        Those of every vehicle problem.

    Raises
    ------
    ConfigError
        A parameter is out of its range.
    """

    name = "cvrp"
    types = ("CVRP",)
    public_sets: Sequence[PublicSet] = (
        PublicSet("cvrp_small"),
        PublicSet("cvrp_belgium"),
        PublicSet("cvrp_x"),
        PublicSet("cvrp_xl"),
    )
    conventions = tuple(_CONVENTIONS)
    baselines: Baselines = {
        "nearest": baselines.nearest,
        "savings": baselines.savings,
        "pyvrp": baselines.pyvrp,
    }
    iterated = "pyvrp"
    references: Sequence[str] = ("nearest", "savings")
    construction = "savings"
    engine = Family(
        name="cvrp",
        construction_temperature=lambda instance, near: temperature_by_stops(instance),
        # benchmarks/notes/2026-11-30-long-routes.md
        exchanges=lambda instance: 32 if on_long_routes(instance) else 0,
        routes_disjoint=True,
        moving_window=many_on_short_routes,
    )
    operators: Operators = {"append": append, "insertion": insertion, "construct": construct}
    # Up to whole training instances.
    suited_sizes = {"append": (16, 200)}
    suited = {
        "solve": {
            "problem.baseline": "savings",
            "problem.repairs_per_customer": 500,
            "budget.upper_train": 32,
            "budget.selection": 60,
        }
    }

    generate = staticmethod(generate)

    @checked("")
    def __init__(
        self,
        convention: Annotated[str, Option(CONVENTION, choices=_CONVENTIONS)] = "rounded",
        **options: Annotated[Any, VehicleProblem],
    ) -> None:
        super().__init__(**options)
        self.convention = convention

    def read_data(self, path: Path) -> VRPLIBData:
        return vrplib.read(path, euclidean=_CONVENTIONS[self.convention])

    @property
    def contracts(self) -> ModuleType:
        from specahd.problems.cvrp import contracts

        return contracts
