"""Options of repair that override those of the training."""

from dataclasses import dataclass

from specahd.core.options import check_options, option
from specahd.core.settings import ACCEPTS


@dataclass(frozen=True)
class RepairOptions:
    """Options of repair; None keeps the value of the training.

    Raises
    ------
    ConfigError
        A value is out of its range.
    """

    accept: str | None = option(None, "improving or feasible; null: as trained", choices=ACCEPTS)
    passes: int | None = option(
        None, "most passes over a solution, at least 1; null: as trained", 1
    )
    tries: int | None = option(
        None, "members that rebuild a region, at least 1; null: as trained", 1
    )

    def __post_init__(self) -> None:
        check_options(self)


AS_TRAINED = RepairOptions()
"""Those with which a checkpoint repairs as it was trained."""
