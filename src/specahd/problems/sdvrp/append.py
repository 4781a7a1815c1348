"""Repair operator ``append`` with split demands: every stop has a quantity."""

from collections.abc import Sequence
from typing import Any

from specahd.problems.sdvrp import deliveries
from specahd.problems.sdvrp.construct import most_stops
from specahd.problems.sdvrp.deliveries import Solution
from specahd.routing.base import IntArray, Region
from specahd.routing.groups import concatenated
from specahd.routing.vehicles.append import Append, CustomerGroups


class DeliveryGroups(CustomerGroups):
    """Regions that are groups of customers; programs also receive the delivery of each stop."""

    def inputs(self, instance: Any, solution: Solution) -> tuple[IntArray, ...]:
        """Return lengths of the routes, customers, quantities, and the two limits."""
        lengths, customers = concatenated(deliveries.stops(solution))
        _, given = concatenated(deliveries.quantities(solution, instance.demands))
        return lengths, customers, given, self.budget()


class AppendDeliveries(Append):
    """Operator that rebuilds all deliveries to the customers of a region in new routes."""

    def merge(
        self, instance: Any, solution: Any, region: Region, output: Sequence[IntArray]
    ) -> Any:
        demand = int(instance.demands[list(region.nodes)].sum())
        most = most_stops(len(region.nodes), demand, instance.capacity)
        return deliveries.merge(solution, region, output, most)
