"""The programs that solving runs: a checkpoint's, or those that come with specahd."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from specahd.api.problems import make_problem, settings_of
from specahd.core.errors import ConfigError
from specahd.core.program import Level, Program
from specahd.engine import route_ends, strings, tour_strings
from specahd.engine.improver import NAMES, TIMED_POSITIONS, TOUR_POSITIONS, Programs
from specahd.engine.written import SHIPPED, TIMES, source_of
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
        return _written_by_hand(problem.engine)
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


def _written_by_hand(compiled_by: str) -> Programs:
    upper, lower = HAND_WRITTEN[compiled_by]
    further = TIMES if compiled_by == TIMED_POSITIONS else ()
    named = (
        (upper, Level.UPPER, source_of(upper, NAMES[0], further)),
        (lower, Level.LOWER, source_of(lower, NAMES[1])),
    )
    first, second = (
        Program(function.__name__, level, source, "", "written", contract=OPERATOR)
        for function, level, source in named
    )
    return Programs(first, (second,))


HAND_WRITTEN: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "specahd.engine.runner:POSITIONS": (route_ends.strings_and_ends, strings.greedy_with_blinks),
    TIMED_POSITIONS: (strings.adjacent_strings, strings.greedy_in_time),
    "specahd.engine.runner:SPLIT_POSITIONS": (strings.adjacent_strings, strings.greedy_in_parts),
    TOUR_POSITIONS: (
        tour_strings.neighbouring_strings,
        tour_strings.greedy_with_blinks,
    ),
}
"""Upper and lower programs, by what compiles the lower ones."""
