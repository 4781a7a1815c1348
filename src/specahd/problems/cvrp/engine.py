"""Runners of CVRP programs in the engine's process."""

from specahd.engine import interfaces, route_ends, strings
from specahd.engine.runner import LowerProgram, UpperProgram
from specahd.engine.searches import Search

GROUPS = UpperProgram(
    Search, interfaces.GROUPS, [strings.adjacent_strings, route_ends.strings_and_ends]
)
POSITIONS = LowerProgram(GROUPS, interfaces.POSITIONS, strings.greedy_with_blinks)
