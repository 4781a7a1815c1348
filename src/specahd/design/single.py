"""A search of one level by any search method, while the other level is fixed."""

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

    The lower level learns on the regions of one upper program, the last of the initial ones
    (the seed program, unless ``search.seeds=varied``). The upper level learns with the given
    repertoire. There is no second round, so that a tree or islands grow over the
    whole run.

    Parameters
    ----------
    budget
        Its ``rounds`` are ignored.
    settings
        ``levels`` selects the level that is searched; ``both``, the default of the
        command, means the lower one.
    portfolio
        Number of programs that the lower level returns, at least 1. With 1 it is the program
        with the best mean. With more they are the method's first members, and all are tried on
        every instance (:class:`specahd.repair.system.RepairSystem`).
    policy
        Factory of the search method, which follows its own rules
        (:class:`specahd.design.lower.LowerSearch`, ``plain``).
    parts
        Further arguments of :class:`specahd.design.coupled.Coupled`.
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
