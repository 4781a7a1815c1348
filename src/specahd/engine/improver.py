"""The engine's process as the trusted side has it: started once, asked slice by slice."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from specahd.core.errors import ConfigError
from specahd.core.memory_limit import require_memory
from specahd.core.program import Outcome, Program
from specahd.engine.descent import SLICE_REPAIRS, SLICE_SECONDS, Slice
from specahd.engine.neighbours import nearest_neighbours
from specahd.engine.orders import Order, Report
from specahd.engine.schedule import group_count, temperatures
from specahd.routing.base import AnyProblem, FloatArray, IntArray
from specahd.routing.groups import concatenated, is_vector
from specahd.sandbox.calls import Call, Launch, SessionLimits
from specahd.sandbox.session import Sandbox, Session
from specahd.sandbox.shared_arrays import Layout, SharedArrays, block_size

GROUPS = "specahd.engine.runner:GROUPS"
"""What runs upper programs; a problem names what compiles its lower ones."""
NAMES = ("select_customer_groups", "select_position")
"""What upper and lower programs are called."""
NEIGHBOURS, TIMED_NEIGHBOURS = 40, 150
"""Of customers, and of those with time windows, which rule most positions out."""
MAX_SIZE = 100
_NO_ROUTES = np.empty(0, np.int64)
_CUSTOMERS_PER_SECOND = 50_000
"""A process makes its state of so many ready in a second, at least."""
_REPAIR_SECONDS = 0.002
"""The longest that an honest program takes for one."""
_ENDLESS = 1 << 40
"""Repairs of a slice that ends by time."""


@dataclass(frozen=True, slots=True)
class Programs:
    """The programs of a search: who chooses groups, and who chooses positions."""

    upper: Program
    lowers: tuple[Program, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What the programs are called."""
        return tuple(program.id for program in (self.upper, *self.lowers))


class SandboxedEngine:
    """Goes on with a search in a process of the sandbox.

    Parameters
    ----------
    session
        With the upper program launched first.
    neighbour_distances
        As in the block; temperatures follow from them.
    lowers
        How many lower programs are launched behind it.
    """

    def __init__(
        self,
        session: Session,
        instance: Any,
        neighbour_distances: FloatArray,
        lowers: int,
        seed: int,
    ) -> None:
        self._session = session
        self._size = int(instance.size)
        self._lowers = tuple(range(lowers))
        self._seed = seed
        self._hot, self._cold = temperatures(neighbour_distances)
        self._groups = group_count(self._size)
        self._routes = _NO_ROUTES
        self._repairs = 0

    def start(self, solution: Any) -> None:
        """Say with which solution the search begins."""
        lengths, customers = concatenated(solution)
        self._routes = np.insert(customers, np.cumsum(lengths), 0)

    def improve(
        self, seconds: float | None, repairs: int | None, share: float, end_share: float
    ) -> Slice:
        order = Order(
            seed=self._seed,
            repairs=repairs or _ENDLESS,
            seconds=seconds or 0.0,
            max_groups=self._groups,
            max_size=min(self._size, MAX_SIZE),
            progress=share,
            end_progress=end_share,
            temperature=self._temperature(share),
            end_temperature=self._temperature(end_share),
            lowers=self._lowers,
        )
        result = self._session.call(Call(0, 0, (order.encode(), self._routes)))
        self._routes = _NO_ROUTES
        if result.outcome is not Outcome.OK:
            return Slice(result.outcome, result.detail)
        try:
            said, routes = result.output
            report = Report.decode(said)
        except ValueError as error:
            return Slice(Outcome.INVALID_OUTPUT, str(error))
        done, self._repairs = report.repairs - self._repairs, report.repairs
        if done < 0 or len(routes) > 2 * self._size + 1 or not is_vector(routes):
            return Slice(Outcome.INVALID_OUTPUT, "The report says what cannot be.")
        solution = _solution(routes) if len(routes) else None
        return Slice(Outcome.OK, "", solution, done, result.fallbacks)

    def _temperature(self, share: float) -> float:
        """Return the temperature when some share of the search is over: it falls evenly."""
        if self._cold <= 0.0:
            return 0.0
        return float(self._hot * (self._cold / self._hot) ** share)


def _solution(routes: IntArray) -> tuple[tuple[int, ...], ...]:
    """Return the routes of an answer; what they are worth is the checker's business."""
    parts = np.split(routes, np.flatnonzero(routes == 0))
    found = (tuple(node for node in part.tolist() if node) for part in parts)
    return tuple(route for route in found if route)


@contextmanager
def engine(
    problem: AnyProblem,
    instance: Any,
    programs: Programs,
    seed: int,
    memory_bytes: int,
    counted: bool,
) -> Iterator[SandboxedEngine]:
    """Start a process of the sandbox with compiled programs, and end it with the block.

    Parameters
    ----------
    counted
        Whether slices end by repairs, however long they take.

    Raises
    ------
    ConfigError
        A program does not compile.
    NotEnoughMemory
        The instance's arrays would not fit.
    """
    shared = shared_block(problem, instance)
    try:
        with (
            sandbox_of(problem, shared) as sandbox,
            _launched(sandbox, problem, instance, programs, memory_bytes, counted) as session,
        ):
            if session.launched is not Outcome.OK:
                raise ConfigError(f"The programs cannot be started: {session.detail}")
            near = shared.arrays(0)["neighbour_distances"]
            yield SandboxedEngine(session, instance, near, len(programs.lowers), seed)
    finally:
        shared.close()


def sandbox_of(problem: AnyProblem, shared: SharedArrays) -> Sandbox:
    """Return a sandbox for the engine of a problem, which compiles all programs."""
    return Sandbox(shared, [], compiled=_runners(problem))


def _runners(problem: AnyProblem) -> list[str]:
    return [GROUPS, problem.engine]


def _launched(
    sandbox: Sandbox,
    problem: AnyProblem,
    instance: Any,
    programs: Programs,
    memory_bytes: int,
    counted: bool,
) -> Session:
    groups, positions = _runners(problem)
    launches = [
        Launch(programs.upper.source, NAMES[0], groups),
        *(Launch(program.source, NAMES[1], positions) for program in programs.lowers),
    ]
    most = _REPAIR_SECONDS * SLICE_REPAIRS if counted else 2 * SLICE_SECONDS + 1.0
    seconds = most + instance.size / _CUSTOMERS_PER_SECOND
    return sandbox.session(launches, SessionLimits(seconds, None, memory_bytes))


def shared_block(problem: AnyProblem, instance: Any) -> SharedArrays:
    """Return the block of the instance: what programs see, and who is near whom."""
    nodes, depot = len(instance.coords), len(instance.coords) > instance.size
    known = problem.layout(instance)
    count = TIMED_NEIGHBOURS if "ready_times" in known else NEIGHBOURS
    near = (nodes, max(0, min(count, nodes - depot - 1)))
    layout: Layout = {
        **known,
        "neighbours": (np.int64, near),
        "neighbour_distances": (np.float64, near),
    }
    require_memory(block_size(layout), f"The arrays of {instance.name} need")
    shared = SharedArrays.allocate([layout])
    arrays = shared.writable(0)
    problem.fill(instance, arrays)
    measure = getattr(instance, "measure", instance.convention)
    found = nearest_neighbours(instance.coords, measure, instance.matrix, count, depot)
    arrays["neighbours"][:], arrays["neighbour_distances"][:] = found
    return shared
