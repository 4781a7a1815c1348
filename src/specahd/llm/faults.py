"""Classify the failures of a service: retry, treat as a reply, or stop the run.

=============================================  ==========================================
event                                          result
=============================================  ==========================================
no connection, an incomplete body, a timeout   no reply: sent again
408, 409, 425, 429, 5xx                        no reply: sent again
200 with HTML, no JSON, no choice, an error    no reply: sent again, but HTML or another protocol
                                               before the first reply stops the run
a reply: truncated, refused, empty, invalid    a reply
a refusal of the prompt: its content, length   a reply with that refusal: a retry is useless
credit exhausted, whatever the status          the run stops, until the user corrects it
any other status                               the run stops, until the user corrects it
=============================================  ==========================================

A request that fails in all ``llm.attempts`` attempts raises a
TransportError, and its ticket is refunded. Only a reply uses a ticket.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from specahd.llm.keys import Key

_PASSING = {408, 409, 425, 429}
_CREDIT = {
    "1113",  # GLM: the account is in arrears
    "billing_hard_limit_reached",
    "billing_not_active",
    "insufficient_balance",
    "insufficient_quota",
}
_BLOCKED = {
    "1301",  # GLM: sensitive content
    "content_filter",
    "content_policy_violation",
}
_NO_CREDIT = re.compile(
    r"insufficient (balance|credit|quota)|credit balance is too low|余额不足", re.IGNORECASE
)
_RISKY = re.compile(r"content exists risk", re.IGNORECASE)  # DeepSeek, which gives no code
_LONG = {
    "1261",  # GLM: the prompt exceeds the maximum length
    "context_length_exceeded",
    "exceed_context_size_error",
    "string_above_max_length",
}
_TOO_LONG = re.compile(
    r"context (length|window|size)|(prompt|input|request|messages?)\b[^.]{0,60}\b"
    r"(too (long|large|many tokens)|exceeds?|longer than)|range of input length|too many tokens|"
    r"reduce the length|超长",
    re.IGNORECASE,
)
# Number of characters of a message that are shown, and that are read.
_LONGEST, _READ = 200, 10_000
# Number of bytes of a refusal that are read; a cut one is no JSON.
_LONGEST_BODY = 2**20


class RetryableError(Exception):
    """A request got no reply; it may be repeated.

    Parameters
    ----------
    retry_after
        Seconds that the service requires before the next request.
    """

    def __init__(self, reason: str, retry_after: float = 0.0) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class Blocked(Exception):
    """The service refuses this prompt; its message is the reply."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """An error of a service: its codes, in lower case, and its message."""

    codes: frozenset[str] = frozenset()
    message: str = ""

    @classmethod
    def from_field(cls, error: object) -> "Complaint":
        """Read an ``error`` field of any form."""
        # Not by recursion: a body may be nested as deeply as it likes.
        while isinstance(error, Mapping) and isinstance(error.get("error"), Mapping | str):
            error = error["error"]
        if not isinstance(error, Mapping):
            return cls(message=error if isinstance(error, str) else "")
        codes = (error.get("code"), error.get("type"))
        return cls(
            frozenset(_in_words(code).lower() for code in codes if code is not None),
            _in_words(error.get("message", "")),
        )

    @classmethod
    def from_body(cls, body: bytes) -> "Complaint":
        """Read the body of a refusal; HTML pages give an empty complaint."""
        try:
            return cls.from_field(json.loads(body[:_LONGEST_BODY]))
        except (RecursionError, ValueError):
            return cls()

    @property
    def no_credit(self) -> bool:
        return bool(self.codes & _CREDIT or _NO_CREDIT.search(self.message))

    @property
    def blocked(self) -> bool:
        return bool(self.codes & _BLOCKED or _RISKY.search(self.message))

    def is_too_long(self, status: int) -> bool:
        """Return whether the prompt is longer than the model or the service can read."""
        words = self.codes & _LONG or _TOO_LONG.search(self.message)
        return status == 413 or bool(status in (400, 422) and words)


def _in_words(value: object) -> str:
    """Return a field of any form as a text; empty if it is nested too deeply."""
    try:
        return str(value)
    except RecursionError:
        return ""


def is_passing(status: int) -> bool:
    """Return whether a status means that the same request may succeed later."""
    return status in _PASSING or status >= 500


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float:
    """Return the seconds to wait according to a response, 0 if it has none.

    ``Retry-After`` holds seconds or a date (RFC 9110, section 10.2.3); a date without a zone is
    of UTC.
    """
    asked = headers.get("retry-after", "")
    try:
        seconds = float(asked)
    except ValueError:
        try:
            moment = parsedate_to_datetime(asked)
        except (OverflowError, ValueError):
            return 0.0
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        seconds = (moment - (now or datetime.now(UTC))).total_seconds()
    return seconds if seconds > 0 and math.isfinite(seconds) else 0.0


def quote_foreign(text: str, key: Key | None = None) -> str:
    """Return a foreign text for use in a message: one short line, without the key."""
    text = text[:_READ]
    if key is not None:
        text = key.mask_message(text)
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return f"{line[: _LONGEST - 1]}…" if len(line) > _LONGEST else line.rstrip(".")
