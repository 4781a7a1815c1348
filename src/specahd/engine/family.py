"""Descriptions of the problems that the engine solves, for the trusted process."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from specahd.engine.schedule import neighbour_count
from specahd.routing.base import FloatArray


def _never(instance: Any) -> bool:
    return False


def _by_size(instance: Any) -> int:
    return neighbour_count(instance.size)


@dataclass(frozen=True, slots=True)
class Family:
    """Settings with which the engine solves one problem.

    Parameters
    ----------
    name
        The name of the problem, and of the checkpoint that ships with specahd.
    start_temperature
        Returns the share of :func:`specahd.engine.schedule.temperatures` at which a search of an
        instance begins, given the distances of its neighbour lists.
    construction_temperature
        The same where it begins at a construction, of which more has to change than of a solution
        that is given; None: as ``start_temperature``.
    neighbours
        Returns the maximum length of the neighbour lists of an instance.
    quadrant_neighbours
        Of how many neighbours in each quadrant the lists of an instance without a matrix hold the
        nearest, however far they are.
    looks_up
        Whether straight distances of a small instance are looked up in a matrix, not computed.
    timed
        Whether customers have time windows. The neighbour lists then depend on the windows, too.
    routes_disjoint
        Whether several processes can share the routes, because no two routes have a customer in
        common.
    exchanges
        Returns the number of exchanges of tails or runs that are tried for each group.
    evolved
        Returns whether the checkpoint that ships with specahd is better on an instance than the
        hand-written programs (benchmarks/notes/2026-11-22-do-evolved-programs-pay.md); None if the
        problem's checkpoint is not used by default.
    moving_window
        Returns whether the hand-written program is changed by
        :func:`specahd.engine.builtin_programs.moving_window` for an instance.
    """

    name: str
    start_temperature: Callable[[Any, FloatArray], float] = lambda instance, near: 1.5
    construction_temperature: Callable[[Any, FloatArray], float] | None = None
    neighbours: Callable[[Any], int] = _by_size
    quadrant_neighbours: int = 0
    looks_up: bool = True
    timed: bool = False
    routes_disjoint: bool = False
    exchanges: Callable[[Any], int] = lambda instance: 0
    evolved: Callable[[Any], bool] | None = None
    moving_window: Callable[[Any], bool] = _never
