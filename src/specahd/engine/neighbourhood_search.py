"""Trusted side of a large neighbourhood search: it runs slices and checks each new best solution.

The engine's process answers after a slice of a second or less, so that limits hold and a user can
stop the search soon. A reported solution becomes the best one only if the checker finds it
feasible and it costs less, so that the process cannot spoil earlier results.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from specahd.core.program import Outcome
from specahd.core.settings import SearchLimit
from specahd.routing.base import AnyProblem

SLICE_SECONDS = 0.5
SLICE_REPAIRS = 50_000
"""Length of a slice in a search limited by repairs; results depend on it."""
LEAST_SECONDS = 0.005
"""Minimum length of a slice, in seconds."""
_MOST_DELAY = 10.0


@dataclass(frozen=True, slots=True)
class SearchProgress:
    """The progress of a search.

    Parameters
    ----------
    seconds
        The time since the search began.
    share
        The share of its limit that is spent, in [0, 1].
    cost
        The cost of the best solution so far.
    repairs
        The number of customers that were inserted again so far.
    better
        Whether the best solution is new.
    """

    seconds: float
    share: float
    cost: float
    repairs: int
    better: bool = False


@dataclass(frozen=True, slots=True)
class SliceResult:
    """The result of one slice.

    Parameters
    ----------
    outcome, detail
        ``ok``, or the reason why there is no answer.
    solution
        The best solution so far, in the problem's own type; None if it is no better than the one
        reported before, or is no solution at all.
    repairs, fallbacks
        The numbers of customers inserted again, and of answers of programs that were replaced.
    """

    outcome: Outcome
    detail: str = ""
    solution: Any = None
    repairs: int = 0
    fallbacks: int = 0


class Improver(Protocol):
    """Protocol of an engine that continues a search, slice by slice."""

    def improve(
        self, seconds: float | None, repairs: int | None, share: float, end_share: float
    ) -> SliceResult:
        """Continue for a number of seconds or of repairs.

        Parameters
        ----------
        share, end_share
            The shares of the whole limit that are spent when the slice begins and when it ends.
        """
        ...


@dataclass
class SearchResult:
    """The result of a search.

    Parameters
    ----------
    solution, cost
        The best solution, which the checker found feasible, and its cost.
    moments
        The progress at the beginning, and at every new best solution.
    ended
        ``time``, ``repairs``, ``target``, ``stopped`` (by ``tell``) or ``failed``.
    failure
        The reason why the search failed; empty if it did not.
    """

    solution: Any
    cost: float
    moments: list[SearchProgress]
    ended: str = "time"
    failure: str = ""
    seconds: float = 0.0
    repairs: int = 0
    fallbacks: int = 0
    # Seconds of a slice per requested second, and seconds of its check.
    _delay: float = field(default=1.0, repr=False)
    _check: float = field(default=0.0, repr=False)


Tell = Callable[[SearchProgress, "SearchResult"], bool | None]
"""Callback after every slice, which returns True to stop the search."""


def run_search(
    problem: AnyProblem,
    instance: Any,
    solution: Any,
    cost: float,
    improver: Improver,
    limit: SearchLimit,
    tell: Tell = lambda moment, descent: None,
    began: float | None = None,
    slice_repairs: int = SLICE_REPAIRS,
    slice_seconds: float = SLICE_SECONDS,
) -> SearchResult:
    """Improve a solution until a limit is reached, and return the best that was found.

    Parameters
    ----------
    solution, cost
        A feasible solution and its cost. The result never costs more.
    tell
        Called at the beginning and after every slice.
    began
        The time at which the time limit began, by ``time.monotonic``; None for now.
    slice_repairs, slice_seconds
        The maximum length of one slice, for a limit of repairs and for a limit of time.
    """
    began = time.monotonic() if began is None else began
    found = SearchResult(solution, cost, [])
    moment = SearchProgress(time.monotonic() - began, 0.0, cost, 0, better=True)
    found.moments.append(moment)
    stop = tell(moment, found)
    while not stop and not _reached(found, limit, began):
        _run_slice(problem, instance, found, improver, limit, began, slice_repairs, slice_seconds)
        better = found.cost < found.moments[-1].cost
        now = time.monotonic() - began
        moment = SearchProgress(now, _share(found, limit, began), found.cost, found.repairs, better)
        if better:
            found.moments.append(moment)
        stop = tell(moment, found)
    if stop:
        found.ended = "stopped"
    found.seconds = time.monotonic() - began
    return found


def _reached(found: SearchResult, limit: SearchLimit, began: float) -> bool:
    """Return whether the search has ended, and record the reason."""
    if found.failure:
        found.ended = "failed"
    elif limit.target is not None and found.cost <= limit.target:
        found.ended = "target"
    elif limit.repairs is not None:
        found.ended = "repairs"
        return found.repairs >= limit.repairs
    else:
        return _left(found, limit, began) < LEAST_SECONDS
    return True


def _left(found: SearchResult, limit: SearchLimit, began: float) -> float:
    return limit.time_limit - (time.monotonic() - began) - found._check


def _share(found: SearchResult, limit: SearchLimit, began: float) -> float:
    if limit.repairs is not None:
        return min(1.0, found.repairs / max(1, limit.repairs))
    return min(1.0, (time.monotonic() - began) / max(LEAST_SECONDS, limit.time_limit))


def _run_slice(
    problem: AnyProblem,
    instance: Any,
    found: SearchResult,
    improver: Improver,
    limit: SearchLimit,
    began: float,
    slice_repairs: int,
    slice_seconds: float,
) -> None:
    """Run one slice, and keep its solution if it is valid and better."""
    share = _share(found, limit, began)
    if limit.repairs is not None:
        seconds, repairs = None, min(slice_repairs, limit.repairs - found.repairs)
        end_share = min(1.0, (found.repairs + repairs) / limit.repairs)
    else:
        wanted = min(slice_seconds, _left(found, limit, began))
        seconds, repairs = wanted / found._delay, None
        end_share = min(1.0, share + wanted / limit.time_limit)
    start = time.monotonic()
    part = improver.improve(seconds, repairs, share, end_share)
    answered = time.monotonic()
    found.repairs += part.repairs
    found.fallbacks += part.fallbacks
    if part.outcome is not Outcome.OK:
        found.failure = f"{part.outcome}: {part.detail}" if part.detail else str(part.outcome)
    elif part.repairs < 1 and seconds in (None, slice_seconds):
        found.failure = f"{Outcome.INVALID_OUTPUT}: no customer was inserted in a whole slice"
    elif part.solution is not None:
        _keep_if_better(problem, instance, found, part.solution)
        found._check = time.monotonic() - answered
    if seconds is not None:
        # The delay of one slice, by a busy machine, predicts little about the next slice.
        late = (answered - start) / seconds
        found._delay = max(1.0, (1.0 + found._delay) / 2, min(late, _MOST_DELAY))


def _keep_if_better(problem: AnyProblem, instance: Any, found: SearchResult, solution: Any) -> None:
    """Make a solution the best if it is feasible and costs less."""
    violations = problem.check(instance, solution)
    if violations:
        found.failure = f"{Outcome.INFEASIBLE_MERGE}: {violations[0].detail}"
        return
    cost = problem.cost(instance, solution)
    if cost < found.cost:
        found.solution, found.cost = solution, cost
