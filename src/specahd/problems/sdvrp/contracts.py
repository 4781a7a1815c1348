"""The contracts of SDVRP."""

import numpy as np

from specahd.engine import seeds, select_groups, select_position
from specahd.engine.interfaces import SPLIT_GROUPS, SPLIT_POSITIONS
from specahd.problems.sdvrp import construct, interfaces, varied_deliveries, vocabulary
from specahd.problems.sdvrp.family import FAMILY
from specahd.routing.base import FloatArray, IntArray
from specahd.routing.vehicles import customer_groups, next_customer


def nearest_delivery(
    current_node: int,
    unvisited_nodes: IntArray,
    rest_capacity: int,
    residual_demands: IntArray,
    distance_matrix: FloatArray,
) -> tuple[int, int]:
    """Visit the customer with the least distance from here and leave all that fits."""
    here = distance_matrix[current_node, unvisited_nodes]
    score = here
    best = np.argmin(score)
    customer = int(unvisited_nodes[best])
    most = min(int(residual_demands[customer]), rest_capacity)
    return (customer, most)


_GOAL = (
    "Split-delivery vehicle routing: vehicles of equal capacity start and end at a depot and "
    "deliver the demand of every customer at the least total distance; several vehicles may share "
    "a demand, which may exceed the capacity. "
)
_PROBLEM = _GOAL + (
    "A feasible solution exists already; all deliveries to groups of its customers are removed and "
    "rebuilt one group at a time. "
)

DELIVERY_GROUPS = customer_groups.contract(
    interfaces.DELIVERY_GROUPS,
    id="delivery_groups",
    problem=_PROBLEM,
    vocabulary=vocabulary.upper(),
)
APPEND, CONSTRUCT = next_customer.contracts(
    interfaces.NEXT_DELIVERY,
    interfaces.FROM_NOTHING,
    nearest_delivery,
    goal=_GOAL,
    problem=_PROBLEM,
    runner=construct.rebuild,
    compiled="specahd.problems.sdvrp.compiled:REBUILD",
    vocabulary=vocabulary.lower(),
    varied=varied_deliveries.VARIED,
    leaving=" and leave all that fits",
    asked=" and the quantity delivered there",
)

ORDERED_GROUPS = select_groups.contract(
    SPLIT_GROUPS,
    goal=_GOAL,
    compiled=FAMILY.groups,
    vocabulary=select_groups.vocabulary(),
)
INSERTION = select_position.contract(
    SPLIT_POSITIONS,
    seeds.least_detour_per_unit,
    goal=_GOAL,
    compiled=FAMILY.positions,
    vocabulary=vocabulary.positions(),
    idea="Insert at the position with the least detour per unit delivered.",
    others=[vocabulary.IN_PARTS],
)
