"""How a checkpoint repairs, where that differs from how it was trained."""

from dataclasses import dataclass

from specahd.core.ranges import integer_within, one_of
from specahd.core.settings import Accept


@dataclass(frozen=True)
class RepairOptions:
    """How a checkpoint repairs; None as it was trained.

    Parameters
    ----------
    accept
        A value of :class:`~specahd.core.settings.Accept`.
    passes
        Most passes over a solution.
    tries
        How many members rebuild a region.

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
            one_of("accept", self.accept, [policy.value for policy in Accept])
        for name in ("passes", "tries"):
            if getattr(self, name) is not None:
                integer_within(name, getattr(self, name), 1)
