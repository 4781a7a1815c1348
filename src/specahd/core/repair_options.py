"""Options of repair that override those of the training."""

from dataclasses import dataclass

from specahd.core.ranges import check_choice, check_integer
from specahd.core.settings import Accept


@dataclass(frozen=True)
class RepairOptions:
    """Options of repair; None keeps the value of the training.

    Parameters
    ----------
    accept
        A value of :class:`~specahd.core.settings.Accept`.
    passes
        Most passes over a solution.
    tries
        Number of members that rebuild a region.

    Raises
    ------
    ConfigError
        A value is out of its range.
    """

    accept: str | None = None
    passes: int | None = None
    tries: int | None = None

    def __post_init__(self) -> None:
        if self.accept is not None:
            check_choice("accept", self.accept, [policy.value for policy in Accept])
        for name in ("passes", "tries"):
            if getattr(self, name) is not None:
                check_integer(name, getattr(self, name), 1)
