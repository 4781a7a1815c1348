"""The parent's handle of one forked child: send, receive, end."""

import os
import select
import signal
import time
from contextlib import suppress

from specahd.core.program import Outcome
from specahd.sandbox.calls import Call, Result
from specahd.sandbox.child import EXIT_OUT_OF_MEMORY, OUTCOMES
from specahd.sandbox.client import SandboxClient
from specahd.sandbox.wire import Frame, FrameReader, WireError, encode, one_line

THIS_THREAD = "thread-self"
"""The ``task`` of a clock that measures the thread which makes it."""


class QueueClock:
    """A stopwatch of the time for which a task waits for a processor.

    A program answers late when it sleeps or when the machine is busy. Only in the second case does
    it wait in a processor's queue. If the kernel does not count this time, the clock stays at 0.

    Parameters
    ----------
    task
        A process identifier, whose first thread is measured, or ``THIS_THREAD``.
    """

    def __init__(self, task: int | str) -> None:
        self._file: int | None = None
        with suppress(OSError):
            self._file = os.open(f"/proc/{task}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        self._began = 0

    def start(self) -> None:
        """Start the measurement."""
        self._began = self._nanoseconds()

    def elapsed(self) -> float:
        """Return the seconds since the start."""
        return max(0, self._nanoseconds() - self._began) / 1e9

    def close(self) -> None:
        """Close the kernel's file; the clock reads 0 after that."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _nanoseconds(self) -> int:
        """Return the second number of ``schedstat`` (Linux, proc_pid_schedstat(5))."""
        with suppress(OSError, ValueError, IndexError):
            if self._file is not None:
                return int(os.pread(self._file, 64, 0).split()[1])
        return self._began


_REPLIES = frozenset(
    {
        Outcome.OK,
        Outcome.TIMEOUT,
        Outcome.CRASHED,
        Outcome.OUT_OF_MEMORY,
        Outcome.INVALID_OUTPUT,
        Outcome.NOT_COMPILED,
    }
)
_OUT_OF_TIME = frozenset({signal.SIGPROF, signal.SIGXCPU})
_CHUNK = 1 << 18
_LONGEST = 16.0
"""Bound on the wall-clock time of a call on a busy machine, as a multiple of its limit."""


class ChildProcess:
    """One forked child: its pipe, its exit code, and its CPU time.

    The parent never blocks on a child that does not read.

    Attributes
    ----------
    outgoing
        Bytes that wait to be sent.
    """

    def __init__(self, client: SandboxClient, order: bytes, *blocks: int) -> None:
        self._client = client
        self._pid, self._connection = client.fork(*blocks)
        self._connection.setblocking(False)
        self._queued, self._thread_queued = QueueClock(self._pid), QueueClock(THIS_THREAD)
        self._poll = select.poll()
        self._reader = FrameReader()
        self.outgoing = bytearray()
        self._sent = 0
        self._received = -1  # the hello frame is number 0
        self.launch_seconds = 0.0
        self.cpu_seconds = 0.0
        self._send(order)

    @property
    def outstanding(self) -> int:
        return self._sent - max(self._received, 0)

    @property
    def queued_seconds(self) -> float:
        """Seconds that the child and this thread have waited for a processor in the last call."""
        return self._queued.elapsed() + self._thread_queued.elapsed()

    def ask(self, call: Call) -> None:
        self._sent += 1
        frame = Frame(call.program, self._sent, call.instance, call.seconds, arrays=call.inputs)
        self._send(encode(frame))

    def receive(self, seconds: float) -> Result:
        """Wait for the next reply.

        Raises
        ------
        EOFError
            The child is gone, and every frame that it sent has been read.
        TimeoutError
            No frame came within ``seconds``. The time that the child waits for a processor is added
            to them, up to ``_LONGEST`` times ``seconds`` in all.
        WireError
            The bytes are not a frame, or the frame is not a reply to the next call.
        """
        frame = self._next_frame(seconds)
        self._received += 1
        if frame.number != self._received or frame.code >= len(OUTCOMES):
            raise WireError("A reply answers no call.")
        outcome = OUTCOMES[frame.code]
        answer = frame.arrays or frame.fallbacks
        if outcome not in _REPLIES or (answer and outcome is not Outcome.OK):
            raise WireError("A reply states an impossible outcome.")
        if frame.number == 0:
            self.launch_seconds = frame.cpu_seconds
        else:
            self.cpu_seconds += frame.cpu_seconds
        detail = one_line(frame.detail)
        return Result(outcome, frame.arrays, detail, frame.cpu_seconds, frame.fallbacks)

    def end(self, silent: bool = False) -> tuple[int | None, float]:
        """Kill the child; return its exit code, and the CPU seconds that no reply reported.

        ``silent`` and the code are those of :meth:`SandboxClient.end`.
        """
        self._connection.close()
        self._queued.close()
        self._thread_queued.close()
        code, cpu_seconds = self._client.end(self._pid, silent)
        return code, max(0.0, cpu_seconds - self.launch_seconds - self.cpu_seconds)

    def _next_frame(self, seconds: float) -> Frame:
        """Wait for a frame; meanwhile send the pending bytes as the pipe accepts them."""
        self._queued.start()
        self._thread_queued.start()
        began = time.monotonic()
        deadline = began + seconds
        while (frame := self._reader.take()) is None:
            left = deadline - time.monotonic()
            write_events = select.POLLOUT if self.outgoing else 0
            self._poll.register(self._connection, select.POLLIN | write_events)
            if left <= 0 or not (ready := self._poll.poll(1000 * left)):
                deadline = began + min(seconds + self._queued.elapsed(), _LONGEST * seconds)
                if deadline <= time.monotonic():
                    raise TimeoutError
                continue
            [(_, events)] = ready
            if events & ~select.POLLOUT:
                self._read()
            if events & select.POLLOUT:
                self._send()
        return frame

    def _read(self) -> None:
        try:
            data = self._connection.recv(_CHUNK)
        except OSError as error:
            raise EOFError from error
        if not data:
            raise EOFError
        self._reader.feed(data)

    def _send(self, data: bytes = b"") -> None:
        """Send as much of the pending bytes as the pipe takes now."""
        self.outgoing += data
        try:
            while self.outgoing:
                sent = self._connection.send(self.outgoing)
                del self.outgoing[:sent]
        except BlockingIOError:
            return
        except OSError:
            # The child is gone, but its earlier replies can still be read.
            self.outgoing.clear()


def cause_of_death(code: int | None) -> tuple[Outcome, str]:
    """Return the outcome for a dead child, from its exit status or negative signal number.

    The code of a child that lived on after it closed its pipe is None.
    """
    if code is None:
        return Outcome.CRASHED, "it closed its pipe"
    if -code in _OUT_OF_TIME:
        return Outcome.TIMEOUT, "the CPU time is spent"
    if code < 0:
        # Some real-time signals have no name.
        names = {number.value: number.name for number in signal.Signals}
        return Outcome.CRASHED, f"killed by {names.get(-code, f'signal {-code}')}"
    if code == EXIT_OUT_OF_MEMORY:
        return Outcome.OUT_OF_MEMORY, "the memory limit was reached"
    return Outcome.CRASHED, f"exited with status {code}"
