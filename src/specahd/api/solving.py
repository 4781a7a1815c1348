"""Solving: search for a good feasible solution of one instance within a time limit."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specahd.api.fleets import (
    for_incumbent,
    judged,
    searched,
    servable,
    start_of,
    without_penalties,
)
from specahd.api.incumbents import Incumbent, incumbent_case
from specahd.api.problems import DataFrame, ProblemInstance, Source, read, with_options
from specahd.api.programs import OPERATOR, programs_for, stronger_programs
from specahd.api.solutions import Solution
from specahd.core.background import Background
from specahd.core.compilation import listening
from specahd.core.events import Observer, PythonWarnings
from specahd.core.interrupts import Interrupts
from specahd.core.settings import SearchLimit, SolveOptions
from specahd.engine.improver import Programs, SandboxedEngine, engine
from specahd.engine.neighbourhood_search import Improver, SearchProgress, SearchResult, run_search
from specahd.engine.remote import remote_engine
from specahd.engine.tiled import tiled_engine, working
from specahd.engine.tiles import LEAST_CUSTOMERS
from specahd.repair.cases import Case, make_case
from specahd.repair.execution import Execution
from specahd.repair.searching import RoutedImprover
from specahd.routing.base import AnyProblem
from specahd.sandbox.client import inspect_host

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    # Imported here: the search, which also imports numba, is imported by now.
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.event import install_listener
    from numba.core.registry import cpu_target

    from specahd.core.compilation import CompilationClock

    # numba reads its registries with the first loop, a third of a second that is no construction.
    # A thread that compiles reads them too.
    with global_compiler_lock:
        cpu_target.target_context.refresh()
        cpu_target.typing_context.refresh()
    began = time.monotonic()
    most = float("inf") if limit.repairs is not None else max(limit.time_limit, LEAST_SECONDS)
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


MOST_ROUTED = 20_000
"""Largest size with routing. Above it programs are drawn evenly: describing regions is slow."""
_MOST_NAMED = 5
"""Most stops left out that a warning names."""
_ROUNDING = 1e-12
"""Relative difference of costs that is an error of sums."""
Callback = Callable[[SearchProgress, Solution], bool | None]


@dataclass(frozen=True, repr=False)
class Solved(Solution):
    """The best solution that a search found, and the course of the search.

    Parameters
    ----------
    search
        The cost over time, the repairs, and why the search ended.
    startup
        Seconds before the search, for reading programs and starting the sandbox.
    programs
        Names of the programs.
    workers
        Number of processes that searched.
    choice
        Which of several upper programs searched, and why; empty if there is one.
    """

    search: SearchResult
    startup: float
    programs: tuple[str, ...]
    workers: int = 1
    choice: str = ""

    @property
    def history(self) -> tuple[tuple[float, float, int], ...]:
        """The cost over time: seconds, cost and repairs at the start and at every improvement."""
        return tuple((each.seconds, each.cost, each.repairs) for each in self.search.moments)

    @property
    def failure(self) -> str:
        """The reason why the programs' process ended early; empty if it did not."""
        return self.search.failure

    @property
    def warning(self) -> str:
        """The reason why the solution is far too expensive; empty if it was constructed."""
        if self.case.source != UNCONSTRUCTED:
            return ""
        return (
            f"No construction was finished in {self.search.seconds:.0f} s: "
            f"every customer of {self.name} has a vehicle of its own."
        )

    @property
    def unserved_warning(self) -> str:
        """A sentence about stops that must be served and are not; empty if there are none."""
        named = [f"{row['name']} ({row['reason']})" for row in self.unserved if "prize" not in row]
        if not named:
            return ""
        many = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
        return (
            f"{self.name}: {len(named)} of the stops that must be served "
            f"{'is' if len(named) == 1 else 'are'} left out: "
            f"{', '.join(named[:_MOST_NAMED])}{many}."
        )

    def statistics(self) -> dict[str, Any]:
        """Return the search's statistics as plain values: an evaluation row without steps."""
        search = self.search
        return {
            "instance": self.name,
            "problem": self.problem.name,
            "size": int(self.case.instance.size),
            "convention": getattr(self.case.instance, "convention", None),
            "baseline": self.case.source,
            "baseline_cost": self.case.cost,
            "cost": self.cost,
            "feasible": not self.problem.check(self.case.instance, self.data),
            "status": "ok",
            "steps": [],
            "vehicles": len(self.routes),
            "start": {"source": self.case.source, "cost": self.case.cost},
            "improvement": self.improvement,
            "ended": search.ended,
            "failure": search.failure,
            "warning": self.warning,
            "seconds": round(search.seconds, 3),
            "startup_seconds": round(self.startup, 3),
            "repairs": search.repairs,
            "repairs_per_second": round(search.repairs / max(search.seconds, 1e-9)),
            "fallbacks": search.fallbacks,
            "programs": list(self.programs),
            **({"choice": self.choice} if self.choice else {}),
            "workers": self.workers,
            "history": [[round(seconds, 3), *rest] for seconds, *rest in self.history],
        }

    def record(self) -> dict[str, Any]:
        """Return what the ``.json`` file holds: also the statistics of the search."""
        return {**self.statistics(), **super().record()}

    def plot(self) -> "Figure":
        """Draw the routes before and after, and the cost over time.

        Returns
        -------
        Figure
            A matplotlib figure, which is not shown in a window.

        Examples
        --------
        >>> from specahd import api
        >>> solution = api.solve("tests/data/tiny.vrp", time_limit=0.1)
        >>> solution.plot().savefig("tiny.png")
        """
        # Imported on demand, since few solutions are drawn.
        from specahd.reporting.figures import draw_solving

        end = (self.search.seconds, self.cost, self.search.repairs)
        return draw_solving(self.drawn(), (*self.history, end))


