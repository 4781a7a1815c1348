"""The solution that a search begins with: a constructed one, or the trivial one if stopped."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from specahd.core.background import Background
from specahd.core.settings import SearchLimit
from specahd.repair.cases import Case, make_case
from specahd.routing.base import AnyProblem

LEAST_SECONDS = 60.0
"""Seconds that a construction may take even if the time limit is shorter, because the trivial
solution is many times more expensive."""
UNCONSTRUCTED = "no construction"
"""Source of a trivial solution, which needs no construction."""


@dataclass(frozen=True)
class Start:
    """The start of a search: a solution and its origin.

    Parameters
    ----------
    seconds
        Time of the construction, without the compilation of its loops after an installation.
    ended
        Reason why the search does not begin, ``stopped`` or ``time``; else None.
    """

    case: Case
    seconds: float = 0.0
    ended: str | None = None


def construct_start(
    problem: AnyProblem, instance: Any, limit: SearchLimit, stopped: Callable[[], bool]
) -> Start:
    """Construct a solution; if it is stopped or the time is up, return the trivial one.

    Parameters
    ----------
    stopped
        Returns whether the user has stopped the search.
    """
    began = time.monotonic()
    most = float("inf") if limit.repairs is not None else max(limit.time_limit, LEAST_SECONDS)

    # Imported here: the search, which also imports numba, is imported by now.
    from numba.core.event import install_listener

    from specahd.core.compilation import CompilationClock

    compiling = CompilationClock()

    def spent() -> float:
        return time.monotonic() - began - compiling.seconds

    def given_up() -> bool:
        return stopped() or spent() > most

    with (
        install_listener("numba:compile", compiling),
        closing(Background(_constructed(problem, instance))) as work,
    ):
        if not work.wait(given_up) and (case := _trivial_start(problem, instance)) is not None:
            return Start(case, spent(), "stopped" if stopped() else "time")
        case = work.result()
    return Start(case, spent(), "stopped" if stopped() else None)


@contextmanager
def _constructed(problem: AnyProblem, instance: Any) -> Iterator[Case]:
    yield make_case(problem, instance)


def _trivial_start(problem: AnyProblem, instance: Any) -> Case | None:
    solution = problem.trivial_solution(instance)
    if solution is None or problem.check(instance, solution):
        return None
    return Case(instance, solution, problem.cost(instance, solution), UNCONSTRUCTED)
