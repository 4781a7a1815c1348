"""Sessions that call untrusted programs: the sandbox's interface for the rest of specahd.

A :class:`Sandbox` owns one warm zygote. A :class:`Session` owns one forked child
at a time, in which a few programs answer calls. A child that dies, stalls, or sends invalid or
too much data loses only the call that it was answering; the next call gets a new child. A call
whose child the system killed is made again, once, by a new child.
"""

import contextlib
import json
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from specahd.core.errors import ProcessLost, RunFailed
from specahd.core.program import Outcome
from specahd.sandbox import confinement
from specahd.sandbox.calls import Call, Launch, Result, SessionLimits, StallLimit, wall_clock_limit
from specahd.sandbox.child import EXIT_UNPREPARED, LEAST_SECONDS
from specahd.sandbox.child_process import ChildProcess, cause_of_death
from specahd.sandbox.client import ChildLost, SandboxClient, ZygoteLost, lasting_client
from specahd.sandbox.shared_arrays import SharedArrays
from specahd.sandbox.wire import WireError

# Number of calls sent ahead of their answers, so that the child never waits for its parent.
_WINDOW = 256
_BACKLOG = 1 << 16
_LAUNCH_SECONDS = 1.0
_COMPILE_SECONDS = 60.0
"""CPU seconds in which each program of a child must be launched.

The first launch counts towards no other limit. Later launches do, so that programs whose
child dies again and again do not get this time for every call.
"""


class Sandbox(contextlib.AbstractContextManager["Sandbox"]):
    """The owner of the zygotes that run sessions on the instances of shared arrays.

    Parameters
    ----------
    shared
        The arrays, filled before the first session.
    runners
        Every ``package.module:function`` that a launch may name.
    compiled
        Runners that compile programs. They have a zygote of their own, which also has
        ``runners``. It starts when it is first needed, because it takes seconds to warm up;
        it is separate, because larger processes fork more slowly.
    lasting
        Whether the zygote of ``compiled`` serves later sandboxes of this process, too. Each child
        then maps the arrays itself, so it is for few sessions.
    path
        Directories added to the zygote's import path, besides those from which this
        process imports the runners.
    """

    def __init__(
        self,
        shared: SharedArrays,
        runners: Sequence[str],
        path: Sequence[str] = (),
        compiled: Sequence[str] = (),
        lasting: bool = False,
    ) -> None:
        self._shared = shared
        self._lasting = lasting
        self._runners = {False: tuple(runners), True: (*runners, *compiled)}
        self._path = tuple(path)
        self._lock = threading.Lock()
        # If all programs are compiled, only the second zygote is needed.
        self._clients = {False: self._start(False)} if runners else {}

    def _start(self, compiling: bool) -> SandboxClient:
        if compiling and self._lasting:
            return lasting_client(self._runners[compiling], self._path)
        return SandboxClient(self._shared, self._runners[compiling], self._path)

    @property
    def status(self) -> Mapping[str, str]:
        """The layers that confine children (:attr:`SandboxClient.status`); may start a zygote."""
        return self._living_client(not self._runners[False]).status

    def session(self, programs: Sequence[Launch], limits: SessionLimits) -> "Session":
        """Fork a child and launch the programs in it; several sessions may be open at once."""
        known = self._runners[True]
        for program in programs:
            if program.runner not in known:
                raise ValueError(f"Expected one of {known}, got {program.runner!r}.")
        compiling = any(program.runner not in self._runners[False] for program in programs)
        return Session(self, programs, limits, compiling)

    def _living_client(self, compiling: bool) -> SandboxClient:
        """Return the client of a living zygote; start one if necessary."""
        with self._lock:
            client = self._clients.get(compiling)
            if client is None or not client.alive:
                if client is not None:
                    client.close()
                client = self._clients[compiling] = self._start(compiling)
            return client

    def close(self) -> None:
        """End the zygotes and their children; of a lasting zygote, each session ends its own."""
        for client in self._clients.values():
            if not client.lasting:
                client.close()

    def __exit__(self, *_: object) -> None:
        self.close()


