"""Who answers requests for programs and texts, and what comes back."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from specahd.core.contract import Contract, Request
from specahd.core.tariff import Tariff


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: text, and what it cost."""

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0

    def __add__(self, other: "Reply") -> "Reply":
        """Add up what two replies cost; the text of neither remains."""
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
        """Return what the reply to a request will be charged at; None: what none exceeds."""
        ...

    def close(self) -> None:
        """Give up what is being waited for: the run ends."""
        ...
