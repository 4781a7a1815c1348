"""Execution of programs: the executor, the sandbox, and programs over many cases at once."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

from specahd.core.errors import ConfigError
from specahd.core.events import Observer
from specahd.core.program import Program
from specahd.core.settings import CallLimits, Confinement
from specahd.repair.cases import Case, Incumbents, share_arrays
from specahd.repair.responses import RepairTask
from specahd.repair.system import Repair, RepairSystem
from specahd.routing.base import AnyProblem
from specahd.sandbox.client import inspect_host
from specahd.sandbox.confinement import ENFORCED
from specahd.sandbox.executor import Executor, LocalExecutor

AHEAD = 2
"""Number of cases per worker that :func:`stream_frozen` submits in advance."""
_TOGETHER = 8
"""Number of solutions whose regions a worker exposes in one job."""


@dataclass(frozen=True)
class Execution(Confinement):
    """Options of the execution of programs.

    Parameters
    ----------
    executor
        An executor class with its own options; ``start`` and ``shared`` are given to it later.
    limits
        Limits of one call of a program.
    require
        ``available``: run also where the host lacks a layer of the sandbox; ``strict``: do not.

    Raises
    ------
    ConfigError
        ``require`` is neither.
    """

    executor: "partial[Any]" = field(default_factory=lambda: partial(LocalExecutor, workers=2))
    limits: CallLimits = field(default_factory=CallLimits)

    def inspect(self, observer: Observer) -> Mapping[str, str]:
        """Check the executor's needs and the sandbox's layers on this host.

        Parameters
        ----------
        observer
            Receives a warning for each layer that the host lacks.

        Returns
        -------
        Mapping
            By layer, ``enforced`` or why the host lacks it.

        Raises
        ------
        ConfigError
            This machine lacks a library of the executor, or a layer that is required.
        """
        kind: Any = self.executor.func
        kind.require()
        status = inspect_host()
        self.admit(status, observer)
        return status

    def admit(self, status: Mapping[str, str], observer: Observer) -> None:
        """Warn of missing layers of the sandbox, or refuse to run without them.

        Parameters
        ----------
        status
            As :meth:`inspect` returns it.

        Raises
        ------
        ConfigError
            A required layer is missing.
        """
        lacking = [f"{layer} ({why})" for layer, why in sorted(status.items()) if why != ENFORCED]
        if lacking and self.require == "strict":
            raise ConfigError(f"sandbox.require=strict, and this host lacks {', '.join(lacking)}.")
        if lacking:
            observer.on_warning(
                f"Programs run without {', '.join(lacking)}; the guard, a process of their own "
                "and time limits remain (sandbox.require=strict refuses to run so)."
            )

    def start(self, problem: AnyProblem, cases: Sequence[Case]) -> Executor:
        """Put the cases into one shared block and start the workers that run programs on them."""
        # Solving has the options of this class, and starts no evaluator.
        from specahd.repair.evaluator import Evaluator

        shared = share_arrays(problem, cases)
        # Not a closure: an executor may send it to other machines, so it must be picklable.
        start = partial(Evaluator, problem, cases, limits=self.limits)
        executor: Executor = self.executor(start=start, shared=shared)
        return executor


def expose(
    executor: Executor, uppers: Sequence[Program], incumbents: Incumbents
) -> list[RepairTask]:
    """Return the regions that upper programs expose on some solutions, in order.

    Only the first of regions that are rebuilt alike counts.
    """
    firsts = range(0, len(incumbents), _TOGETHER)
    parts = [list(incumbents[first : first + _TOGETHER]) for first in firsts]
    jobs = [executor.submit("expose", uppers, part) for part in parts]
    return [task for job in jobs for task in job.result()]


def run_frozen(
    executor: Executor,
    uppers: Sequence[Program],
    system: RepairSystem,
    cases: Sequence[int],
    step: Callable[[], None] = lambda: None,
) -> list[Repair]:
    """Run the pipeline on each case, in order; call ``step`` after each."""
    jobs = [executor.submit("repair", uppers, system, case) for case in cases]
    repairs = []
    for job in jobs:
        repairs.append(job.result())
        step()
    return repairs


def stream_frozen(
    executor: Executor, uppers: Sequence[Program], system: RepairSystem, cases: Sequence[int]
) -> Iterator[Repair]:
    """Yield the pipeline's repair of each case, in order, as soon as it is ready.

    At most :data:`AHEAD` cases per worker are submitted at a time, so that other work of the
    caller does not wait for all cases.
    """
    waiting = iter(cases)
    jobs: deque[Future[Repair]] = deque()
    for case in islice(waiting, AHEAD * executor.workers):
        jobs.append(executor.submit("repair", uppers, system, case))
    while jobs:
        repair = jobs.popleft().result()
        for case in islice(waiting, 1):
            jobs.append(executor.submit("repair", uppers, system, case))
        yield repair
