"""The types of programs' arguments and answers in the engine."""

from numba import types

from specahd.routing.compiled.runner import MATRIX, NUMBER, REAL, REALS, VECTOR

INDICES = types.Array(types.int64, 2, "C", readonly=True)

GROUPS_ARGUMENTS = (
    *(VECTOR, VECTOR, VECTOR, INDICES, MATRIX, REALS, REALS),
    *(VECTOR, NUMBER, VECTOR, REALS, REAL, NUMBER, NUMBER),
)
GROUPS_ANSWER = types.Array(types.int64, 1, "C")
"""Of upper programs (:func:`specahd.engine.seeds.select_customer_groups`)."""
TIMED_GROUPS_ARGUMENTS = (*GROUPS_ARGUMENTS[:9], *(REALS,) * 4, *GROUPS_ARGUMENTS[9:])
"""Of those for the VRPTW: windows and the times of the current solution follow ``capacity``."""

POSITION_ARGUMENTS = (REALS, REALS, REALS, REALS, REAL, REAL, REAL, REAL)
POSITION_ANSWER = NUMBER
"""Of lower programs (:func:`specahd.engine.seeds.select_position`)."""
TIMED_POSITION_ARGUMENTS = (REALS, REALS, REALS, REALS, REALS, REALS, REAL, REAL, REAL, REAL)
"""Of lower programs for the VRPTW: ``slacks`` and ``shifts`` follow ``rests``."""
SPLIT_POSITION_ARGUMENTS = (REALS, REALS, REALS, REALS, REALS, REAL, REAL, REAL, REAL)
"""Of lower programs for the SDVRP: ``quantities`` follow ``rests``."""

TOUR_GROUPS_ARGUMENTS = (
    *(VECTOR, VECTOR, INDICES, MATRIX, REALS, VECTOR, REALS),
    *(REAL, NUMBER, NUMBER),
)
"""Of upper programs for the TSP (:func:`specahd.problems.tsp.insertion.select_customer_groups`)."""
TOUR_POSITION_ARGUMENTS = (REALS, REALS, REALS, REALS, REAL, REAL)
"""Of lower programs for the TSP (:func:`specahd.problems.tsp.insertion.select_position`)."""

DETOUR, DISTANCE_BEFORE, DISTANCE_BEHIND, REST, SLACK, SHIFT = range(6)
"""Rows of the positions found for a customer: what it adds, the distances from the node before
and to the node behind, and what lower programs see besides."""
