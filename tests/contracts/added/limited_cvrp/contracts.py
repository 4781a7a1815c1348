"""The two contracts: programs are told what those of the CVRP are told."""

from specahd.engine import select_groups, select_position, strings

_GOAL = (
    "Capacitated vehicle routing with limited routes: vehicles of equal capacity start and end at "
    "a depot and serve every customer exactly once, at the least total distance. No route may be "
    "longer than a limit. "
)

ORDERED_GROUPS = select_groups.contract(
    goal=_GOAL,
    runner="limited_cvrp.engine:GROUPS",
    vocabulary=select_groups.vocabulary([select_groups.ENDS]),
    others=(*select_groups.HAND_WRITTEN, select_groups.STRINGS_AND_ENDS),
)
INSERTION = select_position.contract(
    goal=_GOAL,
    runner="limited_cvrp.engine:POSITIONS",
    vocabulary=select_position.vocabulary(),
    others=[(strings.greedy_with_blinks, select_position.GREEDY_WITH_BLINKS)],
)
