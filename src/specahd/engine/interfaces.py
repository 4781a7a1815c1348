"""Interfaces of programs of the repair operator ``insertion``: texts of prompts, and types.

A row of a table is all that an argument takes; a problem's table says how it differs from that of
the CVRP. Values are expressions of what :func:`specahd.engine.programs.groups_call` and
:func:`specahd.engine.programs.position_call` are given.
"""

from specahd.core.interface import Interface, arguments

_GROUPS = """Choose groups of customers to take out of their routes and to insert again.

    It is called at the start of every pass. The groups are then repaired one after the
    other: all customers of a group leave {left}, the gaps close, and each is inserted
    again, in the order in which the group lists them, where the other program chooses. The
    changed solution stays if it is cheaper, or dearer by less than a random amount: at first one
    to three distances between near customers on average, a twentieth of one at the end.
"""
GROUPS = Interface(
    name="select_customer_groups",
    description=_GROUPS.format(left="their routes"),
    arguments=arguments("""
    preceding: IntArray = state.upper_inputs[PRECEDING]
    following: IntArray = state.upper_inputs[FOLLOWING]
        The stop before and after every customer on its route, shape (n + 1,); 0 is the depot.
        Entry 0 has no meaning.
    route_of: IntArray = state.upper_inputs[ROUTE_OF]
        The number of every customer's route, shape (n + 1,); the numbers have gaps.
    neighbours: IntMatrix = instance.neighbours
        Customers near every customer, nearest first, without itself and the depot, shape
        (n + 1, k), k up to 100; row 0 is the depot's.
    neighbour_distances: FloatMatrix = instance.neighbour_distances
        The distances to them, shape (n + 1, k).
    depot_distances: FloatArray = instance.depot_distances
        Between the depot and every customer, shape (n + 1,).
    removal_gains: FloatArray = state.gains
        By how much the solution gets cheaper without each customer, shape (n + 1,).
    demands: IntArray = instance.demands
        Demand of every customer, shape (n + 1,); ``demands[0]`` is 0.
    capacity: int = instance.capacity
        What one vehicle carries, in units of demand.
    exposures: IntArray = state.upper_inputs[EXPOSURES]
        How often every customer was in a group so far, shape (n + 1,).
    noise: FloatArray = noise
        Uniform in [0, 1), new in every pass, shape (32 * max_groups,).
    progress: float = now
        How much of the time or of the repairs is spent, in [0, 1].
    max_groups: int = max_groups
    max_size: int = max_size
        Later groups, and later customers of a group, are dropped.
    """),
    answer="IntArray",
    returns="""
    array of int
        Customers from 1 to n of all groups, in the order in which to insert them, with 0
        between two groups: one array of int64. A customer that comes again, in any group,
        is dropped.
    """,
    notes="""
    ``noise`` is the only source of chance; derive more where needed. A pass takes some fifty
    microseconds: loop over some hundred customers, not over all.
    """,
)
TIMED_GROUPS = GROUPS.changed(
    """
    ready_times: FloatArray = state.own.views[OPENS]
    due_times: FloatArray = state.own.views[CLOSES]
        Earliest and latest start of every customer's service, shape (n + 1,), in the unit of
        distances, as all times are; a vehicle that comes earlier waits. Entry 0 is when the
        depot opens and closes, here and below.
    earliest_starts: FloatArray = state.own.views[EARLIEST]
        The earliest start of every customer's service on its route as it is now, shape (n + 1,).
    latest_starts: FloatArray = state.own.views[LATEST]
        The latest one with all later stops of the route still in time, shape (n + 1,).
    """,
    after="capacity",
)
SPLIT_GROUPS = GROUPS.changed(
    """
    following
        The stop before and after every customer on one of its routes, shape (n + 1,); 0 is the
        depot.
        Entry 0 has no meaning.
    route_of
        The number of that route, shape (n + 1,); the numbers have gaps.
    removal_gains
        By how much the solution gets cheaper without all visits to each customer, shape (n + 1,).
    demands
        Demand of every customer, shape (n + 1,), less whole loads that stay as they are;
        ``demands[0]`` is 0. May exceed ``capacity``.
    """,
    description=_GROUPS.format(left="all their routes"),
)
TOUR_GROUPS = Interface(
    name=GROUPS.name,
    description="""Choose groups of nodes to take out of the tour and to insert again.

    It is called at the start of every pass. The groups are then repaired one after the
    other: all nodes of a group leave the tour, the gaps close, and each is inserted again, in
    the order in which the group lists them, where the other program chooses. Several strings
    of nodes that pass near each other open the tour in several places at once. The changed
    tour stays if it is shorter, or longer by less than a random amount: at first a distance
    between near nodes on average, a twentieth of it at the end.
    """,
    arguments=arguments("""
    preceding: IntArray = state.upper_inputs[PRECEDING]
    following: IntArray = state.upper_inputs[FOLLOWING]
        The node before and behind every node on the tour, shape (n,). The tour begins and ends
        at node 0, which never leaves it.
    neighbours: IntMatrix = instance.neighbours
        Nodes near every node, nearest first, without itself and node 0, shape (n, k).
    neighbour_distances: FloatMatrix = instance.neighbour_distances
        The distances to them, shape (n, k).
    removal_gains: FloatArray = state.gains
        By how much the tour gets shorter without each node, shape (n,).
    exposures: IntArray = state.upper_inputs[EXPOSURES]
        How often every node was in a group so far, shape (n,).
    noise: FloatArray = noise
        Uniform in [0, 1), new in every pass, shape (32 * max_groups,).
    progress: float = now
        How much of the time or of the repairs is spent, in [0, 1].
    max_groups: int = max_groups
    max_size: int = max_size
        Later groups, and later nodes of a group, are dropped.
    """),
    answer="IntArray",
    returns="""
    array of int
        Nodes from 1 to n - 1 of all groups, in the order in which to insert them, with 0
        between two groups: one array of int64. A node that comes again, in any group, is
        dropped.
    """,
    notes="""
    All arrays are read-only. ``noise`` is the only source of chance; derive more where needed. A
    pass takes some fifty microseconds: loop over some hundred nodes, not over all.
    """,
)

