"""The time for which a task is ready to run but has no processor, as the kernel counts it."""

import os
from contextlib import suppress

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
