"""Rate limits: requests and tokens per minute."""

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

WINDOW = 60.0
"""Seconds over which requests and tokens are counted."""


@dataclass(slots=True)
class RequestSlot:
    """One admitted request: its time (seconds of the clock) and its number of tokens."""

    time: float
    tokens: int


class RateLimiter:
    """A limiter that delays requests: no 60 seconds have more requests or tokens than allowed.

    The tokens of a request are known only afterwards: it is admitted
    with an estimate, which :meth:`correct` replaces. A request of more tokens than a
    minute allows is admitted alone.

    Parameters
    ----------
    requests_per_minute, tokens_per_minute
        At least 1 each; None for no limit.
    clock
        Returns seconds; monotonic.
    sleep
        Waits for a number of seconds of the clock.

    """

    def __init__(
        self,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._requests = requests_per_minute
        self._tokens = tokens_per_minute
        self._clock = clock
        self._sleep = sleep
        self._slots: deque[RequestSlot] = deque()
        # The waiting thread holds this lock, so that later ones cannot overtake it.
        self._queue_lock = threading.Lock()
        self._lock = threading.Lock()

    def acquire(self, tokens: int) -> RequestSlot:
        """Wait until a request of about ``tokens`` tokens is allowed, and count it."""
        with self._queue_lock:
            while True:
                with self._lock:
                    slot = RequestSlot(self._clock(), tokens)
                    wait = self._delay(slot)
                    if wait <= 0:
                        self._slots.append(slot)
                        return slot
                self._sleep(wait)

    def correct(self, slot: RequestSlot, tokens: int) -> None:
        """Replace a request's estimate by its actual number of tokens."""
        with self._lock:
            slot.tokens = tokens

    def _delay(self, slot: RequestSlot) -> float:
        """Return the seconds to wait before the next check, 0 if the request is allowed."""
        while self._slots and self._slots[0].time + WINDOW <= slot.time:
            self._slots.popleft()
        taken = sum(earlier.tokens for earlier in self._slots) + slot.tokens
        crowded = self._requests is not None and len(self._slots) >= self._requests
        heavy = self._tokens is not None and taken > self._tokens
        if self._slots and (crowded or heavy):
            return self._slots[0].time + WINDOW - slot.time
        return 0.0
