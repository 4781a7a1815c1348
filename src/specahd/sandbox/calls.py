"""Calls of a session, their limits and their results."""

from dataclasses import dataclass

from specahd.core.program import Outcome
from specahd.sandbox.child import LEAST_SECONDS
from specahd.sandbox.wire import IntArray

LOAD = 8.0
"""The allowed ratio of wall time to CPU time, chosen for 16 workers on two cores.

It matters if the kernel does not count the time that a process waits for a processor.
"""
PAUSE = 0.25
"""Seconds until a busy machine runs a process that received a call."""


def wall_clock_limit(cpu_seconds: float) -> float:
    """Return the wall-clock limit for a limit of CPU seconds."""
    return max(4.0 * cpu_seconds, cpu_seconds + 5.0)


@dataclass(frozen=True, slots=True)
class SessionLimits:
    """The resource limits of a session's programs.

    Parameters
    ----------
    call_seconds
        CPU time of one call. If the program sleeps, a call also ends after four times
        as much wall-clock time, but not before five seconds more than the CPU time.
        :class:`StallLimit` bounds all calls of a program together.
    total_seconds
        CPU time of the session, over all its calls; None for no bound.
    memory_bytes
        Address space beyond that of the zygote, shared arrays included.
    timeouts
        Timeouts of a program without an answer between them, after which its calls are not
        made: each is a timeout at once. None for no bound.
    """

    call_seconds: float
    total_seconds: float | None = None
    memory_bytes: int = 1 << 30
    timeouts: int | None = None

    def __post_init__(self) -> None:
        for seconds in (self.call_seconds, self.total_seconds):
            if seconds is not None and not LEAST_SECONDS <= seconds <= 1e6:
                raise ValueError(f"Expected seconds in [{LEAST_SECONDS}, 1e6], got {seconds}.")
        if self.memory_bytes < 0:
            raise ValueError(f"Expected memory_bytes of at least 0, got {self.memory_bytes}.")

    @property
    def wall_seconds(self) -> float:
        return wall_clock_limit(self.call_seconds)


@dataclass(slots=True)
class StallLimit:
    """The limit on the time that a session waits for a stalled program, over all calls.

    Any n calls in a row may take ``LOAD`` times the CPU seconds that they used, plus ``PAUSE``
    seconds for each, plus twice ``limit`` seconds in all. So a machine may stop once, but a
    program must not sleep in call after call. The caller leaves out the time that the program
    waited for a processor (:mod:`specahd.sandbox.child_process`).

    Parameters
    ----------
    limit
        Wall-clock seconds that one call may take.
    """

    limit: float
    stalled: float = 0.0

    def note(self, seconds: float, cpu_seconds: float) -> None:
        """Record the waiting time and the CPU time of a call."""
        self.stalled = max(0.0, self.stalled + seconds - LOAD * cpu_seconds - PAUSE)

    @property
    def lost(self) -> bool:
        """Whether the program has stalled for longer than one call may take."""
        return self.stalled > self.limit


@dataclass(frozen=True, slots=True)
class Launch:
    """A program to be launched: guarded source, function name, ``package.module:runner``."""

    source: str
    name: str
    runner: str


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One call: positions in the session's programs and in the shared arrays, and inputs.

    A call that ``continues`` needs what earlier calls left in the same process. ``seconds``
    is a limit of its CPU time besides that of all calls of the session; 0: none.
    """

    program: int
    instance: int
    inputs: tuple[IntArray, ...]
    continues: bool = False
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """The result of a call; ``output`` is empty unless the outcome is ok.

    ``fallbacks`` is the number of the program's choices that were replaced.
    """

    outcome: Outcome
    output: tuple[IntArray, ...] = ()
    detail: str = ""
    cpu_seconds: float = 0.0
    fallbacks: int = 0
