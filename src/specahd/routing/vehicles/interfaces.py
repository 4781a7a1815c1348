"""Interfaces of programs of the CVRP; those of other problems differ in some rows."""

from specahd.core.interface import Interface, arguments

_DESCRIPTION = """Choose groups of customers whose routes are worth rebuilding.

    The customers of each group leave their routes, the gaps close, and fresh
    routes from the depot are built for them, one group after the other. A
    rebuilt group """
DEARER = """stays if the whole solution stays feasible,
    even if it gets dearer."""
CUSTOMER_GROUPS = Interface(
    name="generate_customer_groups",
    description=f"""{_DESCRIPTION}stays only if the whole solution stays feasible and gets
    cheaper.""",
    dearer=_DESCRIPTION + DEARER,
    arguments=arguments("""
    routes: list[IntArray]
        The incumbent: per route its customers in the order they are visited,
        without the depot; never empty. Every customer is on exactly one route.
    coords: FloatMatrix
        Positions, shape (n + 1, 2); row 0 is the depot.
    demands: IntArray
        Demand of every customer, shape (n + 1,); ``demands[0]`` is 0.
    capacity: int
        What one vehicle carries, in units of demand.
    distance_matrix: FloatMatrix
        Distances, shape (n + 1, n + 1), in the unit of ``coords``.
    max_groups: int
        Only the first ``max_groups`` valid groups are used.
    max_size: int
        A group of more customers is rejected.
    """),
    answer="Sequence[Sequence[int]]",
    returns="""
    sequence of sequences of int
        Groups of customers from 1 to n, in the order in which to repair them.
        A customer that an earlier group holds is dropped from later ones; a
        group of fewer than 2 customers is rejected.
    """,
    notes="""
    All arrays are read-only. The answer must depend on the arguments alone. A
    program that draws numbers may begin with a seed from the routes, so that it
    chooses anew when they have changed.
    """,
)
NEXT_CUSTOMER = Interface(
    name="select_next_node",
    description="""Choose where the vehicle goes next while a group of customers is rebuilt.

    They have left their old routes, whose gaps are closed. Fresh routes are built
    one after the other from the depot until every customer of the group is served,
    as many as it takes; they stay if the whole solution gets cheaper.""",
    arguments=arguments("""
    current_node: int
        Where the vehicle is; equal to ``depot`` on an empty route.
    depot: int
        Index of the depot: 0.
    unvisited_nodes: IntArray
        Exactly the customers that can be visited next, those that wait and
        whose demand is at most ``rest_capacity``: one or more, ascending. When
        there is none, the route is closed without asking.
    rest_capacity: int
        What the vehicle can still take on this route, in units of demand: all
        that it carries while the route is empty. No argument tells later what
        that was, nor who waits and no longer fits: ``demands`` and
        ``distance_matrix`` have all of the group, those served included.
    demands: IntArray
        Demand of every node of the group, shape (m + 1,); ``demands[0]`` is 0.
    distance_matrix: FloatMatrix
        Distances within the group, shape (m + 1, m + 1), symmetric; row 0 is the
        depot's.
    """),
    answer="int",
    returns="""
    int
        One of ``unvisited_nodes``; or ``depot`` to close the route, which is
        unavailable on an empty route. An unavailable answer is replaced by the
        nearest of ``unvisited_nodes``.
    """,
    plans="list[int] | IntArray",
    plan="""
    Or several of these in order, as a list or an array of one dimension: a plan. It
    is followed without another call as long as its next entry is available by
    then; the rest is dropped, and the function is asked again from there. A
    function that looks further ahead than the next stop should answer with its
    whole plan: else it plans again at every stop and meets the limit of time.
    While ``current_node`` is ``depot``, the arguments tell all: ``unvisited_nodes``
    has everybody who waits, ``rest_capacity`` is a full load. So the first plan can
    hold all routes, with ``depot`` between them, also where a route would be closed
    without asking.
    """,
    notes="""
    All arrays are read-only, and indices are local to the group, in the order of
    the customers' numbers, which tells nothing of the old routes. The answer must
    depend on the arguments alone.
    """,
)
FIRST_CUSTOMERS = """Choose where the vehicle goes next while a solution is built from nothing.

    Routes are built one after the other from the depot until every customer is served."""
INSTANCE_NOTES = """
    All arrays are read-only, and indices are those of the instance. The answer
    must depend on the arguments alone.
    """
FROM_NOTHING = NEXT_CUSTOMER.changed(
    """
    rest_capacity
        What the vehicle can still take on this route, in units of demand: all
        that it carries while the route is empty. No argument tells later what
        that was, nor who waits and no longer fits: ``demands`` and
        ``distance_matrix`` have all customers, those served included.
    demands
        Demand of every node, shape (m + 1,); ``demands[0]`` is 0.
    distance_matrix
        Distances, shape (m + 1, m + 1); row 0 is the depot's.
    """,
    description=FIRST_CUSTOMERS,
    notes=INSTANCE_NOTES,
)
"""The same where a solution is built from nothing."""
