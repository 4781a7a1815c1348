"""The programs that solving runs: a checkpoint's, or those that come with specahd."""

from pathlib import Path

from specahd.api.problems import make_problem, settings_of
from specahd.core.errors import ConfigError
from specahd.core.program import Level
from specahd.engine.improver import Programs
from specahd.engine.written import SHIPPED
from specahd.routing.base import AnyProblem, contracts

OPERATOR = "insertion"
"""The repair operator that checkpoints for solving are trained with."""
BY_HAND = "by-hand"
"""In place of a checkpoint: the strongest programs written by hand."""


def programs_for(problem: AnyProblem, checkpoint: str | Path | None) -> Programs:
    """Return the programs that solve a problem.

    Parameters
    ----------
    checkpoint
        Its directory, or that of its run; :data:`BY_HAND` for programs written by hand; None for
        the one that comes with specahd, and where there is none for programs written by hand.

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
    inserting = make_problem(problem.name, **{**settings_of(problem), "repair": OPERATOR})
    shipped = SHIPPED / problem.name
    if checkpoint is None:
        checkpoint = shipped if shipped.is_dir() else BY_HAND
    if checkpoint == BY_HAND:
        upper, lower = (contracts(inserting.operator)[level].seeds[-1] for level in Level)
        return Programs(upper, (lower,))
    return _of_checkpoint(inserting, Path(checkpoint))


def _of_checkpoint(inserting: AnyProblem, place: Path) -> Programs:
    # Its tables' library takes a while to import.
    from specahd.checkpoint import located, thaw

    frozen = thaw(located(place))
    trained = str(frozen.settings.get("repair"))
    if trained != OPERATOR:
        raise ConfigError(
            f"The checkpoint was trained with problem.repair={trained}, and solving needs one of "
            f"problem.repair={OPERATOR}."
        )
    frozen.admit(inserting)
    return Programs(frozen.upper, frozen.repertoire, frozen.system().router.choose)