def solve(
    instance: Source | DataFrame,
    time_limit: float = 30.0,
    checkpoint: str | Path | None = None,
    incumbent: Incumbent | None = None,
    *,
    seed: int = 0,
    target: float | None = None,
    repairs: int | None = None,
    workers: int = 1,
    cluster: str | None = None,
    callback: Callback | None = None,
    interrupts: Interrupts | None = None,
    memory_gb: float = 4.0,
    require: str = "available",
    observer: Observer | None = None,
) -> Solved:
    """Search for the best feasible solution of one instance within a time limit.

    Programs that run in the sandbox improve a quickly constructed solution, or your own one.
    Every better solution is checked exactly before it is accepted.

    Parameters
    ----------
    instance
        An instance, its file, or a DataFrame; :func:`specahd.api.read` has the options of tables
        of stops.
    time_limit
        Seconds of construction and search. The sandbox and the programs start in parallel with
        the construction. If they need more time than it, the difference is not counted.
    checkpoint
        The directory of a checkpoint that was trained for the repair operator ``insertion``;
        ``by-hand``: the strongest programs written by hand; ``evolved``: the checkpoint that
        comes with specahd; None: the one of these two that is better for such an instance.
    incumbent
        A feasible solution to start from; the result never costs more. A file of any solver
        (``.sol``, ``.tour``), a ``.csv``, ``.geojson`` or ``.json`` that specahd wrote, a
        :class:`Solution`, or a list of routes of node numbers or names
        (:func:`specahd.api.incumbents.incumbent_case`).
    seed
        For equal ``repairs``, equal seeds give equal solutions.
    target
        A cost at which the search ends.
    repairs
        Number of customers that are inserted again, in place of ``time_limit``.
    workers
        Number of processes that search in parallel, 1 to 64; above 1 for CVRP and VRPTW only.
        Fewer are used if :data:`specahd.engine.tiles.LEAST_CUSTOMERS` customers for each are not
        available. For equal ``repairs``, equal numbers of workers give equal solutions.
    cluster
        ``HOST:PORT`` of the head of a Ray cluster, or ``auto``. The workers, at least two, run
        there. None: this machine.
    callback
        Called every half second or more often, with the progress and the best solution so far.
        The search ends if it returns True.
    interrupts
        Deferred signals. A signal before the search ends the call with the solution of that
        moment. During the search, ``callback`` must check for signals.
    memory_gb
        Largest memory of a process of programs, in GiB.
    require
        ``available``: run also where the host lacks a layer of the sandbox; ``strict``: do not.
    observer
        Receives warnings of missing layers and of failed programs; None: Python warnings.

    Returns
    -------
    Solved
        A :class:`Solution` with the cost over time.

    Raises
    ------
    FileError
        A file cannot be read, or the incumbent does not solve the instance.
    ConfigError
        An option is out of range, or the problem cannot be solved with these programs.
    NotEnoughMemory
        The instance's arrays would not fit into memory.

    Examples
    --------
    >>> from specahd import api
    >>> solution = api.solve("tests/data/tiny.vrp", time_limit=0.2, seed=1)
    >>> solution.cost <= solution.incumbent_cost
    True
    >>> better = api.solve("tests/data/tiny.vrp", 0.1, incumbent="tests/data/tiny.sol")
    >>> better.incumbent_cost
    206.0
    """
    limit = SolveOptions(time_limit, repairs, target, seed, workers, cluster, memory_gb)
    observer = observer or PythonWarnings()
    came = time.monotonic()
    given = instance if isinstance(instance, ProblemInstance) else read(instance)
    problem, data = _for_solving(given), given.data
    goal = judged(data)
    search_problem, reduced_data = searched(problem, goal)
    chosen = stronger_programs(search_problem, reduced_data) if checkpoint is None else checkpoint
    programs = programs_for(search_problem, chosen, reduced_data)
    admit = partial(Execution(require=require).admit, observer=observer)
    memory = int(memory_gb * 2**30)
    count = working(search_problem, reduced_data, workers, cluster)
    if goal is not data and count > 1:
        count = 1
        observer.on_warning(f"One worker searches {data.name}, whose stops may be left out.")
    elif count < workers:
        observer.on_warning(
            f"{data.name} keeps {count} of {workers} workers busy: "
            f"each should have {LEAST_CUSTOMERS} customers."
            + (f" {cluster} is not used." if cluster is not None and count == 1 else "")
        )
    upper, choice = 0, ""
    deferral = interrupts.deferred() if interrupts else nullcontext()
    with listening(observer.on_compile), deferral:
        case = (
            None if incumbent is None else incumbent_case(problem, for_incumbent(goal), incumbent)
        )
        options = (search_problem, reduced_data, programs, seed, memory, repairs is not None)
        work: AbstractContextManager[SandboxedEngine]
        if count == 1:
            work = engine(*options, admit)
        elif cluster is None:
            work = tiled_engine(*options, admit, count)
        else:
            admit(inspect_host())
            work = remote_engine(*options, count, cluster)
        stopped = partial(_pressed, interrupts)
        with closing(Background(work)) as starting:
            if case is None:
                part, nodes = servable(reduced_data)
                start = construct_start(search_problem, part, limit, stopped)
                case = start_of(problem, data, start.case, nodes)
            else:
                case = replace(case, instance=data)
                start = Start(case)
            # The time spent waiting for the programs is not part of the search time.
            if start.ended is None and starting.wait(stopped):
                improver = starting.result()
                began = time.monotonic() - start.seconds
                improver.start(case.baseline, given=case.given)
                tell = _reporter(callback, problem, case, goal)
                routed: Improver = improver
                if reduced_data is data:
                    upper, choice = _choose_upper(problem, case, programs)
                    improver.upper = upper
                    routed = _routed_improver(problem, case, programs, improver)
                cost = problem.cost(goal, case.baseline)
                search = run_search(
                    *(problem, goal, case.baseline, cost, routed, limit, tell, began),
                    slice_repairs=improver.slice_repairs,
                    slice_seconds=improver.slice_seconds,
                )
                _take_fewer_vehicles(problem, goal, cost, search)
                if goal is not data:
                    search.cost = problem.cost(data, search.solution)
                    search.moments = [without_penalties(goal, each) for each in search.moments]
            else:
                began = time.monotonic() - start.seconds
                moment = SearchProgress(start.seconds, 0.0, case.cost, 0, better=True)
                search = SearchResult(case.baseline, case.cost, [moment], start.ended or "stopped")
                search.seconds = start.seconds
    if search.failure:
        observer.on_warning(
            f"The programs were stopped after {search.seconds:.1f} s ({search.failure}); "
            "the best solution until then stands."
        )
    solved = Solved(
        *(problem, case, search.solution, search.cost),
        *(search, began - came, programs.names(upper), count),
        choice=choice,
    )
    for warning in filter(None, (solved.warning, solved.unserved_warning)):
        observer.on_warning(warning)
    stated = getattr(data, "vehicles", None)
    if stated is not None and len(solved.routes) > stated:
        observer.on_warning(
            f"{data.name} takes {len(solved.routes)} vehicles, and its file states {stated}: "
            f"vehicles={stated} makes that the limit."
        )
    return solved


