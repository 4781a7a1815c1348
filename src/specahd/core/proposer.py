"""The interface that answers requests for programs and texts, and its replies."""

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
    """Answers requests: a language model, a cassette, or the offline grammar."""

    def preflight(self, contracts: Collection[Contract] = ()) -> None:
        """Make sure, before a run, that requests can be answered.

        Parameters
        ----------
        contracts
            Those of the programs that will be requested.

        Raises
        ------
        UserError
            With one sentence: the key, the model, the address or the contract that is wrong.
        """
        ...

    def propose(self, request: Request) -> Reply:
        """Answer one request; called from several threads.

        Raises
        ------
        TransportError
            No reply came; the same request may be made again.
        ServiceError
            No request will be answered until the user has mended something.
        """
        ...

    def tariff(self, request: Request | None = None) -> Tariff:
        """Return the tariff of a request's reply; for None, an upper bound for all requests."""
        ...

    def close(self) -> None:
        """Abandon open requests: the run ends."""
        ...
