"""The process of a command: its standard streams, its warnings, and how signals end it."""

import logging
import math
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from specahd import end_interrupted
from specahd.core.display import visible
from specahd.core.errors import FileWarning

_INTERVAL = 5.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_WATCH = 1.0
"""Seconds between two looks at the parent process."""


def open_closed_streams() -> None:
    """Open closed standard streams on the null device, before a file takes their number."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        with suppress(OSError):
            os.fstat(number)
            continue
        # The null device gets the lowest free number, and child processes inherit it.
        os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, closefd=False))


def write_lines(*lines: object) -> None:
    """Write lines on standard output at once, with their control characters as escapes."""
    sys.stdout.write("".join(f"{visible(line)}\n" for line in lines))


class ScreenHandler(logging.Handler):
    """Handler that shows warnings as lines on standard error, where the progress is.

    Of warnings with the same format at most one in five seconds is shown.
    """

    def __init__(self) -> None:
        super().__init__()
        self._shown: dict[str, float] = {}

    def emit(self, record: logging.LogRecord) -> None:
        now = time.monotonic()
        if now - self._shown.get(record.msg, -math.inf) >= _INTERVAL:
            self._shown[record.msg] = now
            sys.stderr.write(f"{visible(record.getMessage())}\n")


class _InterruptHandler:
    """Handler of Ctrl-C: ends the process at once, or raises KeyboardInterrupt if ``raises``.

    An exception could be lost: imports of libraries and Hydra's composition swallow exceptions.

    Parameters
    ----------
    cleanup
        Called before the process ends.
    """

    def __init__(self, cleanup: Callable[[], None]) -> None:
        self.raises = False
        self._cleanup = cleanup

    def __call__(self, *_: object) -> None:
        if self.raises:
            raise KeyboardInterrupt
        self._cleanup()
        end_interrupted()


@contextmanager
def handle_interrupts(cleanup: Callable[[], None]) -> Iterator[None]:
    """End a command with one line on Ctrl-C or SIGTERM, until :func:`raise_interrupts` is called.

    Before the block Ctrl-C ends the process with that line too (``specahd/__init__.py``), after it
    silently, as SIGTERM does before and after. A signal with another handler keeps it.
    """
    handler, unused = _InterruptHandler(cleanup), (signal.SIG_DFL, end_interrupted)
    ours = [number for number in _SIGNALS if signal.getsignal(number) in unused]
    for number in ours:
        signal.signal(number, handler)
    if ours and os.environ.get("DVC_STAGE"):
        _end_with_parent()
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _end_with_parent() -> None:
    """Send this process SIGTERM when its parent has ended: a stage does not outlive ``dvc repro``.

    The kernel's signal at a parent's death would come with the end of the thread that started the
    process, which may be earlier.
    """
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCH)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="parent", daemon=True).start()


def raise_interrupts() -> None:
    """Raise KeyboardInterrupt on Ctrl-C from now on, because there are results to keep."""
    _set_raising(True)


@contextmanager
def exit_on_interrupt() -> Iterator[None]:
    """End the process at once on Ctrl-C in the block, because there are no results yet."""
    _set_raising(False)
    try:
        yield
    finally:
        _set_raising(True)


def _set_raising(raises: bool) -> None:
    for handler in map(signal.getsignal, _SIGNALS):
        if isinstance(handler, _InterruptHandler):
            handler.raises = raises


@contextmanager
def short_warnings() -> Iterator[None]:
    """Print warnings about files as plain sentences, without a source line."""
    usual = warnings.formatwarning

    def plain(message: Warning | str, category: type[Warning], *where: Any, **line: Any) -> str:
        if issubclass(category, FileWarning):
            return f"{message}\n"
        return usual(message, category, *where, **line)

    warnings.formatwarning = plain
    try:
        yield
    finally:
        warnings.formatwarning = usual
