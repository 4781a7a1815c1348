"""The contracts of SDVRP: real functions whose bodies the search rewrites.

The argument lists, the docstrings and the bodies are prompt text; the bodies
are also the first candidates.
"""

from collections.abc import Sequence

import numpy as np

from specahd.engine import families, interfaces, seeds, select_groups, select_position
from specahd.problems.sdvrp import construct, varied_deliveries, vocabulary
from specahd.routing.base import FloatArray, IntArray
from specahd.routing.vehicles import customer_groups, next_customer


def generate_delivery_groups(
    routes: list[IntArray],
    deliveries: list[IntArray],
    coords: FloatArray,
    demands: IntArray,
    capacity: int,
    distance_matrix: FloatArray,
    max_groups: int,
    max_size: int,
) -> Sequence[Sequence[int]]:
    """Choose groups of customers whose deliveries are worth planning again.

    Every delivery to the customers of a group leaves its route, the gaps close,
    and fresh routes from the depot deliver their whole demands, one group
    after the other. A rebuilt group stays only if the whole solution stays
    feasible and gets cheaper.

    Parameters
    ----------
    routes
        The incumbent: per route its customers in the order they are visited,
        without the depot; never empty. Every customer is on one route or
        more, and at most once on each.
    deliveries
        What is delivered at each of these visits, at least 1: arrays as long
        as those of ``routes``. A customer's deliveries add up to its demand.
    coords
        Positions, shape (n + 1, 2); row 0 is the depot.
    demands
        Demand of every customer, shape (n + 1,); ``demands[0]`` is 0. May exceed
        ``capacity``.
    capacity
        What one vehicle carries, in units of demand.
    distance_matrix
        Distances, shape (n + 1, n + 1), in the unit of ``coords``.
    max_groups
        Only the first ``max_groups`` valid groups are used.
    max_size
        A group of more customers is rejected.

    Returns
    -------
    sequence of sequences of int
        Groups of customers from 1 to n, in the order in which to repair them.
        A customer that occurs again, in its group or in a later one, is
        dropped there; a group of fewer than 2 customers is rejected.

    Notes
    -----
    All arrays are read-only. The answer must depend on the arguments alone.
    """
    limit = max(2, int(1.0 * max_size))
    groups: list[list[int]] = [[]]
    for index in range(len(routes)):
        route = routes[index][:max_size]
        if groups[-1] and len(groups[-1]) + len(route) > limit:
            groups.append([])
        groups[-1].extend(route)
    return groups[:max_groups]


def select_next_delivery(
    current_node: int,
    depot: int,
    unvisited_nodes: IntArray,
    rest_capacity: int,
    residual_demands: IntArray,
    distance_matrix: FloatArray,
) -> tuple[int, int]:
    """Choose where the vehicle goes next, and what it leaves there, while a group is rebuilt.

    Routes are built one after the other from the depot until the demand of
    every customer of the group is delivered. A demand may be split over
    several routes. An empty vehicle returns to the depot without asking.

    Parameters
    ----------
    current_node
        Where the vehicle is; equal to ``depot`` on an empty route.
    depot
        Index of the depot: 0.
    unvisited_nodes
        Exactly the customers that lack something, all of which can be visited
        next: one or more, ascending.
    rest_capacity
        What the vehicle can still deliver on this route, in units of demand: 1
        or more, all that it carries while the route is empty. No argument tells
        later what that was.
    residual_demands
        What every node of the group still lacks, shape (m + 1,);
        ``residual_demands[0]`` is 0. May exceed ``rest_capacity``.
    distance_matrix
        Distances within the group, shape (m + 1, m + 1); row 0 is the depot's.

    Returns
    -------
    tuple of int and int
        One of ``unvisited_nodes`` and the quantity for it, from 1 to the lesser
        of ``rest_capacity`` and what it lacks; or ``depot`` and any quantity to
        close the route, which is unavailable on an empty route. An unavailable
        customer is replaced by the nearest of ``unvisited_nodes``, an
        unavailable quantity by the largest.

    Notes
    -----
    All arrays are read-only, and indices are local to the group. The answer
    must depend on the arguments alone.
    """
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
_ASKED = " and the quantity delivered there"

DELIVERY_GROUPS = customer_groups.contract(
    generate_delivery_groups,
    id="delivery_groups",
    problem=_PROBLEM,
    vocabulary=vocabulary.upper(),
)
APPEND = next_customer.contract(
    select_next_delivery,
    problem=_PROBLEM,
    runner=construct.rebuild,
    compiled="specahd.problems.sdvrp.compiled:REBUILD",
    vocabulary=vocabulary.lower(),
    varied=varied_deliveries.VARIED,
    leaving=" and leave all that fits",
    asked=_ASKED,
)
CONSTRUCT = next_customer.construction(
    APPEND,
    goal=_GOAL,
    passages={
        "while a group is rebuilt": "as a solution is built",
        "every customer of the group is delivered": "every customer is delivered",
        "What every node of the group still lacks": "What every node still lacks",
        "Distances within the group": "Distances",
    },
    asked=_ASKED,
)

ORDERED_GROUPS = select_groups.contract(
    interfaces.SPLIT_GROUPS,
    goal=_GOAL,
    vocabulary=select_groups.vocabulary(),
)
INSERTION = select_position.contract(
    interfaces.SPLIT_POSITIONS,
    seeds.least_detour_per_unit,
    goal=_GOAL,
    compiled=families.SDVRP.positions,
    vocabulary=vocabulary.positions(),
    idea="Insert at the position with the least detour per unit delivered.",
    others=[vocabulary.IN_PARTS],
)
