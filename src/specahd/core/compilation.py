"""Reports of numba compiling the loops that it caches on disk, once per installation."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from numba.core.event import Event, Listener, install_listener


class _CompilationListener(Listener):
    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell = tell
        self._process = os.getpid()
        self._announced = False

    def make(self) -> None:
        # A fork of this process would report to the same output.
        if not self._announced and os.getpid() == self._process:
            self._announced = True
            self._tell()

    def on_start(self, event: Event) -> None:
        if event.data["dispatcher"].stats.cache_path is not None:
            self.make()

    def on_end(self, event: Event) -> None:
        pass


_listeners: list[_CompilationListener] = []


@contextmanager
def listening(tell: Callable[[], None]) -> Iterator[None]:
    """Call ``tell`` once if the block compiles a loop for the cache, here or in a zygote."""
    announcement = _CompilationListener(tell)
    _listeners.append(announcement)
    try:
        with install_listener("numba:compile", announcement):
            yield
    finally:
        _listeners.remove(announcement)


class CompilationClock(Listener):
    """A clock of the wall time that numba has spent compiling, up to now if it is compiling.

    numba's own listener reports a duration only when a compilation has ended.
    """

    def __init__(self) -> None:
        self._depth = 0
        # Seconds of finished compilations, and start of the current one; another thread reads both.
        self._state: tuple[float, float | None] = (0.0, None)

    def on_start(self, event: Event) -> None:
        if self._depth == 0:
            self._state = (self._state[0], time.monotonic())
        self._depth += 1

    def on_end(self, event: Event) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._state = (self.seconds, None)

    @property
    def seconds(self) -> float:
        """Wall seconds of all compilations, nested ones counted once."""
        over, since = self._state
        return over if since is None else over + time.monotonic() - since


class Stopwatch:
    """A stopwatch of a block's wall time, less the time numba compiled or read its cache.

    Attributes
    ----------
    seconds : float
        The measured time, set when the block has ended.
    """

    seconds = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Measure the block."""
        began = time.perf_counter()
        with install_listener("numba:compiler_lock", CompilationClock()) as compilation:
            yield
        self.seconds = time.perf_counter() - began - compilation.seconds


def report_compilation() -> None:
    """Report that another process compiles a loop for the cache."""
    for announcement in tuple(_listeners):
        announcement.make()
