"""A second repair operator for the CVRP, as a user would add it: this file and its runner.

The program orders all customers of a region at once, and the order is cut into routes
(Beasley 1983). It has no vocabulary, so only language models write programs for it.
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from giant_tour_runner import rebuild

from specahd.core.contract import Contract
from specahd.core.program import Level
from specahd.problems.cvrp.contracts import CUSTOMER_GROUPS
from specahd.problems.cvrp.problem import CVRP
from specahd.routing.base import FloatArray, IntArray
from specahd.routing.problem import Operators
from specahd.routing.vehicles.routes import Append, CustomerGroups


def order_customers(demands: IntArray, distance_matrix: FloatArray) -> Sequence[int]:
    """Order the customers 1 to m of a group; a vehicle takes them in turn until it is full.

    Parameters
    ----------
    demands
        Demand of every node of the group, shape (m + 1,); ``demands[0]`` is 0.
    distance_matrix
        Distances within the group, shape (m + 1, m + 1); row 0 is the depot's.

    Returns
    -------
    sequence of int
        Every customer once; those that are missing come last.
    """
    return [int(node) for node in np.argsort(distance_matrix[0, 1:]) + 1]


GIANT_TOUR = Contract.of(
    order_customers,
    id="giant_tour",
    level=Level.LOWER,
    idea="Serve the customers that are near the depot first.",
    task="Capacitated vehicle routing. Write the function that decides HOW to rebuild a group of "
    "customers: it puts them in one order, which is cut where a vehicle is full.",
    runner=rebuild,
)


def _giant_tour(problem: CVRP) -> Append:
    groups = CustomerGroups(CUSTOMER_GROUPS, problem.max_regions, problem.max_size)
    return Append(groups, GIANT_TOUR)


class CVRPWithGiantTour(CVRP):
    """The CVRP, with ``repair=giant_tour`` beside ``append``."""

    name = "cvrp_giant_tour"
    operators: ClassVar[Operators] = {**CVRP.operators, "giant_tour": _giant_tour}
