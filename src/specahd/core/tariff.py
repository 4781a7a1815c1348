"""Prices of a model service, known before a request is made."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tariff:
    """The prices of one model, and the bound on the length of its replies.

    Parameters
    ----------
    input_price, output_price
        US dollars per million tokens; the dearer price where some tokens are cheaper.
    max_reply
        Tokens of the longest reply that is allowed. None: no bound. 0: the proposer counts no
        tokens, neither of prompts nor of replies.
    """

    input_price: float = 0.0
    output_price: float = 0.0
    max_reply: int | None = None

    @property
    def priced(self) -> bool:
        """Whether a reply costs anything."""
        return self.input_price > 0 or self.output_price > 0

    def dearer(self, other: "Tariff") -> "Tariff":
        """Return the smallest tariff that is an upper bound of both."""
        bounds = (self.max_reply, other.max_reply)
        return Tariff(
            max(self.input_price, other.input_price),
            max(self.output_price, other.output_price),
            None if None in bounds else max(bound for bound in bounds if bound is not None),
        )


FREE = Tariff(max_reply=0)
"""The tariff of proposers that cost nothing and count no tokens."""
