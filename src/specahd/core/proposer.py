"""The interface of proposers, which answer requests for programs and texts, and their replies."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Protocol

from msgspec import Struct

from specahd.core.contract import Contract, Request
from specahd.core.plain import Count, Finite
from specahd.core.tariff import Tariff

LENGTH = "length"
"""Finish reason of a reply that was cut at its token limit."""
REFUSED = "The service refuses the prompt"
"""Beginning of the text, of one line, that stands for a reply to a prompt that is refused."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply: its text, tokens and money, and where it came from.

    Parameters
    ----------
    finish_reason
        Why the model stopped, in the service's word (``stop``, ``length``, ``tool_calls`` …).
        None: unknown, as the next two may be.
    model
        The model that answered, as the service names it.
    provider
        The host of the service, without its port; in a mixture the name of the proposer.
    """

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    finish_reason: str | None = None
    model: str | None = None
    provider: str | None = None

    @property
    def origin(self) -> dict[str, str]:
        """The known fields that say where the reply came from, for records."""
        names = ("finish_reason", "model", "provider")
        known = {name: getattr(self, name) for name in names}
        return {name: value for name, value in known.items() if value is not None}

    @property
    def record(self) -> dict[str, Any]:
        """The fields of the reply in ``wal.jsonl`` and in a cassette."""
        return {
            "reply": self.text,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "cost": self.cost,
            **self.origin,
        }

    @property
    def refused(self) -> bool:
        """Whether the service refuses the prompt, as too long or for its content."""
        return self.text.startswith(REFUSED) and "\n" not in self.text

    def __add__(self, other: "Reply") -> "Reply":
        """Add the costs of two replies; the sum has no text."""
        return Reply(
            "",
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cost + other.cost,
        )


class ReplyRecord(Struct, frozen=True, kw_only=True):
    """A reply as it is read again from ``wal.jsonl`` or a cassette."""

    reply: str
    prompt_tokens: Count
    completion_tokens: Count
    cost: Finite
    finish_reason: str | None = None
    model: str | None = None
    provider: str | None = None

    @property
    def answer(self) -> Reply:
        """The reply."""
        tokens = self.prompt_tokens, self.completion_tokens
        return Reply(self.reply, *tokens, self.cost, self.finish_reason, self.model, self.provider)


class Proposer(Protocol):
    """A source of replies: a language model, a cassette, or the offline grammar."""

    def preflight(self, contracts: Collection[Contract] = ()) -> None:
        """Check, before a run, that requests can be answered.

        Parameters
        ----------
        contracts
            The contracts of the programs that will be requested.

        Raises
        ------
        UserError
            The key, the model, the address or a contract is wrong; one sentence names it.
        """
        ...

    def propose(self, request: Request) -> Reply:
        """Answer one request; called from several threads.

        Raises
        ------
        TransportError
            No reply came; the same request may be made again.
        ServiceError
            No request will be answered until the user has corrected the cause.
        """
        ...

    def tariff(self, request: Request | None = None) -> Tariff:
        """Return the tariff of a request's reply; for None, an upper bound for all requests."""
        ...

    def close(self) -> None:
        """Abandon open requests, because the run ends."""
        ...
