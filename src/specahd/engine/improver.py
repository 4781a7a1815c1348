"""Handle of the engine's process for the trusted side: started once, called slice by slice."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from specahd.core.errors import ConfigError, ProcessLost
from specahd.core.program import Outcome, Program
from specahd.engine.blocks import shared_block
from specahd.engine.neighbourhood_search import SLICE_REPAIRS, SLICE_SECONDS, SliceResult
from specahd.engine.orders import Order, Report, Work
from specahd.engine.schedule import group_count, temperatures
from specahd.routing.base import AnyProblem, FloatArray, IntArray
from specahd.sandbox.calls import Call, Launch, Result, SessionLimits
from specahd.sandbox.session import Sandbox, Session
from specahd.sandbox.shared_arrays import SharedArrays

NAMES = ("select_customer_groups", "select_position")
"""Names of the functions of upper and lower programs."""
MAX_SIZE = 100
_CUSTOMERS_PER_SECOND = 50_000
"""Minimum number of customers whose state a process prepares in one second."""
_REPAIR_SECONDS = 0.002
"""Upper bound of the seconds that a legitimate program takes for one repair."""
STEP_REPAIRS = 0.004
"""As how many repairs a step of an upper program's loops counts where searches have equal repairs.
A step takes about 4.6 ns, a repair 0.4 µs (TSP) to 1.9 µs (VRPTW)
(benchmarks/notes/2026-11-30-the-time-of-upper-programs.md)."""
_ENDLESS = 1 << 40
"""Number of repairs in the order of a slice that ends by time."""


class Choice(Protocol):
    """Protocol of the choice of a program by a descriptor."""

    def choose(self, descriptor: FloatArray) -> int:
        """Return the index of the chosen program."""
        ...

    def estimate(self, descriptor: FloatArray) -> FloatArray:
        """Return what each program is expected to save, as a share of the cost."""
        ...


@dataclass(frozen=True, slots=True)
class Programs:
    """The programs of a search: upper ones choose groups, lower ones positions.

    Parameters
    ----------
    uppers
        Upper programs, of which one searches.
    router
        Returns, for a region's descriptor, its program's index in ``lowers``. None: draw at random.
    choice
        Chooses one of several upper programs for an instance; None: the first searches.
    """

    uppers: tuple[Program, ...]
    lowers: tuple[Program, ...]
    router: Callable[[FloatArray], int] | None = None
    choice: Choice | None = None

    def names(self, upper: int = 0) -> tuple[str, ...]:
        """Return the ids of the programs of a search, that of its upper program first."""
        return tuple(program.id for program in (self.uppers[upper], *self.lowers))


class Answering(Protocol):
    """Protocol of a session of the sandbox, which runs calls of programs."""

    def call(self, call: Call) -> Result: ...


@dataclass(frozen=True)
class _Ending:
    """A session whose lost process is the end of a search, so that its best solution is kept."""

    session: Session

    def call(self, call: Call) -> Result:
        try:
            return self.session.call(call)
        except ProcessLost as error:
            return Result(Outcome.CRASHED, detail=str(error).rstrip("."))


class SandboxedEngine:
    """Search that runs slice by slice in a process of the sandbox.

    Parameters
    ----------
    session
        The session, in which the upper programs were launched first.
    neighbour_distances
        The array of the block; the temperatures are computed from it.
    lowers
        The number of lower programs, which were launched after the upper ones.
    index
        The index of the instance in the block.

    Attributes
    ----------
    slice_repairs, slice_seconds
        The length of one slice, for a limit of repairs and for a limit of time.
    exchanges
        The number of exchanges of tails or runs that are tried for each group: the problem's.
    upper
        The index of the upper program that searches; 0 unless it is set.
    step_repairs
        As how many repairs a step of the upper program's loops counts; 0 unless it is set.
    work
        What the search has done so far; None before its first slice.
    """

    slice_repairs = SLICE_REPAIRS
    slice_seconds = SLICE_SECONDS
    upper = 0
    step_repairs = 0.0
    work: Work | None = None

    def __init__(
        self,
        session: Answering,
        problem: AnyProblem,
        instance: Any,
        neighbour_distances: FloatArray,
        lowers: int,
        seed: int,
        index: int = 0,
    ) -> None:
        self._session = session
        self._problem = problem
        self._instance = instance
        self._size = int(instance.size)
        self.lowers: Sequence[int] = tuple(range(lowers))
        self._seed = seed
        self._index = index
        family = problem.engine
        self.exchanges = family.exchanges(instance)
        # By whether the first solution was given; otherwise it is a construction.
        self._temperatures = tuple(
            temperatures(neighbour_distances, start(instance, neighbour_distances))
            for start in (
                family.construction_temperature or family.start_temperature,
                family.start_temperature,
            )
        )
        self._start_temperature, self._end_temperature = self._temperatures[0]
        self._routes: tuple[IntArray, ...] = ()
        self._repairs = 0

    def start(self, solution: Any, *, given: bool = False) -> None:
        """Set the solution with which the search begins, and whether it is no construction."""
        self._start_temperature, self._end_temperature = self._temperatures[given]
        self._routes = self._problem.flat(self._instance, solution)

    def ask(self, inputs: tuple[IntArray, ...]) -> Result:
        """Call the upper program with an order without repairs, and with routes."""
        return self._session.call(Call(self.upper, self._index, inputs))

    def improve(
        self, seconds: float | None, repairs: int | None, share: float, end_share: float
    ) -> SliceResult:
        order = self._order(self._seed, self._size, seconds, repairs, share, end_share)
        continues = not any(routes.size for routes in self._routes)
        call = Call(self.upper, self._index, (order.encode(), *self._routes), continues)
        result = self._session.call(call)
        self._routes = tuple(routes[:0] for routes in self._routes)
        if result.outcome is not Outcome.OK:
            return SliceResult(result.outcome, result.detail)
        try:
            encoded, *routes = result.output
            report = Report.decode(encoded)
        except ValueError as error:
            return SliceResult(Outcome.INVALID_OUTPUT, str(error))
        done, self._repairs = report.repairs - self._repairs, report.repairs
        solution = self._problem.unflat(self._instance, routes) if routes else None
        self.work = report.work
        if min(done, *self.work) < 0 or (routes and solution is None):
            return SliceResult(Outcome.INVALID_OUTPUT, "The report holds a value out of its range.")
        return SliceResult(Outcome.OK, "", solution, done, result.fallbacks)

    def _order(
        self,
        seed: int,
        size: int,
        seconds: float | None,
        repairs: int | None,
        share: float,
        end_share: float,
    ) -> Order:
        """Return the order of a slice for ``size`` customers."""
        return Order(
            seed=seed,
            repairs=repairs or _ENDLESS,
            seconds=seconds or 0.0,
            max_groups=group_count(size),
            max_size=min(size, MAX_SIZE),
            progress=share,
            end_progress=end_share,
            temperature=self._temperature(share),
            end_temperature=self._temperature(end_share),
            lowers=tuple(self.lowers),
            exchanges=self.exchanges,
            step_repairs=self.step_repairs,
        )

    def _temperature(self, share: float) -> float:
        """Return the temperature after a share of the search: it falls by equal factors."""
        if self._end_temperature <= 0.0:
            return 0.0
        return float(
            self._start_temperature * (self._end_temperature / self._start_temperature) ** share
        )


@contextmanager
def engine(
    problem: AnyProblem,
    instance: Any,
    programs: Programs,
    seed: int,
    memory_bytes: int,
    counted: bool,
    admit: Callable[[Mapping[str, str]], None] = lambda status: None,
) -> Iterator[SandboxedEngine]:
    """Start a process of the sandbox with compiled programs, and end it with the block.

    The parameters and the errors are those of :func:`sessions`.
    """
    started = sessions(problem, instance, programs, memory_bytes, counted, admit)
    with started as ([session], arrays):
        near = arrays["neighbour_distances"]
        yield SandboxedEngine(session, problem, instance, near, len(programs.lowers), seed)


@contextmanager
def sessions(
    problem: AnyProblem,
    instance: Any,
    programs: Programs,
    memory_bytes: int,
    counted: bool,
    admit: Callable[[Mapping[str, str]], None] = lambda status: None,
    count: int = 1,
) -> Iterator[tuple[list[Answering], Mapping[str, Any]]]:
    """Start processes of the sandbox with the same programs, and end them with the block.

    Parameters
    ----------
    memory_bytes
        The memory limit of each process.
    counted
        Whether slices end after a number of repairs, however long they take.
    admit
        Receives the sandbox's status before a program starts; raises if confinement is too weak.
    count
        The number of processes.

    Returns
    -------
    The processes, and the arrays of the instance that they share.

    Raises
    ------
    ConfigError
        A program does not compile.
    NotEnoughMemory
        The instance's arrays would not fit.
    """
    shared, size = shared_block(problem, instance), int(instance.size)
    try:
        with ExitStack() as stack:
            sandbox = stack.enter_context(sandbox_of(problem, shared))
            admit(sandbox.status)

            def launch(_: int) -> Session:
                return launched(sandbox, problem, size, programs, memory_bytes, counted)

            with ThreadPoolExecutor(count) as threads:
                started = [stack.enter_context(each) for each in threads.map(launch, range(count))]
            for session in started:
                if session.launched is not Outcome.OK:
                    raise ConfigError(f"The programs cannot be started: {session.detail}")
            yield list(map(_Ending, started)), shared.arrays(0)
    finally:
        shared.close()


def sandbox_of(problem: AnyProblem, shared: SharedArrays) -> Sandbox:
    """Return a sandbox for the engine of a problem, which compiles all programs.

    That of a problem of this package keeps its zygote for the next one of this process.
    """
    own = type(problem).__module__.partition(".")[0] == __name__.partition(".")[0]
    return Sandbox(shared, [], compiled=runners(problem), lasting=own)


def runners(problem: AnyProblem) -> list[str]:
    """Return the runner of a problem's upper programs, and that of its lower ones."""
    contracts = problem.contracts
    return [contract.runner for contract in (contracts.ORDERED_GROUPS, contracts.INSERTION)]


def launched(
    sandbox: Sandbox,
    problem: AnyProblem,
    size: int,
    programs: Programs,
    memory_bytes: int,
    counted: bool,
    slices: int = 1,
) -> Session:
    """Start a process of the sandbox with compiled programs; its session may hold an error instead.

    Parameters
    ----------
    size
        The size of the instance.
    slices
        The limit of a call, in slices of usual length.
    """
    groups, positions = runners(problem)
    launches = [
        *(Launch(program.source, NAMES[0], groups) for program in programs.uppers),
        *(Launch(program.source, NAMES[1], positions) for program in programs.lowers),
    ]
    most = _REPAIR_SECONDS * SLICE_REPAIRS if counted else 2 * SLICE_SECONDS + 1.0
    seconds = slices * most + size / _CUSTOMERS_PER_SECOND
    return sandbox.session(launches, SessionLimits(seconds, None, memory_bytes))