class Session(contextlib.AbstractContextManager["Session"]):
    """A few launched programs; made by :meth:`Sandbox.session`, used by one thread.

    Attributes
    ----------
    launched, detail
        OK, or LAUNCH_FAILED or NOT_COMPILED with the reason; then every call returns the same.
    """

    def __init__(
        self, sandbox: Sandbox, programs: Sequence[Launch], limits: SessionLimits, compiling: bool
    ) -> None:
        self._sandbox = sandbox
        self._programs = [asdict(program) for program in programs]
        self._limits = limits
        self._compiling = compiling
        self._spent = self._relaunches = self._queued = 0.0
        self._stalls = [StallLimit(limits.wall_seconds) for _ in programs]
        self._timeouts = [0 for _ in programs]
        self._child: ChildProcess | None = None
        self.launched, self.detail = Outcome.OK, ""
        self._launch()

    def call(self, call: Call) -> Result:
        """Run a program once; a failure of the program is an outcome, never an exception.

        Raises
        ------
        ProcessLost
            The system killed the process twice, or once in the middle of calls that continue.
        """
        [result] = self.call_many([call])
        return result

    def call_many(self, calls: Sequence[Call]) -> Iterator[Result]:
        """Yield the results of calls in order; later calls run while the caller uses results."""
        for call in calls:
            if not 0 <= call.program < len(self._programs):
                raise ValueError(f"There is no program {call.program} in this session.")
        try:
            for position in range(len(calls)):
                yield self._answer(calls, position)
        finally:
            # The caller stopped early, so the remaining replies of the child are not needed.
            if self._child is not None and self._child.outstanding:
                self.close()

    def close(self) -> None:
        """End the child."""
        if self._child is not None:
            with contextlib.suppress(ZygoteLost):
                self._end()

    def __exit__(self, *_: object) -> None:
        self.close()

    def given_up(self, program: int) -> str:
        """Return why a program is asked no more after its timeouts; empty if it is asked."""
        allowed = self._limits.timeouts
        if allowed is None or self._timeouts[program] < allowed:
            return ""
        return f"{allowed} timeouts in a row; its other calls were not made"

    def _answer(self, calls: Sequence[Call], position: int) -> Result:
        """Return the result of one call, or TIMEOUT if no time is left; record the time waited."""
        program = calls[position].program
        known = self._stalls[program]
        if self.launched is Outcome.OK and (reason := self._exhausted(program)):
            # The result of the child's current call is lost.
            if self._child is not None and self._child.outstanding:
                self.close()
            return Result(Outcome.TIMEOUT, detail=reason)
        began, relaunches = time.monotonic(), self._relaunches
        result = self._ask(calls, position)
        used = result.cpu_seconds + self._relaunches - relaunches
        waited = time.monotonic() - began
        # A child that ended during the call has waited for a processor, too.
        queued = self._queued if self._child is None else self._child.queued_seconds
        waited -= min(waited, queued)
        known.note(waited, used)
        if result.outcome is Outcome.OK:
            self._timeouts[program] = 0
        self._timeouts[program] += result.outcome is Outcome.TIMEOUT
        return result

    def _exhausted(self, program: int) -> str:
        if self._time_left() < LEAST_SECONDS:
            return "the session's CPU time is spent"
        if self._stalls[program].lost:
            return "the session's wall-clock time is spent"
        return self.given_up(program)

    def _ask(self, calls: Sequence[Call], position: int) -> Result:
        """Send one call and some that follow it; return the result of the first."""
        for _ in range(2):
            if self._child is None and self.launched is Outcome.OK:
                if calls[position].continues:
                    break
                self._launch()
                if self._child is not None:
                    self._relaunches += self._child.launch_seconds
            if self._child is None:
                return Result(self.launched, detail=self.detail)
            child = self._child
            asked = position + child.outstanding
            while asked < min(len(calls), position + _WINDOW) and len(child.outgoing) < _BACKLOG:
                child.ask(calls[asked])
                asked += 1
            with contextlib.suppress(ChildLost):
                return self._receive(self._limits.wall_seconds)
        raise ProcessLost

    def _launch(self) -> None:
        """Fork a child and wait for its hello frame."""
        seconds = _COMPILE_SECONDS if self._compiling else _LAUNCH_SECONDS
        launch_seconds = seconds * max(1, len(self._programs))
        order: dict[str, Any] = {
            "programs": self._programs,
            "launch_seconds": launch_seconds,
            "call_seconds": self._limits.call_seconds,
            "total_seconds": None if self._limits.total_seconds is None else self._time_left(),
            "memory_bytes": self._limits.memory_bytes,
        }
        for _ in range(2):
            with contextlib.suppress(ChildLost):
                client = self._sandbox._living_client(self._compiling)
                blocks = []
                if client.lasting:
                    blocks = [self._sandbox._shared.fd]
                    order["directory"] = self._sandbox._shared.directory
                text = json.dumps(order).encode() + b"\n"
                self._child = ChildProcess(client, text, *blocks)
                hello = self._receive(wall_clock_limit(launch_seconds))
                if hello.outcome is not Outcome.OK:
                    refused = hello.outcome is Outcome.NOT_COMPILED
                    self.launched = hello.outcome if refused else Outcome.LAUNCH_FAILED
                    self.detail = hello.detail
                    self.close()
                return
        raise ProcessLost

    def _receive(self, seconds: float) -> Result:
        """Return the child's reply, or the outcome of a missing or bad one; end that child."""
        assert self._child is not None
        try:
            result = self._child.receive(seconds)
        except EOFError:
            code, cpu_seconds = self._end(silent=True)
            # At the hard limit of CPU time the kernel kills, too.
            if code == -signal.SIGKILL and self._time_left() >= LEAST_SECONDS:
                self._spent -= cpu_seconds
                raise ChildLost from None
            if code == EXIT_UNPREPARED:
                reason = "its process could not be confined"
                raise RunFailed(confinement.unprepared(reason)) from None
            outcome, detail = cause_of_death(code)
        except TimeoutError:
            _, cpu_seconds = self._end()
            outcome, detail = Outcome.TIMEOUT, f"no answer in {seconds:g} s of wall-clock time"
        except WireError as error:
            _, cpu_seconds = self._end()
            outcome, detail = Outcome.INVALID_OUTPUT, str(error)
        else:
            if result.outcome is Outcome.OUT_OF_MEMORY:
                # Its remaining address space is too small for a fair trial of the next call.
                self.close()
            return result
        return Result(outcome, (), detail, cpu_seconds)

    def _time_left(self) -> float:
        if self._limits.total_seconds is None:
            return float("inf")
        used = self._spent + self._relaunches
        # A child's own report of CPU time only ever reduces its budget.
        used += 0.0 if self._child is None else self._child.cpu_seconds
        return self._limits.total_seconds - used

    def _end(self, silent: bool = False) -> tuple[int | None, float]:
        """End the child; return its exit code, and the CPU seconds that no reply reported.

        ``silent`` and the code are those of :meth:`SandboxClient.end`.
        """
        assert self._child is not None
        child, self._child = self._child, None
        self._queued = child.queued_seconds
        self._spent += child.cpu_seconds
        code, cpu_seconds = child.end(silent)
        self._spent += cpu_seconds
        return code, cpu_seconds
