"""The one ledger of a run: tickets, auxiliary calls, tokens and money."""

import threading
from dataclasses import dataclass

from specahd.core.options import Effect, check_options, option
from specahd.core.proposer import Reply


@dataclass(frozen=True, slots=True)
class Spent:
    """The counts of the ledger at one moment."""

    tickets: int
    refunds: int
    auxiliary_calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float

    @property
    def bill(self) -> str:
        """The tokens and money that replies took, as a phrase; empty if both are zero."""
        tokens = self.prompt_tokens + self.completion_tokens
        if not tokens and not self.cost:
            return ""
        return f"{tokens:,} tokens, {self.cost:.4f} US dollars"


@dataclass(frozen=True, slots=True)
class Allowance:
    """Bounds on the cost and tokens of the replies of a run; None for no bound.

    Parameters
    ----------
    cost
        Most money for all replies, in the currency of the prices.
    tokens
        Most prompt and completion tokens together.
    """

    cost: float | None = None
    tokens: int | None = None

    @property
    def bounded(self) -> bool:
        """Whether there is any bound."""
        return self.cost is not None or self.tokens is not None

    def objection(self, spent: Reply, most: Reply) -> str | None:
        """Return a sentence on the bound that one more reply might exceed, None if there is none.

        Parameters
        ----------
        spent
            The cost of the replies before it, and the possible cost of replies still pending.
        most
            The most that the reply may cost.
        """
        if self.cost is not None and (
            spent.cost >= self.cost or spent.cost + most.cost > self.cost
        ):
            over = spent.cost - self.cost
            excess = f", {over:.4f} over it by a reply longer than expected" if over > 0 else ""
            return (
                f"budget.max_cost={self.cost:g} leaves no room for another request: "
                f"{spent.cost:.4f} is paid{excess}, and one may cost {most.cost:.4f}"
            )
        tokens = spent.prompt_tokens + spent.completion_tokens
        more = most.prompt_tokens + most.completion_tokens
        if self.tokens is not None and (tokens >= self.tokens or tokens + more > self.tokens):
            over = tokens - self.tokens
            excess = f", {over:,} over it by a reply longer than expected" if over > 0 else ""
            return (
                f"budget.max_tokens={self.tokens:,} leaves no room for another request: "
                f"{tokens:,} are spent{excess}, and one may take {more:,}"
            )
        return None


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits on the use of a training run; the files of ``conf/budget`` define named budgets.

    A pool size of None means all instances of the pool. A request that might exceed a bound is not
    sent, and the run ends.

    Raises
    ------
    ConfigError
        A value is out of its range.
    """

    programs: int = option(words="programs that are asked for, both levels together", low=0)
    rounds: int = option(4, "rounds that share them, at least 1", 1)
    lower_share: float = option(0.5, "the lower level's share of them, 0 to 1", 0, 1)
    max_cost: float | None = option(
        None, "US dollars that replies may cost; null: no bound", 0, effect=Effect.BOUND
    )
    max_tokens: int | None = option(
        None, "tokens that requests and replies may take; null: no bound", 0, effect=Effect.BOUND
    )
    lower_train: int | None = option(None, "instances of this pool that are used; null: all", 1)
    upper_train: int | None = option(None, "instances of this pool that are used; null: all", 1)
    selection: int | None = option(None, "instances of this pool that are used; null: all", 1)
    validation: int | None = option(None, "instances of this pool that are used; null: all", 1)
    name: str = option("", "what runs with this budget are called", effect=Effect.ACCESS)

    def __post_init__(self) -> None:
        check_options(self, "budget.")

    @property
    def allowance(self) -> Allowance:
        """The bounds on the cost and tokens of replies."""
        return Allowance(self.max_cost, self.max_tokens)


class Ledger:
    """Thread-safe counter of the tickets, tokens and money that a run spends.

    A ticket is taken before a program is requested, stays spent when a reply
    comes (parsable or not), and is refunded when the transport failed. A request for a text
    is an auxiliary call: it takes no ticket, but its tokens and money count.

    Parameters
    ----------
    tickets
        Number of programs that may be requested, at least 0.
    """

    def __init__(self, tickets: int) -> None:
        self.total = tickets
        self._lock = threading.Lock()
        self._taken = 0
        self._refunds = 0
        self._auxiliary_calls = 0
        self._prompt_tokens = 0
        self._completion_tokens = 0
        self._cost = 0.0

    def take(self) -> bool:
        """Take one ticket; return False when none is left."""
        with self._lock:
            if self._taken >= self.total:
                return False
            self._taken += 1
            return True

    @property
    def left(self) -> int:
        """The number of tickets that are left."""
        with self._lock:
            return self.total - self._taken

    def refund(self) -> None:
        """Refund the ticket of a request that got no reply."""
        with self._lock:
            self._taken -= 1
            self._refunds += 1

    def count(self, reply: Reply, *, auxiliary: bool = False, refunds: int = 0) -> None:
        """Add the tokens and money of a reply; an auxiliary call takes no ticket.

        ``refunds`` is the number of refunds recorded with a reply that an earlier process got.
        """
        with self._lock:
            self._refunds += refunds
            self._auxiliary_calls += auxiliary
            self._prompt_tokens += reply.prompt_tokens
            self._completion_tokens += reply.completion_tokens
            self._cost += reply.cost

    def read(self) -> Spent:
        """Return a consistent snapshot of the counts."""
        with self._lock:
            return Spent(
                self._taken,
                self._refunds,
                self._auxiliary_calls,
                self._prompt_tokens,
                self._completion_tokens,
                self._cost,
            )
