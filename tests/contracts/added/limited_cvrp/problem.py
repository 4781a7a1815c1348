"""The CVRP whose routes may be so long: what it shares with the CVRP comes from there."""

from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Annotated, Any, ClassVar

import numpy as np

from specahd.core.options import Option, checked
from specahd.engine.family import Family
from specahd.engine.insertion import insertion
from specahd.problems.cvrp.problem import CVRP
from specahd.routing.base import POOLS, PublicSet, Violation
from specahd.routing.generation import Slot, instances
from specahd.routing.geometry import distances
from specahd.routing.problem import Baselines, Operators
from specahd.routing.vehicles.instance import VehicleInstance
from specahd.routing.vehicles.routes import Solution

_MARGIN = 1e-9
"""The share of the limit that sums of distances may be wrong by."""


def distances_from(instance: VehicleInstance, node: int) -> np.ndarray:
    """Return the distances from a node to all nodes, shape (n + 1,)."""
    if instance.matrix is not None:
        return instance.matrix[node]
    return distances(instance.coords[node], instance.coords, instance.convention)


def nearest(instance: VehicleInstance, longest: float) -> Solution:
    """Go on to the nearest customer that fits, as long as the vehicle can be back in time."""
    back = distances_from(instance, 0)
    left, routes = list(range(1, instance.size + 1)), []
    while left:
        here, load, length, route = 0, 0, 0.0, []
        while True:
            away = distances_from(instance, here)
            fits = [
                node
                for node in left
                if load + instance.demands[node] <= instance.capacity
                and length + away[node] + back[node] <= longest
            ]
            if not fits:
                break
            here = min(fits, key=lambda node: (away[node], node))
            load, length = load + int(instance.demands[here]), length + float(away[here])
            left.remove(here)
            route.append(here)
        routes.append(tuple(route))
    return tuple(routes)


def drawn(rng: np.random.Generator, slot: Slot) -> VehicleInstance:
    """Draw 20 customers or a few more anywhere in a square, of which 12 fit on a route."""
    size = 20 + slot.number
    points = rng.integers(0, 1001, size=(size + 1, 2)).astype(np.float64)
    demands = np.append(0, rng.integers(1, 10, size))
    return VehicleInstance(slot.name("uniform", size + 1), points, demands, 60)


class LimitedCVRP(CVRP):
    """The CVRP in which no route is longer than ``reach`` times that to the farthest customer."""

    name = "limited_cvrp"
    public_sets: Sequence[PublicSet] = ()
    baselines: ClassVar[Baselines] = {"nearest": nearest}
    iterated = ""
    references: Sequence[str] = ("nearest",)
    construction = "nearest"
    engine = Family(name="limited_cvrp", routes_disjoint=True)
    operators: ClassVar[Operators] = {"insertion": insertion}

    @checked("")
    def __init__(
        self,
        reach: Annotated[
            float, Option("longest route, in ways to the farthest customer and back", 1, 1e6)
        ] = 1.5,
        **options: Annotated[Any, CVRP],
    ) -> None:
        super().__init__(**{"repair": "insertion", **options})
        self.reach = reach

    @property
    def contracts(self) -> ModuleType:
        from limited_cvrp import contracts

        return contracts

    def longest(self, instance: VehicleInstance) -> float:
        """Return the length that no route exceeds, in the unit of distances."""
        return self.reach * 2.0 * float(distances_from(instance, 0).max())

    def generate(self, pool: str, seed: int) -> Iterator[VehicleInstance]:
        serials = {name: range(10 * index, 10 * index + 6) for index, name in enumerate(POOLS)}
        return instances(self.name, pool, seed, serials, drawn)

    def baseline(self, instance: VehicleInstance, name: str | None = None) -> Solution:
        self.expect_baseline(name or self.baseline_name)
        return nearest(instance, self.longest(instance))

    def check(self, instance: VehicleInstance, solution: Solution) -> tuple[Violation, ...]:
        violations = CVRP.check(instance, solution)
        if violations:
            # A customer that does not exist is at no distance.
            return violations
        longest = self.longest(instance) * (1.0 + _MARGIN)
        lengths = [self.cost(instance, (route,)) for route in solution]
        return tuple(
            Violation("length", f"Route {route} is {length:g} long, more than {longest:g}.")
            for route, length in enumerate(lengths, 1)
            if length > longest
        )

    def layout(
        self, instance: VehicleInstance
    ) -> Mapping[str, tuple[type[np.generic], tuple[int, ...]]]:
        return {**super().layout(instance), "longest": (np.float64, (1,))}

    def fill(self, instance: VehicleInstance, arrays: Mapping[str, Any]) -> None:
        super().fill(instance, arrays)
        arrays["longest"][:] = self.longest(instance)
