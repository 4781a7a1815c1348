"""A search of one level by any search method: the other level stands still."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from specahd.core.errors import ConfigError
from specahd.design.coupled import Coupled, Settings
from specahd.search.base import SearchMethod


class Single(Coupled):
    """One round of one level, with all tickets.

    The lower level learns on the regions of the upper seed program, the upper level under
    the given repertoire. A round is never begun anew, so that a tree or islands grow over
    the whole run.

    Parameters
    ----------
    settings
        ``levels`` says which level is searched; ``both``, which is the default of the
        command, means the lower one. ``rounds`` does not count.
    portfolio
        How many programs the lower level hands over, at least 1: one chooses the program
        with the best mean, more choose a repertoire by J.
    policy
        Makes the search method.
    parts
        As of :class:`specahd.design.coupled.Coupled`.
    """

    def __init__(
        self,
        *,
        settings: Settings,
        policy: Callable[[], SearchMethod],
        portfolio: int = 1,
        **parts: Any,
    ) -> None:
        level = "upper" if settings.levels == "upper" else "lower"
        repertoire = replace(settings.repertoire, size=portfolio)
        settings = replace(settings, rounds=1, levels=level, repertoire=repertoire)
        super().__init__(settings=settings, policy=policy, **parts)

    @staticmethod
    def check(
        *,
        policy: Callable[[], SearchMethod],
        lower: Callable[[], SearchMethod] | None = None,
        upper: Callable[[], SearchMethod] | None = None,
        portfolio: int = 1,
    ) -> None:
        """Refuse options out of range, before any work is done."""
        if not isinstance(portfolio, int) or isinstance(portfolio, bool) or portfolio < 1:
            raise ConfigError(f"Expected method.portfolio of at least 1, got {portfolio!r}.")
        Coupled.check(policy=policy, lower=lower, upper=upper)
