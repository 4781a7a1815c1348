"""The programs that solving runs: a checkpoint's, or those that come with specahd."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from specahd.api.problems import make_problem, settings_of
from specahd.core.errors import ConfigError
from specahd.core.program import Level, Program
from specahd.engine import strings, tour_strings
from specahd.engine.improver import NAMES, Programs
from specahd.engine.written import SHIPPED, source_of
from specahd.routing.base import AnyProblem

OPERATOR = "insertion"
"""The repair operator that checkpoints for solving are trained with."""


def programs_for(problem: AnyProblem, checkpoint: str | Path | None) -> Programs:
    """Return the programs that solve a problem.

    Parameters
    ----------
    checkpoint
        Its directory, or that of its run; None for the one that comes with specahd, and where
        there is none for programs written by hand.

    Raises
    ------
    CheckpointError
        There is no checkpoint, or it is torn or altered, or another problem's, or was trained
        with another repair operator.
    ConfigError
        The problem cannot be solved.
    """
    if not problem.engine:
        raise ConfigError(
            f"{problem.name} cannot be solved yet, only evaluated with a checkpoint: it has no "
            f"engine for the repair operator {OPERATOR}."
        )
    shipped = SHIPPED / problem.name
    if checkpoint is None and not shipped.is_dir():
        return HAND_WRITTEN[problem.engine]
    return _of_checkpoint(problem, Path(checkpoint or shipped))


def _of_checkpoint(problem: AnyProblem, place: Path) -> Programs:
    # Its tables' library takes a while to import.
    from specahd.checkpoint import located, thaw

    frozen = thaw(located(place))
    trained = str(frozen.settings.get("repair"))
    if trained != OPERATOR:
        raise ConfigError(
            f"The checkpoint was trained with problem.repair={trained}, and solving needs one of "
            f"problem.repair={OPERATOR}."
        )
    frozen.admit(make_problem(problem.name, **{**settings_of(problem), "repair": OPERATOR}))
    return Programs(frozen.upper, frozen.repertoire, frozen.system().router.choose)


def _written(function: Callable[..., Any], level: Level) -> Program:
    """Return a function of ours as a program of a contract."""
    source = source_of(function, NAMES[0] if level is Level.UPPER else NAMES[1])
    return Program(function.__name__, level, source, "", "written", contract=OPERATOR)


_STRINGS = _written(strings.adjacent_strings, Level.UPPER)
HAND_WRITTEN = {
    "specahd.engine.runner:POSITIONS": Programs(
        _STRINGS, (_written(strings.greedy_with_blinks, Level.LOWER),)
    ),
    "specahd.engine.runner:TIMED_POSITIONS": Programs(
        _STRINGS, (_written(strings.greedy_in_time, Level.LOWER),)
    ),
    "specahd.engine.runner:SPLIT_POSITIONS": Programs(
        _STRINGS, (_written(strings.greedy_in_parts, Level.LOWER),)
    ),
    "specahd.engine.runner:TOUR_POSITIONS": Programs(
        _written(tour_strings.neighbouring_strings, Level.UPPER),
        (_written(tour_strings.greedy_with_blinks, Level.LOWER),),
    ),
}
"""By what compiles the lower ones."""
