"""A search of one level by any search method: the other level stands still."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from specahd.core.budget import Budget
from specahd.core.ranges import check_integer
from specahd.core.settings import Settings
from specahd.design.coupled import Coupled
from specahd.search.base import SearchMethod


class Single(Coupled):
    """One round of one level, with all tickets.

    The lower level learns on the regions of one upper program, the last that a search begins
    with (the seed program, unless ``search.seeds=varied``), the upper level under the given
    repertoire. A round is never begun anew, so that a tree or islands grow over
    the whole run.

    Parameters
    ----------
    budget
        Its ``rounds`` do not count.
    settings
        ``levels`` says which level is searched; ``both``, which is the default of the
        command, means the lower one.
    portfolio
        How many programs the lower level hands over, at least 1: one chooses the program
        with the best mean; more are the method's first members, all of which are tried on
        every instance (:class:`specahd.repair.system.RepairSystem`).
    policy
        Makes the search method, which is held to its own rules
        (:class:`specahd.design.lower.LowerSearch`, ``plain``).
    parts
        As of :class:`specahd.design.coupled.Coupled`.
    """

    plain = True

    def __init__(
        self,
        *,
        budget: Budget,
        settings: Settings,
        policy: Callable[[], SearchMethod],
        portfolio: int = 1,
        **parts: Any,
    ) -> None:
        level = "upper" if settings.levels == "upper" else "lower"
        super().__init__(
            budget=replace(budget, rounds=1),
            settings=replace(settings, levels=level, repertoire_size=portfolio),
            policy=policy,
            **parts,
        )
        if level == "lower":
            self._portfolio = portfolio > 1

    @staticmethod
    def check(
        *,
        policy: Callable[[], SearchMethod],
        lower: Callable[[], SearchMethod] | None = None,
        upper: Callable[[], SearchMethod] | None = None,
        portfolio: int = 1,
    ) -> None:
        """Refuse options out of range, before any work is done."""
        check_integer("method.portfolio", portfolio, 1)
        Coupled.check(policy=policy, lower=lower, upper=upper)
