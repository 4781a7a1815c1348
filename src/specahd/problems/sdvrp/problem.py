"""The SDVRP as the search sees it; every method delegates to a room of this folder."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specahd.core.contract import Contract
from specahd.core.errors import ConfigError
from specahd.core.program import Level
from specahd.problems.sdvrp import baseline, checker, deliveries, descriptor, generator
from specahd.problems.sdvrp.construct import most_stops
from specahd.problems.sdvrp.deliveries import Delivery, Solution
from specahd.problems.sdvrp.instance import SDVRPInstance, dumps, read
from specahd.routing.base import FloatArray, IntArray, PublicSet, Region, Validation, Violation
from specahd.routing.formats import sol
from specahd.routing.groups import concatenated, validate_groups
from specahd.routing.vehicles import block
from specahd.routing.vehicles.routes import local_customers


class SDVRP:
    """The split-delivery vehicle routing problem with any number of equal vehicles.

    Parameters
    ----------
    baseline
        The baseline solver in force: ``nearest``, ``unsplit`` or ``splitting``.
    max_regions
        Most regions kept from one proposal, at least 1.
    max_size
        Most customers in a region, at least 2.
    solver_iterations
        Of PyVRP within ``splitting``, at least 1.

    Raises
    ------
    ConfigError
        A parameter is out of its range.
    """

    name: str = "sdvrp"
    suffix: str = ".vrp"
    public_sets: Sequence[PublicSet] = (
        # No routes are published; solutions of the same instances as CVRP are feasible here.
        PublicSet(
            "sdvrp",
            borrowed={
                "p01_00": "cvrp_small/E-n51-k5.sol",
                "p02_00": "cvrp_small/E-n76-k10.sol",
                "p03_00": "cvrp_small/E-n101-k8.sol",
            },
        ),
    )
    conventions: Sequence[str] = ()
    baselines: Sequence[str] = ("nearest", "unsplit", "splitting")
    references: Sequence[str] = ("nearest", "unsplit")
    descriptor_names: tuple[str, ...] = descriptor.NAMES

    def __init__(
        self,
        baseline: str = "unsplit",
        max_regions: int = 8,
        max_size: int = 50,
        solver_iterations: int = 200,
    ) -> None:
        self._expect_baseline(baseline)
        if max_regions < 1:
            raise ConfigError(f"Expected max_regions of at least 1, got {max_regions}.")
        if max_size < 2:
            raise ConfigError(f"Expected max_size of at least 2, got {max_size}.")
        if solver_iterations < 1:
            raise ConfigError(f"Expected solver_iterations of at least 1, got {solver_iterations}.")
        self.baseline_name = baseline
        self.max_regions = max_regions
        self.max_size = max_size
        self.solver_iterations = solver_iterations

    def _expect_baseline(self, name: str) -> None:
        if name not in self.baselines:
            raise ConfigError(f"Expected a baseline in {', '.join(self.baselines)}, got {name!r}.")

    def contract(self, level: Level) -> Contract:
        # Only a search needs the contracts; reading and checking do not.
        from specahd.problems.sdvrp.contracts import CONTRACTS

        return CONTRACTS[level]

    def read(self, path: Path) -> SDVRPInstance:
        return read(path)

    def dumps(self, instance: SDVRPInstance) -> str:
        return dumps(instance)

    def read_solution(self, path: Path) -> tuple[Solution, float | None]:
        routes, quantities, cost = sol.read_deliveries(path)
        pairs = zip(routes, quantities, strict=True)
        return tuple(tuple(map(Delivery, *pair)) for pair in pairs), cost

    def solution_files(self, name: str, solution: Solution, cost: float) -> Mapping[str, str]:
        given = [[quantity for _, quantity in route] for route in solution]
        return {".sol": sol.dumps_deliveries(deliveries.stops(solution), given, cost)}

    def generate(self, pool: str, seed: int) -> Iterator[SDVRPInstance]:
        return generator.generate(pool, seed)

    def baseline(self, instance: SDVRPInstance, name: str | None = None) -> Solution:
        name = self.baseline_name if name is None else name
        self._expect_baseline(name)
        if name == "splitting":
            return baseline.splitting(instance, self.solver_iterations)
        return baseline.unsplit(instance) if name == "unsplit" else baseline.nearest(instance)

    def cost(self, instance: SDVRPInstance, solution: Solution) -> float:
        return checker.cost(instance, solution)

    def check(self, instance: SDVRPInstance, solution: Solution) -> tuple[Violation, ...]:
        return checker.check(instance, solution)

    def validate(
        self, instance: SDVRPInstance, solution: Solution, output: Sequence[IntArray]
    ) -> Validation:
        return validate_groups(output, instance.size, self.max_regions, self.max_size)

    def describe(self, instance: SDVRPInstance, solution: Solution, region: Region) -> FloatArray:
        return descriptor.describe(instance, solution, region)

    def merge(
        self,
        instance: SDVRPInstance,
        solution: Solution,
        region: Region,
        output: Sequence[IntArray],
    ) -> Solution | None:
        demand = int(instance.demands[list(region.nodes)].sum())
        most = most_stops(len(region.nodes), demand, instance.capacity)
        return deliveries.merge(solution, region, output, most)

    def layout(
        self, instance: SDVRPInstance
    ) -> Mapping[str, tuple[type[np.generic], tuple[int, ...]]]:
        return block.layout(instance.size + 1)

    def fill(self, instance: SDVRPInstance, arrays: Mapping[str, NDArray[Any]]) -> None:
        block.fill(
            arrays,
            instance.coords,
            instance.demands,
            instance.capacity,
            instance.convention,
            instance.matrix,
        )

    def propose_inputs(self, instance: SDVRPInstance, solution: Solution) -> tuple[IntArray, ...]:
        lengths, customers = concatenated(deliveries.stops(solution))
        _, given = concatenated(deliveries.quantities(solution, instance.demands))
        budget = np.array([self.max_regions, self.max_size], np.int64)
        return lengths, customers, given, budget

    def rebuild_inputs(
        self, instance: SDVRPInstance, solution: Solution, region: Region
    ) -> tuple[IntArray, ...]:
        return (np.array(local_customers(region), np.int64),)
