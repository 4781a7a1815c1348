"""The contracts of VRPTW."""

from specahd.engine import select_groups, select_position, strings
from specahd.engine.interfaces import TIMED_GROUPS, TIMED_POSITIONS
from specahd.problems.vrptw import construct, interfaces, time_vocabulary, varied_customers
from specahd.problems.vrptw.family import FAMILY
from specahd.routing.vehicles import customer_groups, next_customer

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
    interfaces.CUSTOMER_GROUPS,
    problem=_PROBLEM,
    runner=construct.propose,
    vocabulary=time_vocabulary.groups(),
)
APPEND, CONSTRUCT = next_customer.contracts(
    interfaces.NEXT_CUSTOMER,
    interfaces.FROM_NOTHING,
    goal=_GOAL,
    problem=_PROBLEM,
    runner=construct.rebuild,
    compiled="specahd.problems.vrptw.compiled:REBUILD",
    vocabulary=time_vocabulary.nodes(),
    varied=varied_customers.VARIED,
)

ORDERED_GROUPS = select_groups.contract(
    TIMED_GROUPS,
    goal=_GOAL,
    compiled=FAMILY.groups,
    vocabulary=time_vocabulary.ordered_groups(),
    others=(*select_groups.HAND_WRITTEN, time_vocabulary.STRINGS_IN_TIME),
)
INSERTION = select_position.contract(
    TIMED_POSITIONS,
    goal=_GOAL,
    compiled=FAMILY.positions,
    vocabulary=time_vocabulary.positions(),
    others=[(strings.greedy_in_time, select_position.GREEDY_OVERLOOKING)],
)
