"""The compiled twins of the loops of :mod:`specahd.engine.reinsertion`."""

from functools import partial
from typing import Any

from numba import njit, types

from specahd.engine import reinsertion
from specahd.engine.programs import GROUPS_ANSWER, GROUPS_ARGUMENTS, GROUPS_PROGRAM
from specahd.engine.reinsertion import Loops
from specahd.routing.compiled.runner import (
    MATRIX,
    NUMBER,
    VECTOR,
    CompiledRunner,
)

_OWN = types.Array(types.int64, 1, "C")
_NEAREST = njit(types.Array(types.int64, 2, "C")(MATRIX, NUMBER), cache=True)(reinsertion.nearest)
_LINKED = njit(types.UniTuple(_OWN, 3)(VECTOR, VECTOR, NUMBER), cache=True)(reinsertion.linked)
_GAINS = njit(types.Array(types.float64, 1, "C")(MATRIX, _OWN, _OWN), cache=True)(reinsertion.gains)
_ASK = njit(GROUPS_ANSWER(GROUPS_PROGRAM, *GROUPS_ARGUMENTS), cache=True)(reinsertion.ask)


def loops(rebuild: Any) -> Loops:
    """Return the compiled loops of a problem with its own ``rebuild``."""
    return Loops(rebuild, nearest=_NEAREST, linked=_LINKED, gains=_GAINS, ask=_ASK)


PROPOSE = CompiledRunner(
    GROUPS_ARGUMENTS, GROUPS_ANSWER, partial(reinsertion.propose_with, loops(None)), None
)
"""What the sandbox child runs for upper programs."""
