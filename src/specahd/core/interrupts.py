"""Ctrl-C during long work: what is in hand is finished first."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Interrupts:
    """Remembers whether the user has pressed Ctrl-C.

    Parameters
    ----------
    numbers
        The signals that count as such.

    Attributes
    ----------
    pressed
        Once, while it was :meth:`held`; a second time raises at once.
    """

    def __init__(self, *numbers: signal.Signals) -> None:
        self.pressed = False
        self._numbers = numbers or (signal.SIGINT,)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let Ctrl-C wait until the caller looks; elsewhere than in the main thread do nothing."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self._press) for number in self._numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _press(self, *_: Any) -> None:
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True
