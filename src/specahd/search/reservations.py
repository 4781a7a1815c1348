"""Reservations: an upper bound on a reply's cost, reserved before its request is sent.

Whether a request may be sent depends only on the replies that were committed and the requests
that were sent before it, in index order, and never on the order in which replies arrive. So a
run ends at the same sample for any number of samplers, also if it was interrupted.
"""

from collections import deque
from dataclasses import replace
from math import ceil, floor

from specahd.core.budget import Allowance
from specahd.core.contract import Contract, Operator, Request
from specahd.core.errors import ConfigError
from specahd.core.program import Level
from specahd.core.proposer import Proposer, Reply
from specahd.search.prompts import render

UNBOUNDED_REPLY = 4096
"""Tokens reserved for a reply without a limit, unless a reply was longer."""
_PROMPT_MARGIN = 1.25
_ROUND = 2048
"""Bytes added to a first prompt for what its round adds: facts, scores, the instruction."""


class Reservations:
    """Reserved costs, which together with the paid costs stay within the allowance.

    A reply is assumed to be as long as the service allows; without a limit, as long as the
    longest so far, and no more requests are in flight than replies have come, since the first
    ones show how long a model's replies are. So a bound is exceeded by little more than what one
    reply is longer than all before it. A prompt is assumed to take one token a byte until replies
    report the true number, then a quarter more tokens a byte than the largest number so far.
    """

    def __init__(self, proposer: Proposer, allowance: Allowance) -> None:
        self._proposer = proposer
        self._allowance = allowance
        self._paid = Reply("")
        self._reserved: deque[Reply] = deque()
        self._any = False
        # Measured: tokens a byte of prompt, 0 until a reply reports any; the longest reply, and
        # the number of replies.
        self._density = 0.0
        self._longest = 0
        self._came = 0

    def require_first(self, contract: Contract, level: Level, seed: int) -> None:
        """Refuse a bound that is too small for the first request of a run.

        Raises
        ------
        ConfigError
            The message names the option and its least sufficient value.
        """
        if not self._allowance.bounded:
            return
        request = Request(contract, seed, level, 1, 0, Operator("", ""))
        most = self._most(replace(request, prompt=render(request) + " " * _ROUND))
        objection = self._allowance.objection(Reply(""), most)
        if objection is not None and most.prompt_tokens:
            raise _too_little(objection, most)

    def reserve(self, request: Request, *, needed: bool = False) -> str | None:
        """Reserve the possible cost of a reply; called in index order.

        Parameters
        ----------
        needed
            Whether to reserve it in any case, because the reply was paid for before.

        Returns
        -------
        str or None
            Reason why the request may not be sent; None if it may and its cost is reserved.

        Raises
        ------
        ConfigError
            Not even the first request of a run may be sent.
        """
        if not self._allowance.bounded:
            return None
        unlimited = self._proposer.tariff(request).max_reply is None
        if unlimited and len(self._reserved) >= max(1, self._came):
            return "The length of replies is not known yet."
        most = self._most(request)
        objection = self._allowance.objection(sum(self._reserved, self._paid), most)
        if objection is not None and not needed:
            if not self._any and most.prompt_tokens:
                raise _too_little(objection, most)
            return objection
        self._any = True
        self._reserved.append(most)
        return None

    def commit(self, request: Request, reply: Reply) -> None:
        """Replace the oldest reservation, the request's, by the reply's cost."""
        self._paid = self._paid + reply
        if not self._allowance.bounded:
            return
        self._reserved.popleft()
        self._density = max(self._density, reply.prompt_tokens / _bytes(request))
        self._longest = max(self._longest, reply.completion_tokens)
        self._came += 1

    def _most(self, request: Request) -> Reply:
        tariff = self._proposer.tariff(request)
        if tariff.max_reply == 0:
            return Reply("")
        prompt = ceil(_bytes(request) * (_PROMPT_MARGIN * self._density or 1.0))
        longest = tariff.max_reply
        if longest is None:
            longest = max(UNBOUNDED_REPLY, self._longest)
        cost = (prompt * tariff.input_price + longest * tariff.output_price) / 1e6
        return Reply("", prompt, longest, cost)


def _too_little(objection: str, most: Reply) -> ConfigError:
    option, _, bound = objection.partition(" ")[0].replace(",", "").partition("=")
    if option == "budget.max_cost":
        least = f"{(floor(most.cost * 1e4) + 1) / 1e4:.4f}"
    else:
        least = f"{most.prompt_tokens + most.completion_tokens}"
    return ConfigError(
        f"Expected {option} of at least {least}, got {bound}: the first request may take "
        f"{most.prompt_tokens:,} tokens of prompt and {most.completion_tokens:,} of reply; raise "
        "it, or bound replies with +llm.options.max_tokens=NUMBER."
    )


def _bytes(request: Request) -> int:
    return max(1, len(request.prompt.encode()))
