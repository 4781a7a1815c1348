"""The trusted side of a large neighbourhood search: slices of it, each new best checked.

The engine's process answers after a slice of a second or less, so that limits hold and a user can
stop the search soon. A reported solution becomes the best one only if the checker finds it
feasible and it costs less; the process cannot spoil earlier results.
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
"""The length of a slice in a search limited by repairs; results depend on it."""
LEAST_SECONDS = 0.005
"""The least length of a slice."""
_MOST_DELAY = 10.0


@dataclass(frozen=True, slots=True)
class SearchProgress:
    """The progress of a search.

    Parameters
    ----------
    seconds
        Since it began.
    share
        How much of its limit is spent, in [0, 1].
    cost
        The cost of the best solution so far.
    repairs
        Customers that were inserted again so far.
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
        ``ok``, or why there is no answer.
    solution
        The best solution so far, in the problem's own type; None where it is no better than
        what was reported before, or no solution at all.
    repairs, fallbacks
        Customers that were inserted again, and answers of programs that were replaced.
    """

    outcome: Outcome
    detail: str = ""
    solution: Any = None
    repairs: int = 0
    fallbacks: int = 0


class Improver(Protocol):
    """Continues a search, slice by slice."""

    def improve(
        self, seconds: float | None, repairs: int | None, share: float, end_share: float
    ) -> SliceResult:
        """Continue for a number of seconds or of repairs.

        Parameters
        ----------
        share, end_share
            How much of the whole limit is spent when the slice begins and when it ends.
        """
        ...


@dataclass
class SearchResult:
    """The result of a search.

    Parameters
    ----------
    solution, cost
        The best one, which the checker found feasible, and what it costs.
    moments
        The beginning, and every new best solution.
    ended
        ``time``, ``repairs``, ``target``, ``stopped`` (by whom it was told) or ``failed``.
    failure
        Why the engine's process answers no more; empty if it does.
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
"""Called after every slice; stops the search by returning True."""


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
        A feasible solution, and what it costs: the result is never dearer.
    tell
        Called at the beginning and after every slice.
    began
        When the time began to run, by ``time.monotonic``; None for now.
    slice_repairs, slice_seconds
        Most of one slice, as the limit is one of repairs or of time.
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
    """Say whether the search has ended, and record why."""
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
        # One slice that a busy machine delayed predicts little of the next.
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
