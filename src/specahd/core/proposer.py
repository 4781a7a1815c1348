"""The interface of proposers, which answer requests for programs and texts, and their replies."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from specahd.core.contract import Contract, Request
from specahd.core.tariff import Tariff


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply: its text, tokens and money."""

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0

    def __add__(self, other: "Reply") -> "Reply":
        """Add the costs of two replies; the sum has no text."""
        return Reply(
            "",
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cost + other.cost,
        )


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
