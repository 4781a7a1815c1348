"""A search of one level by any search method, while the other level is fixed."""

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any

from specahd.core.budget import Budget
from specahd.core.options import Option, checked
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
        With 1 the lower level returns the program with the best mean. With more it returns the
        method's first members, and all are tried on every instance
        (:class:`specahd.repair.system.RepairSystem`).
    policy
        Factory of the search method, which follows its own rules
        (:class:`specahd.design.lower.LowerSearch`, ``judged_singly``).
    parts
        Further arguments of :class:`specahd.design.coupled.Coupled`.
    """

    judged_singly = True

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
    @checked("method.")
    def check(
        *,
        portfolio: Annotated[
            int,
            Option("most programs of the result; of several all are tried on each instance", 1),
        ] = 1,
        **others: Annotated[Any, Coupled.check],
    ) -> None:
        """Refuse options out of range, before any work is done."""
        Coupled.check(**others)
