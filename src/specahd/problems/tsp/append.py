"""Repair operator ``append``: rebuild a run of the tour as a path between its fixed ends."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from specahd.core.contract import Contract
from specahd.problems.tsp import regions
from specahd.problems.tsp.instance import Solution, TSPInstance
from specahd.routing.base import IntArray, Region, RegionSelector, Validation

SMALLEST_INSTANCE = 4
"""Minimum number of nodes for which there is more than one tour."""


@dataclass(frozen=True)
class TourSegments:
    """Regions that are runs of consecutive nodes of the tour.

    Parameters
    ----------
    max_regions, max_size
        Maximum number of runs kept from one proposal, and of nodes in each, anchors included.
    """

    contract: Contract
    max_regions: int
    max_size: int

    def inputs(self, instance: TSPInstance, solution: Solution) -> tuple[IntArray, ...]:
        """Return the nodes of the tour in order, and ``[max_regions, max_size]``."""
        budget = np.array([self.max_regions, self.max_size], np.int64)
        return np.array(solution, np.int64), budget

    def validate(
        self, instance: TSPInstance, solution: Solution, output: Sequence[IntArray]
    ) -> Validation:
        return regions.validate(solution, output, self.max_regions, self.max_size)


def tour_from_zero(instance: TSPInstance, solution: Solution) -> Region | None:
    """Return the closed tour that starts and ends at node 0; None where all tours are equal."""
    if instance.size < SMALLEST_INSTANCE:
        return None
    start = solution.index(0)
    return regions.whole_tour((*solution[start:], *solution[:start]))


@dataclass(frozen=True)
class AppendNodes:
    """Operator that rebuilds the path between a run's anchors, one node after the other."""

    selector: RegionSelector
    contract: Contract

    def identity(self, region: Region) -> tuple[int, ...]:
        """Return the start anchor, the nodes between in ascending order, and the end anchor."""
        # The region may be invalid, because it may come from a file.
        nodes = region.nodes
        return (*nodes[:1], *sorted(nodes[1:-1]), *nodes[-1:])

    def inputs(
        self, instance: TSPInstance, solution: Solution, region: Region
    ) -> tuple[IntArray, ...]:
        """Return the start anchor, the nodes between in ascending order, and the end anchor."""
        return (np.array(regions.local_nodes(region), np.int64),)

    def merge(
        self, instance: TSPInstance, solution: Solution, region: Region, output: Sequence[IntArray]
    ) -> Solution | None:
        return regions.merge(solution, region, output)
