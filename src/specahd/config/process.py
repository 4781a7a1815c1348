"""The process of a command: its streams, and what Ctrl-C does to it."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

INTERRUPTED = 130
"""The exit status of a command that Ctrl-C ended."""


def fill_streams() -> None:
    """Let those of 0, 1 and 2 that are closed lead nowhere, before a file takes their place."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        with suppress(OSError):
            os.fstat(number)
            continue
        # It gets the lowest number that is free, and programs that are started get it too.
        os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, closefd=False))


class _CtrlC:
    """What Ctrl-C does: it ends the process at once, or raises where that can be told of.

    Libraries swallow what is raised while they are imported, and so does Hydra while it composes.

    Parameters
    ----------
    tidy
        Is called before the process ends.
    """

    def __init__(self, tidy: Callable[[], None]) -> None:
        self.raises = False
        self._tidy = tidy

    def __call__(self, *_: object) -> None:
        if self.raises:
            raise KeyboardInterrupt
        self._tidy()
        os.write(2, b"Interrupted.\n")
        os._exit(INTERRUPTED)


@contextmanager
def interruptible(tidy: Callable[[], None]) -> Iterator[None]:
    """Have Ctrl-C end a command in one line, until :func:`raise_interrupts` is called.

    Before and after it ends the process without a word, as ``specahd/__init__.py`` asks for. Of a
    process in which that was not asked for, Ctrl-C is left as it is.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGINT, _CtrlC(tidy))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def raise_interrupts() -> None:
    """Have Ctrl-C raise from now on: there is something to be told of, or kept."""
    _set_raising(True)


@contextmanager
def nothing_kept() -> Iterator[None]:
    """Have Ctrl-C end the process at once meanwhile: there is nothing yet to be kept."""
    _set_raising(False)
    try:
        yield
    finally:
        _set_raising(True)


def _set_raising(raises: bool) -> None:
    handler = signal.getsignal(signal.SIGINT)
    if isinstance(handler, _CtrlC):
        handler.raises = raises
