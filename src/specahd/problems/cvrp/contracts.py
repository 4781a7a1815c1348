"""The contracts of CVRP."""

from specahd.engine import select_groups, select_position, strings
from specahd.routing.vehicles import customer_groups, interfaces, next_customer, runners

_GOAL = (
    "Capacitated vehicle routing: vehicles of equal capacity start and end at a depot and serve "
    "every customer exactly once, at the least total distance. "
)
_PROBLEM = _GOAL + (
    "A feasible solution exists already; groups of its customers are removed and rebuilt one at a "
    "time. "
)

CUSTOMER_GROUPS = customer_groups.contract(
    interfaces.CUSTOMER_GROUPS,
    problem=_PROBLEM,
    vocabulary=customer_groups.vocabulary(),
)
APPEND, CONSTRUCT = next_customer.contracts(
    interfaces.NEXT_CUSTOMER,
    interfaces.FROM_NOTHING,
    goal=_GOAL,
    problem=_PROBLEM,
    runner=runners.rebuild,
    varied=next_customer.by_hand(
        next_customer.FARTHEST_FIRST,
        next_customer.LARGEST_SAVING,
        next_customer.HALF_SAVING,
        next_customer.INNER_CUSTOMERS,
    ),
    vocabulary=next_customer.vocabulary(),
)

ORDERED_GROUPS = select_groups.contract(
    goal=_GOAL,
    runner="specahd.problems.cvrp.engine:GROUPS",
    vocabulary=select_groups.vocabulary([select_groups.ENDS]),
    others=(*select_groups.HAND_WRITTEN, select_groups.STRINGS_AND_ENDS),
)
INSERTION = select_position.contract(
    goal=_GOAL,
    runner="specahd.problems.cvrp.engine:POSITIONS",
    vocabulary=select_position.vocabulary(),
    others=[(strings.greedy_with_blinks, select_position.GREEDY_WITH_BLINKS)],
)
