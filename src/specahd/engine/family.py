"""Descriptions of the problems that the engine solves, for the trusted process."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from specahd.engine.schedule import neighbour_count


def _never(instance: Any) -> bool:
    return False


def _by_size(instance: Any) -> int:
    return neighbour_count(instance.size)


@dataclass(frozen=True, slots=True)
class Family:
    """How one problem is solved.

    Parameters
    ----------
    name
        The name of the problem, and of the checkpoint that ships with specahd.
    runners
        The module with ``GROUPS`` and ``POSITIONS`` (:mod:`specahd.engine.runner`), which the
        sandbox's process imports.
    hot
        The share of :func:`specahd.engine.schedule.temperatures` at which a search begins.
    neighbours
        How many neighbours of a node the engine is told at most.
    looks_up
        Whether straight distances between few nodes are looked up, not computed.
    timed
        Whether customers have time windows, which have a say in who is near.
    parted
        Whether several processes can share the routes: none of them have a customer in common.
        Those of large instances are then numbered along a curve.
    exchanges
        How many exchanges of tails are tried for each group.
    evolved
        On which instances the checkpoint that comes with specahd is better than the programs by
        hand (benchmarks/notes/2026-11-22-do-evolved-programs-pay.md); None for the others, which
        nobody chose.
    in_turn
        On which the program by hand does as :func:`specahd.engine.written.in_turn` says.
    """

    name: str
    runners: str
    hot: float = 1.5
    neighbours: Callable[[Any], int] = _by_size
    looks_up: bool = True
    timed: bool = False
    parted: bool = False
    exchanges: Callable[[Any], int] = lambda instance: 0
    evolved: Callable[[Any], bool] | None = None
    in_turn: Callable[[Any], bool] = _never

    @property
    def groups(self) -> str:
        """What runs upper programs in the sandbox's process, as ``module:name``."""
        return f"{self.runners}:GROUPS"

    @property
    def positions(self) -> str:
        """What compiles lower programs there, as ``module:name``."""
        return f"{self.runners}:POSITIONS"
