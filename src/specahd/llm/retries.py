"""Asking a service until it answers: how often, with which waits, and for how long in all."""

import json
import logging
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Set
from typing import Any, Protocol, TypeVar

import tenacity

from specahd.core.errors import ConfigError
from specahd.llm.faults import RetryableError

MAX_BODY = 32 * 2**20
"""Longest body that is read, in bytes."""

_BRIEFLY = 3
_LOG = logging.getLogger(__name__)
T = TypeVar("T")


class RetryPolicy:
    """Makes a request again that got no answer, after waits that grow at random.

    Parameters
    ----------
    attempts
        How often one request is made before it fails.
    backoff, patience
        Seconds of the longest wait after the first attempt, which doubles with
        each further one, and of the longest wait of all, Retry-After included.
    group
        The conf group whose options these are, for messages.

    Raises
    ------
    ConfigError
        An option is out of range.
    """

    def __init__(self, attempts: int, backoff: float, patience: float, group: str = "llm") -> None:
        self._attempts = int(number(f"{group}.attempts", attempts, 1))
        self._backoff = number(f"{group}.backoff", backoff, 0)
        self._patience = number(f"{group}.patience", patience, 0)
        self._closed = threading.Event()

    @property
    def ended(self) -> bool:
        """Whether it was closed."""
        return self._closed.is_set()

    def close(self) -> None:
        """Give up: whoever waits for the next attempt fails at once, others with their attempt."""
        self._closed.set()

    def pause(self, seconds: float) -> None:
        """Wait, unless it is closed meanwhile.

        Raises
        ------
        RetryableError
            It was closed.
        """
        if self._closed.wait(seconds):
            raise RetryableError("the client was closed")

    def ask(self, service: object, request: Callable[[], T]) -> T:
        """Make a request as often as it takes; the service is named in the log.

        Raises
        ------
        RetryableError
            No attempt was answered.
        """

        def tell(state: tenacity.RetryCallState) -> None:
            _LOG.warning(
                "%s: %s; attempt %d follows in %.1f s.",
                *(service, _fault(state), state.attempt_number + 1, state.upcoming_sleep),
            )

        return self._retrying(tenacity.stop_after_attempt(self._attempts), tell)(request)

    def ask_briefly(self, request: Callable[[], T], seconds: float) -> T:
        """Make a request a few times, within so many seconds; nothing is written to the log.

        Raises
        ------
        RetryableError
            No attempt was answered.
        """
        stop = tenacity.stop_after_attempt(_BRIEFLY) | tenacity.stop_before_delay(seconds)
        return self._retrying(stop)(request)

    def _retrying(
        self,
        stop: tenacity.stop.stop_base,
        tell: Callable[[tenacity.RetryCallState], None] | None = None,
    ) -> tenacity.Retrying:
        return tenacity.Retrying(
            stop=stop,
            wait=self._wait,
            retry=tenacity.retry_if_exception_type(RetryableError),
            sleep=self.pause,
            before_sleep=tell,
            reraise=True,
        )

    def _wait(self, state: tenacity.RetryCallState) -> float:
        """Return the seconds to the next attempt: full jitter, but no less than asked for."""
        jitter = tenacity.wait_random_exponential(self._backoff, self._patience)(state)
        return max(jitter, min(_fault(state).retry_after, self._patience))


class StreamedBody(Protocol):
    """What comes back, in pieces."""

    def iter_bytes(self) -> Iterator[bytes]: ...


def read_body(body: StreamedBody, deadline: float, late: str) -> bytes:
    """Return a body that ends in time.

    Parameters
    ----------
    deadline
        In seconds of the monotonic clock.
    late
        What is said of one that does not.

    Raises
    ------
    RetryableError
        It comes too late, or is too long.
    """
    pieces: list[bytes] = []
    length = 0
    for piece in body.iter_bytes():
        pieces.append(piece)
        length += len(piece)
        if length > MAX_BODY:
            raise RetryableError(f"a body of more than {MAX_BODY} bytes")
        # A service that is busy may send blanks for as long as it likes.
        if time.monotonic() > deadline:
            raise RetryableError(late)
    return b"".join(pieces)


def seconds_until(deadline: float) -> tuple[float, str]:
    """Return the seconds that are left, and what is said once they have passed."""
    left = max(deadline - time.monotonic(), 0.001)
    return left, f"no answer within {round(left, 1):g} seconds"


def number(option: str, value: float, low: float) -> float:
    """Return an option's value.

    Raises
    ------
    ConfigError
        It is no finite number of at least ``low``.
    """
    # Hydra does not check types here; nan fails the comparison.
    sound = isinstance(value, int | float) and not isinstance(value, bool)
    if not (sound and value >= low and math.isfinite(value)):
        raise ConfigError(f"Expected {option} of at least {low}, got {value!r}.")
    return value


def plain_options(
    options: Mapping[str, Any] | None, reserved: Set[str], group: str = "llm"
) -> dict[str, Any]:
    """Return what requests say beyond the names that are reserved.

    Raises
    ------
    ConfigError
        One of those is among them, or a value is not plain.
    """
    try:
        plain: dict[str, Any] = dict(options or {})
        json.dumps(plain, allow_nan=False)
    except (TypeError, ValueError):
        raise ConfigError(f"Expected {group}.options to map names to plain values.") from None
    for name in sorted(reserved & plain.keys()):
        raise ConfigError(f"Expected {group}.options without {name}, which is not an option.")
    return plain


def _fault(state: tenacity.RetryCallState) -> RetryableError:
    fault = state.outcome.exception() if state.outcome else None
    return fault if isinstance(fault, RetryableError) else RetryableError("no attempt was made")
