"""Reports when numba compiles loops that it caches on disk: once an installation."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from numba.core.event import Event, Listener, install_listener


class _CompilationListener(Listener):
    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell = tell
        self._process = os.getpid()
        self._told = False

    def make(self) -> None:
        # A fork of this process would write where this one does.
        if not self._told and os.getpid() == self._process:
            self._told = True
            self._tell()

    def on_start(self, event: Event) -> None:
        if event.data["dispatcher"].stats.cache_path is not None:
            self.make()

    def on_end(self, event: Event) -> None:
        pass


_listeners: list[_CompilationListener] = []


@contextmanager
def listening(tell: Callable[[], None]) -> Iterator[None]:
    """Call ``tell`` once if a cached loop is compiled in the block, here or in a zygote."""
    announcement = _CompilationListener(tell)
    _listeners.append(announcement)
    try:
        with install_listener("numba:compile", announcement):
            yield
    finally:
        _listeners.remove(announcement)


def report_compilation() -> None:
    """Report that another process compiles such a loop."""
    for announcement in tuple(_listeners):
        announcement.make()