POSITIONS = Interface(
    name="select_position",
    description="Choose where one customer that has left its route is inserted.",
    arguments=arguments("""
    detours: FloatArray = scratch.found[DETOUR, :count]
        What each position adds to the cost, shape (m,), m at least 1. The positions are those
        next to the customer's nearest neighbours, on routes with room for it; the last one
        opens a route of its own, at twice the distance from the depot.
    distances: FloatArray = scratch.found[DISTANCE_BEFORE, :count]
        From the stop before each position to the customer, shape (m,).
    rests: FloatArray = scratch.found[REST, :count]
        Capacity that remains on each position's route after the insertion, shape (m,): the same
        at all positions of one route.
    noise: FloatArray = noise
        Uniform in [0, 1), new in every call, shape (m,).
    demand: float = float(instance.demands[customer])
        Of the customer.
    depot_distance: float = instance.depot_distances[customer]
        Between the depot and the customer.
    capacity: float = float(instance.capacity)
        What one vehicle carries.
    progress: float = now
        How much of the time or of the repairs is spent, in [0, 1]; the same for a whole group.
    """),
    answer="int",
    returns="""
    int
        An index into ``detours``. Any other answer is replaced by the cheapest position.
    """,
    notes="""
    All arrays are read-only. It is called once for each customer that is inserted, so its
    speed decides how many repairs are made in a given time: one loop or a few operations on
    arrays. ``noise`` is the only source of chance.
    """,
)
TIMED_POSITIONS = POSITIONS.changed(
    """
    detours
        What each position adds to the cost, shape (m,), m at least 1. The positions are those
        next to the customer's nearest neighbours, on routes with room for it, where it and all
        later stops are served in time; the last one opens a route of its own, at twice the
        distance from the depot.
    slacks: FloatArray = scratch.found[SLACK, :count]
        How much later its service could begin than it would, with all later stops still in
        time, shape (m,).
    shifts: FloatArray = scratch.found[SHIFT, :count]
        How much later the next stop begins than before, or the vehicle is back, shape (m,); 0
        where it waits long enough. In the unit of distances, as ``slacks`` are.
    """,
    after="rests",
)
SPLIT_POSITIONS = POSITIONS.changed(
    """
    detours
        What each position adds to the cost, shape (m,), m at least 1. There is one on every route
        that visits one of the customer's nearest neighbours and has room, where the detour is
        least; the last position opens a route of its own, at twice the distance from the depot.
    quantities: FloatArray = scratch.found[QUANTITY, :count]
        What would be delivered at each position, shape (m,): all that the customer lacks, or less,
        and then the rest is 0.
    demand: float = float(wanted)
        What the customer lacks.
    """,
    after="rests",
    description="""
    Choose where one customer that has left its routes is inserted, whole or in part.

    A route takes as much of its demand as there is room for. Whatever it still lacks is inserted
    next, by another call, until all is delivered.
    """,
    notes="""
    All arrays are read-only. It is called once or more for each customer that is inserted, so its
    speed decides how many repairs are made in a given time: one loop or a few operations on
    arrays. ``noise`` is the only source of chance.
    """,
)
TOUR_POSITIONS = Interface(
    name=POSITIONS.name,
    description="Choose where one node that has left the tour is inserted.",
    arguments=arguments("""
    detours: FloatArray = scratch.found[DETOUR, :count]
        What each position adds to the length of the tour, shape (m,), m at least 1. The
        positions are those next to the node's nearest neighbours.
    distances: FloatArray = scratch.found[DISTANCE_BEFORE, :count]
        From the node before each position to the one that is inserted, shape (m,).
    edges: FloatArray = scratch.found[EDGE, :count]
        The length of the edge that is opened at each position, shape (m,).
    noise: FloatArray = noise
        Uniform in [0, 1), new in every call, shape (m,).
    removal_gain: float = state.gains[customer]
        By how much the tour of this pass would be shorter without this node alone.
    progress: float = now
        How much of the time or of the repairs is spent, in [0, 1]; the same for a whole group.
    """),
    answer="int",
    returns=POSITIONS.returns,
    notes="""
    All arrays are read-only. It is called once for each node that is inserted, so its speed
    decides how many repairs are made in a given time: one loop or a few operations on arrays.
    ``noise`` is the only source of chance.
    """,
)
