"""The programs that ``solve`` runs: those of a checkpoint, or those that come with specahd."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from specahd.api.problems import with_options
from specahd.core.errors import ConfigError
from specahd.core.program import Level
from specahd.engine.builtin_programs import SHIPPED, moving_window
from specahd.engine.improver import Programs
from specahd.routing.base import AnyProblem, contracts

OPERATOR = "insertion"
"""The repair operator that checkpoints for solving are trained with."""
BY_HAND = "by-hand"
"""Value in place of a checkpoint, for the strongest programs written by hand."""
EVOLVED = "evolved"
"""Value in place of a checkpoint, for the problem's checkpoint that comes with specahd."""


def stronger_programs(problem: AnyProblem, instance: Any) -> str:
    """Return :data:`BY_HAND` or :data:`EVOLVED`: the programs that solve an instance better."""
    evolved = problem.engine.evolved if problem.engine else None
    return EVOLVED if evolved is not None and evolved(instance) else BY_HAND


def programs_for(
    problem: AnyProblem, checkpoint: str | Path, instance: Any | None = None
) -> Programs:
    """Return the programs that solve a problem.

    Parameters
    ----------
    checkpoint
        The directory of a checkpoint or of its run, :data:`BY_HAND` or :data:`EVOLVED`.
    instance
        The instance to solve; some hand-written programs have a variant for large instances.

    Raises
    ------
    CheckpointError
        There is no checkpoint, it is incomplete or altered, or it belongs to another problem.
    ConfigError
        The problem cannot be solved, the checkpoint was trained with another repair operator, or
        no checkpoint of the problem comes with specahd.
    """
    if not problem.engine:
        raise ConfigError(
            f"{problem.name} cannot be solved yet, only evaluated with a checkpoint: it has no "
            f"engine for the repair operator {OPERATOR}."
        )
    inserting = with_options(problem, repair=OPERATOR)
    if checkpoint == BY_HAND:
        upper, lower = (contracts(inserting.operator)[level].seeds[-1] for level in Level)
        if instance is not None and problem.engine.moving_window(instance):
            upper = replace(upper, id=f"{upper.id}-in-turn", source=moving_window(upper.source))
        return Programs((upper,), (lower,))
    if checkpoint == EVOLVED:
        checkpoint = SHIPPED / problem.name
        if not checkpoint.is_dir():
            raise ConfigError(
                f"No checkpoint of {problem.name} comes with specahd: expected "
                f"checkpoint={BY_HAND} or that of a run."
            )
    return _of_checkpoint(inserting, Path(checkpoint))


def _of_checkpoint(inserting: AnyProblem, place: Path) -> Programs:
    # The library for its tables is slow to import.
    from specahd.checkpoint.frozen import thaw
    from specahd.checkpoint.manifest import located

    frozen = thaw(located(place))
    trained = str(frozen.settings.get("repair"))
    if trained != OPERATOR:
        raise ConfigError(
            f"The checkpoint was trained with problem.repair={trained}, and solving needs one of "
            f"problem.repair={OPERATOR}."
        )
    frozen.admit(inserting)
    system = frozen.system()
    return Programs(frozen.uppers, frozen.repertoire, system.router.choose, system.choice)