def _take_fewer_vehicles(
    problem: AnyProblem, instance: Any, cost: float, search: SearchResult
) -> None:
    """Replace the solution found by one of equal cost that takes fewer vehicles, if there is one.

    Costs that differ by rounding errors of sums are equal, but none exceeds that of the start.
    """
    most = max(search.cost, min(cost, search.cost * (1 + _ROUNDING)))
    search.solution = problem.fewer_vehicles(instance, search.solution, most)
    search.cost = problem.cost(instance, search.solution)


def _pressed(interrupts: Interrupts | None) -> bool:
    return interrupts is not None and interrupts.pressed


def _for_solving(given: ProblemInstance) -> AnyProblem:
    """Return the problem with its options, but with the construction that solving starts from."""
    problem = given.problem
    if not problem.engine:
        return problem
    return with_options(problem, baseline=problem.construction_of(given.data))


def _routed_improver(
    problem: AnyProblem, case: Case, programs: Programs, improver: SandboxedEngine
) -> Improver:
    """Return an improver that routes as in training, or the given one for large instances."""
    size = len(programs.lowers)
    if programs.router is None or size == 1 or case.instance.size > MOST_ROUTED:
        return improver
    # The descriptor of regions depends on the operator, so that of the training is needed.
    trained = with_options(problem, repair=OPERATOR)
    return RoutedImprover(trained, trained.operator, case, programs.router, range(size), improver)


def _choose_upper(problem: AnyProblem, case: Case, programs: Programs) -> tuple[int, str]:
    """Return the index of the upper program that searches, and a sentence why it does."""
    if programs.choice is None:
        return 0, ""
    descriptor = case.describe(with_options(problem, repair=OPERATOR))
    upper = programs.choice.choose(descriptor)
    saved = programs.choice.estimate(descriptor)
    others = max(each for index, each in enumerate(saved.tolist()) if index != upper)
    return upper, (
        f"{programs.uppers[upper].id} of {len(saved)} upper programs: from the training solutions "
        f"most like this one it saved {100 * saved[upper]:.2f}%, the others at most "
        f"{100 * others:.2f}%"
    )


def _reporter(
    callback: Callback | None, problem: AnyProblem, case: Case, goal: Any
) -> Callable[[SearchProgress, SearchResult], bool | None]:
    if callback is None:
        return lambda moment, search: None
    data = case.instance

    def tell(moment: SearchProgress, search: SearchResult) -> bool | None:
        cost = search.cost if goal is data else problem.cost(data, search.solution)
        told = Solution(problem, case, search.solution, cost)
        return callback(without_penalties(goal, moment), told)

    return tell
