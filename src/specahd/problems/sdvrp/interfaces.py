"""Interfaces of programs of the SDVRP: the rows in which they differ from the CVRP's."""

from specahd.core.interface import Interface, arguments
from specahd.routing.vehicles import interfaces

_DESCRIPTION = """Choose groups of customers whose deliveries are worth planning again.

    Every delivery to the customers of a group leaves its route, the gaps close,
    and fresh routes from the depot deliver their whole demands, one group
    after the other. A rebuilt group """
DELIVERY_GROUPS = interfaces.CUSTOMER_GROUPS.changed(
    """
    routes
        The incumbent: per route its customers in the order they are visited,
        without the depot; never empty. Every customer is on one route or
        more, and at most once on each.
    deliveries: list[IntArray]
        What is delivered at each of these visits, at least 1: arrays as long
        as those of ``routes``. A customer's deliveries add up to its demand.
    demands
        Demand of every customer, shape (n + 1,); ``demands[0]`` is 0. May exceed
        ``capacity``.
    """,
    after="routes",
    name="generate_delivery_groups",
    description=f"""{_DESCRIPTION}stays only if the whole solution stays
    feasible and gets cheaper.""",
    dearer=_DESCRIPTION + interfaces.DEARER,
    returns="""
    sequence of sequences of int
        Groups of customers from 1 to n, in the order in which to repair them.
        A customer that occurs again, in its group or in a later one, is
        dropped there; a group of fewer than 2 customers is rejected.
    """,
)
NEXT_DELIVERY = Interface(
    name="select_next_delivery",
    description="""
    Choose where the vehicle goes next, and what it leaves there, while a group is rebuilt.

    Routes are built one after the other from the depot until the demand of
    every customer of the group is delivered. A demand may be split over
    several routes. An empty vehicle returns to the depot without asking.
    """,
    arguments=arguments("""
    current_node: int
        Where the vehicle is; equal to ``depot`` on an empty route.
    depot: int
        Index of the depot: 0.
    unvisited_nodes: IntArray
        Exactly the customers that lack something, all of which can be visited
        next: one or more, ascending.
    rest_capacity: int
        What the vehicle can still deliver on this route, in units of demand: 1
        or more, all that it carries while the route is empty. No argument tells
        later what that was.
    residual_demands: IntArray
        What every node of the group still lacks, shape (m + 1,);
        ``residual_demands[0]`` is 0. May exceed ``rest_capacity``.
    distance_matrix: FloatMatrix
        Distances within the group, shape (m + 1, m + 1); row 0 is the depot's.
    """),
    answer="tuple[int, int]",
    returns="""
    tuple of int and int
        One of ``unvisited_nodes`` and the quantity for it, from 1 to the lesser
        of ``rest_capacity`` and what it lacks; or ``depot`` and any quantity to
        close the route, which is unavailable on an empty route. An unavailable
        customer is replaced by the nearest of ``unvisited_nodes``, an
        unavailable quantity by the largest.
    """,
    plans="list[tuple[int, int]] | IntArray",
    plan="""
    Or several of these pairs in order, as a list or an array of two columns: a
    plan. It is followed without another call as long as its next pair is
    available by then; the rest is dropped, and the function is asked again from
    there. A function that looks further ahead than the next stop should answer
    with its whole plan: else it plans again at every stop and meets the limit of
    time. While ``current_node`` is ``depot``, ``rest_capacity`` is a full load. So
    the first plan can hold all routes, with ``(depot, 0)`` between them.
    """,
    notes=interfaces.NEXT_CUSTOMER.notes,
)
FROM_NOTHING = NEXT_DELIVERY.changed(
    """
    residual_demands
        What every node still lacks, shape (m + 1,);
        ``residual_demands[0]`` is 0. May exceed ``rest_capacity``.
    distance_matrix
        Distances, shape (m + 1, m + 1); row 0 is the depot's.
    """,
    description="""
    Choose where the vehicle goes next, and what it leaves there, as a solution is built.

    Routes are built one after the other from the depot until the demand of
    every customer is delivered. A demand may be split over
    several routes. An empty vehicle returns to the depot without asking.
    """,
    notes=interfaces.INSTANCE_NOTES,
)
