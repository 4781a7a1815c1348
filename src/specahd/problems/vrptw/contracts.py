"""The two contracts of VRPTW: real functions whose bodies the search rewrites.

The argument lists, the docstrings and the bodies are prompt text; the bodies
are also the first candidates.
"""

from collections.abc import Sequence

import numpy as np

from specahd.engine import families, interfaces, select_groups, select_position, strings
from specahd.problems.vrptw import construct, time_vocabulary, varied_customers
from specahd.routing.base import FloatArray, IntArray
from specahd.routing.vehicles import customer_groups, next_customer


def generate_customer_groups(
    routes: list[IntArray],
    coords: FloatArray,
    demands: IntArray,
    capacity: int,
    ready_times: FloatArray,
    due_times: FloatArray,
    service_times: FloatArray,
    distance_matrix: FloatArray,
    max_groups: int,
    max_size: int,
) -> Sequence[Sequence[int]]:
    """Choose groups of customers whose routes are worth rebuilding.

    The customers of each group leave their routes, the gaps close, and fresh
    routes from the depot are built for them, one group after the other. A
    rebuilt group stays only if the whole solution stays feasible and gets
    cheaper.

    Parameters
    ----------
    routes
        The incumbent: per route its customers in the order they are visited,
        without the depot; never empty. Every customer is on exactly one route.
    coords
        Positions, shape (n + 1, 2); row 0 is the depot.
    demands
        Demand of every customer, shape (n + 1,); ``demands[0]`` is 0.
    capacity
        What one vehicle carries, in units of demand.
    ready_times
        Earliest start of service, shape (n + 1,); a vehicle that comes earlier
        waits. Vehicles leave the depot at ``ready_times[0]``.
    due_times
        Latest start of service, shape (n + 1,); vehicles are back at the depot
        at ``due_times[0]`` at the latest.
    service_times
        How long service takes, shape (n + 1,); ``service_times[0]`` is 0.
    distance_matrix
        Distances and travel times, shape (n + 1, n + 1), in the unit of
        ``coords`` and of all times.
    max_groups
        Only the first ``max_groups`` valid groups are used.
    max_size
        A group of more customers is rejected.

    Returns
    -------
    sequence of sequences of int
        Groups of customers from 1 to n, in the order in which to repair them.
        A customer that an earlier group holds is dropped from later ones; a
        group of fewer than 2 customers is rejected.

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


def select_next_node(
    current_node: int,
    depot: int,
    unvisited_nodes: IntArray,
    rest_capacity: int,
    current_time: float,
    demands: IntArray,
    ready_times: FloatArray,
    due_times: FloatArray,
    service_times: FloatArray,
    distance_matrix: FloatArray,
) -> int:
    """Choose where the vehicle goes next while a group of customers is rebuilt.

    Routes are built one after the other from the depot until every customer
    of the group is served.

    Parameters
    ----------
    current_node
        Where the vehicle is; equal to ``depot`` on an empty route.
    depot
        Index of the depot: 0.
    unvisited_nodes
        Exactly the customers that can be visited next, those that wait, whose
        demand is at most ``rest_capacity``, whom the vehicle reaches before they
        are due, and after whom it is back at the depot in time: one or more,
        ascending. When there is none, the route is closed without asking.
    rest_capacity
        What the vehicle can still take on this route, in units of demand: all
        that it carries while the route is empty. No argument tells later what
        that was, nor who waits and is no longer possible: the arrays have all
        of the group, those served included.
    current_time
        When the vehicle leaves ``current_node``, service there being done.
    demands
        Demand of every node of the group, shape (m + 1,); ``demands[0]`` is 0.
    ready_times
        Earliest start of service, shape (m + 1,); a vehicle that comes earlier
        waits. Vehicles leave the depot at ``ready_times[0]``.
    due_times
        Latest start of service, shape (m + 1,); vehicles are back at the depot
        at ``due_times[0]`` at the latest.
    service_times
        How long service takes, shape (m + 1,); ``service_times[0]`` is 0.
    distance_matrix
        Distances and travel times within the group, shape (m + 1, m + 1), in
        the unit of all times; row 0 is the depot's.

    Returns
    -------
    int
        One of ``unvisited_nodes``; or ``depot`` to close the route, which is
        unavailable on an empty route. An unavailable answer is replaced by the
        nearest of ``unvisited_nodes``.

    Notes
    -----
    All arrays are read-only, and indices are local to the group. The answer
    must depend on the arguments alone.
    """
    here = distance_matrix[current_node, unvisited_nodes]
    score = here
    return int(unvisited_nodes[np.argmin(score)])


_GOAL = (
    "Vehicle routing with time windows: vehicles of equal capacity start and end at a depot and "
    "serve every customer exactly once, each within its time window, at the least total distance. "
    "Waiting costs nothing but time. "
)
_PROBLEM = _GOAL + (
    "A feasible solution exists already; groups of its customers are removed and rebuilt one at a "
    "time. "
)

CUSTOMER_GROUPS = customer_groups.contract(
    generate_customer_groups,
    problem=_PROBLEM,
    runner=construct.propose,
    vocabulary=time_vocabulary.groups(),
)
APPEND = next_customer.contract(
    select_next_node,
    problem=_PROBLEM,
    runner=construct.rebuild,
    compiled="specahd.problems.vrptw.compiled:REBUILD",
    vocabulary=time_vocabulary.nodes(),
    varied=varied_customers.VARIED,
)
CONSTRUCT = next_customer.construction(
    APPEND,
    goal=_GOAL,
    passages={
        "while a group of customers is rebuilt": "while a solution is built from nothing",
        "every customer of the group is served": "every customer is served",
        "the arrays have all of the group, those served included": (
            "the arrays\n        have all customers, those served included"
        ),
        "Demand of every node of the group": "Demand of every node",
        "Distances and travel times within the group": "Distances and travel times",
    },
)

ORDERED_GROUPS = select_groups.contract(
    interfaces.TIMED_GROUPS,
    goal=_GOAL,
    compiled=families.VRPTW.groups,
    vocabulary=time_vocabulary.ordered_groups(),
    others=(*select_groups.HAND_WRITTEN, time_vocabulary.STRINGS_IN_TIME),
)
INSERTION = select_position.contract(
    interfaces.TIMED_POSITIONS,
    goal=_GOAL,
    compiled=families.VRPTW.positions,
    vocabulary=time_vocabulary.positions(),
    others=[(strings.greedy_in_time, select_position.GREEDY_OVERLOOKING)],
)
