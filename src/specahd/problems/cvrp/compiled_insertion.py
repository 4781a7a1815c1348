"""The compiled twin of :mod:`specahd.problems.cvrp.reinsertion`."""

from functools import partial

from numba import njit, types

from specahd.engine.compiled_reinsertion import loops
from specahd.engine.programs import INDICES, POSITION_ANSWER, POSITION_ARGUMENTS, POSITION_PROGRAM
from specahd.problems.cvrp import reinsertion
from specahd.routing.compiled.runner import MATRIX, NUMBER, REAL, REALS, VECTOR, CompiledRunner

_REINSERT = njit(
    types.Tuple((types.Array(types.int64, 1, "C"), types.int64))(
        POSITION_PROGRAM,
        MATRIX,
        INDICES,
        VECTOR,
        NUMBER,
        VECTOR,
        VECTOR,
        VECTOR,
        NUMBER,
        REALS,
        REAL,
    ),
    cache=True,
)(reinsertion.reinsert)

REBUILD = CompiledRunner(
    POSITION_ARGUMENTS,
    POSITION_ANSWER,
    partial(reinsertion.rebuild_with, loops(_REINSERT)),
    None,
)
"""What the sandbox child runs for lower programs."""
