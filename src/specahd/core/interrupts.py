"""Deferred handling of Ctrl-C: the current step ends first."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Interrupts:
    """A record of whether the user has pressed Ctrl-C.

    Parameters
    ----------
    signals
        The signals that count as Ctrl-C; SIGINT by default.

    Attributes
    ----------
    pressed
        Whether a signal came inside :meth:`deferred`; a second one raises KeyboardInterrupt.
    """

    def __init__(self, *signals: signal.Signals) -> None:
        self.pressed = False
        self._signals = signals or (signal.SIGINT,)

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Only record Ctrl-C in the block, in ``pressed``; do nothing outside the main thread."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self._on_signal) for number in self._signals}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_signal(self, *_: Any) -> None:
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True
