"""The process of a command: its streams, and what Ctrl-C does to it."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress


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


@contextmanager
def interruptible() -> Iterator[None]:
    """Have Ctrl-C raise meanwhile, where it ended a command that was not ready to tell of it.

    That is what ``specahd/__init__.py`` asks for while a command is imported; so it is again
    while the interpreter ends.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
