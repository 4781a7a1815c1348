"""Interfaces of programs of the VRPTW: the rows in which they differ from the CVRP's."""

from specahd.routing.vehicles import interfaces

CUSTOMER_GROUPS = interfaces.CUSTOMER_GROUPS.changed(
    """
    ready_times: FloatArray
        Earliest start of service, shape (n + 1,); a vehicle that comes earlier
        waits. Vehicles leave the depot at ``ready_times[0]``.
    due_times: FloatArray
        Latest start of service, shape (n + 1,); vehicles are back at the depot
        at ``due_times[0]`` at the latest.
    service_times: FloatArray
        How long service takes, shape (n + 1,); ``service_times[0]`` is 0.
    distance_matrix
        Distances and travel times, shape (n + 1, n + 1), in the unit of
        ``coords`` and of all times.
    """,
    after="capacity",
)
_WITHOUT_TIME = interfaces.NEXT_CUSTOMER.changed(
    """
    unvisited_nodes
        Exactly the customers that can be visited next, those that wait, whose
        demand is at most ``rest_capacity``, whom the vehicle reaches when they
        are due or earlier, and after whom it is back at the depot in time: one or
        more, ascending. When there is none, the route is closed without asking.
    rest_capacity
        What the vehicle can still take on this route, in units of demand: all
        that it carries while the route is empty. No argument tells later what
        that was, nor who waits and is no longer possible: the arrays have all
        of the group, those served included.
    current_time: float
        When the vehicle leaves ``current_node``, service there being done.
    """,
    after="rest_capacity",
)
NEXT_CUSTOMER = _WITHOUT_TIME.changed(
    """
    ready_times: FloatArray
        Earliest start of service, shape (m + 1,); a vehicle that comes earlier
        waits. Vehicles leave the depot at ``ready_times[0]``.
    due_times: FloatArray
        Latest start of service, shape (m + 1,); vehicles are back at the depot
        at ``due_times[0]`` at the latest.
    service_times: FloatArray
        How long service takes, shape (m + 1,); ``service_times[0]`` is 0.
    distance_matrix
        Distances and travel times within the group, shape (m + 1, m + 1), in
        the unit of all times; row 0 is the depot's.
    """,
    after="demands",
)
FROM_NOTHING = NEXT_CUSTOMER.changed(
    """
    rest_capacity
        What the vehicle can still take on this route, in units of demand: all
        that it carries while the route is empty. No argument tells later what
        that was, nor who waits and is no longer possible: the arrays
        have all customers, those served included.
    demands
        Demand of every node, shape (m + 1,); ``demands[0]`` is 0.
    distance_matrix
        Distances and travel times, shape (m + 1, m + 1), in
        the unit of all times; row 0 is the depot's.
    """,
    description=interfaces.FIRST_CUSTOMERS,
    notes=interfaces.INSTANCE_NOTES,
)
