"""Ctrl-C during a search: the commit in hand is finished first."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Interrupts:
    """Remembers whether the user has pressed Ctrl-C.

    Attributes
    ----------
    pressed
        Once, while it was :meth:`held`; a second time raises at once.
    """

    def __init__(self) -> None:
        self.pressed = False

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let Ctrl-C wait until the caller looks; elsewhere than in the main thread do nothing."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGINT, self._press)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _press(self, *_: Any) -> None:
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True
