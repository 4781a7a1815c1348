"""How the engine takes programs: the types of what they are shown and of what they answer."""

from numba import types

from specahd.routing.compiled.runner import MATRIX, NUMBER, REAL, REALS, VECTOR, program_type

INDICES = types.Array(types.int64, 2, "C", readonly=True)

GROUPS_ARGUMENTS = (
    *(VECTOR, VECTOR, VECTOR, INDICES, MATRIX, REALS, REALS),
    *(VECTOR, NUMBER, VECTOR, REALS, REAL, NUMBER, NUMBER),
)
GROUPS_ANSWER = types.Array(types.int64, 1, "C")
"""Of upper programs (:func:`specahd.problems.cvrp.insertion.select_customer_groups`)."""

POSITION_ARGUMENTS = (REALS, REALS, REALS, REALS, REAL, REAL, REAL, REAL)
POSITION_ANSWER = NUMBER
"""Of lower programs (:func:`specahd.problems.cvrp.insertion.select_position`)."""
TIMED_POSITION_ARGUMENTS = (REALS, REALS, REALS, REALS, REALS, REALS, REAL, REAL, REAL, REAL)
"""Of lower programs for the VRPTW: ``slacks`` and ``shifts`` follow ``rests``."""

GROUPS_PROGRAM = program_type(GROUPS_ARGUMENTS, GROUPS_ANSWER)
POSITION_PROGRAM = program_type(POSITION_ARGUMENTS, POSITION_ANSWER)
TIMED_POSITION_PROGRAM = program_type(TIMED_POSITION_ARGUMENTS, POSITION_ANSWER)
