"""Racing and successive halving: a candidate that would not be kept ends early.

In a race a candidate is measured on the tasks of a round in a random order. After 8, 16, 32, ... of
them, an upper confidence bound says what it could still add to the programs that were kept when it
was requested. The difference is paired: to the same programs on the same tasks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Self

import numpy as np

from specahd.repair.repertoire import greedy_selection
from specahd.routing.base import FloatArray

FIRST = 8
"""Tasks before the first check; each later check comes after twice as many."""
DEVIATIONS = 0.5
"""Standard errors in the bound."""
RARE = 0.5
"""Number of tasks with a typical gain, among as many as were tried, that may still be missing.

Most programs gain on few tasks, so that the deviation of a small sample may be zero.
"""


def rungs(finalists: int, shortest: int, longest: int) -> list[tuple[int, int]]:
    """Return the rungs of successive halving (Jamieson and Talwalkar, 2016).

    The better half of a rung goes on to the next, whose searches are twice as long, so that each
    rung takes about as much work. The last rung has two, or more if no shorter one is possible.

    Parameters
    ----------
    shortest, longest
        Least length of a search, and the length in the last rung.

    Returns
    -------
    list of (int, int)
        By rung, the number of finalists and the length of their searches.
    """
    counts = [finalists]
    while counts[-1] > 2 and longest >= shortest << len(counts):
        counts.append(-(-counts[-1] // 2))
    return [(count, longest >> place) for place, count in enumerate(counts[::-1])][::-1]


def stopped(tried: int, all_: int, name: str) -> str:
    """Return the sentence about a candidate that was stopped."""
    return f"stopped after {tried} of {all_} {name}, as it would not be kept"


@dataclass(frozen=True, slots=True, eq=False)
class Race:
    """The programs with which a candidate is compared; their scores are known on every task.

    Parameters
    ----------
    order
        The tasks in the order in which a candidate tries them.
    scores, own
        By kept program and task: its score, and what it adds to J by itself (β/q times its score,
        minus its price).
    last
        By task: score minus price of the last member by its mean, None if all members were
        chosen by their marginal gains.
    """

    order: tuple[int, ...]
    scores: FloatArray
    own: FloatArray
    last: FloatArray | None
    beta: float
    budget: int
    full: bool

    @classmethod
    def against(
        cls,
        scores: FloatArray,
        prices: FloatArray,
        *,
        beta: float,
        budget: int,
        size: int,
        order: Sequence[int],
    ) -> Self | None:
        """Return the race against the members, None if there is room for another one.

        Parameters
        ----------
        scores, prices
            By member and task.
        beta, budget
            Those of :func:`specahd.repair.repertoire.greedy_selection`.
        size
            Largest number of members.
        """
        if len(scores) < size:
            return None
        means = prices.mean(axis=1)
        chosen = greedy_selection(scores, beta=beta, budget=min(budget, size), prices=means)
        rest = [row for row in range(len(scores)) if row not in set(chosen)]
        last = None
        if rest:
            net = scores[rest] - prices[rest]
            last = net[int(np.argmin(net.mean(axis=1)))]
        own = beta / budget * scores[chosen] - prices[chosen]
        full = len(chosen) == min(budget, size)
        return cls(tuple(order), scores[chosen], own, last, beta, budget, full)

    @classmethod
    def to_beat(cls, scores: Sequence[float], order: Sequence[int]) -> Self:
        """Return the race against a single program, by the mean score."""
        none = np.zeros((0, len(scores)))
        return cls(tuple(order), none, none, np.array(scores), 1.0, 1, full=True)

    @property
    def checks(self) -> list[int]:
        """Numbers of tasks after which a candidate may end."""
        found = [FIRST]
        while 2 * found[-1] < len(self.order):
            found.append(2 * found[-1])
        return [tried for tried in found if tried < len(self.order)]

    def ends(self, scores: FloatArray, prices: FloatArray | float = 0.0) -> bool:
        """Return whether a candidate ends now, since it would not be kept.

        It would be kept if J were larger with it, in place of one of the chosen programs if there
        are as many as J may have; or if its mean is larger than that of the last member.

        Parameters
        ----------
        scores, prices
            Those of the candidate on the first tasks of the order.
        """
        if len(scores) not in self.checks:
            return False
        tasks = list(self.order[: len(scores)])
        weight = 1.0 - self.beta
        envelope = self.scores.max(axis=0, initial=0.0)
        own = self.beta / self.budget * scores - prices
        covered = envelope[tasks]
        if self.full:
            gains = []
            for row in range(len(self.scores)):
                others = np.delete(self.scores[:, tasks], row, axis=0).max(axis=0, initial=0.0)
                added = np.maximum(scores, others) - covered
                gains.append(own - self.own[row, tasks] + weight * added)
        else:
            gains = [own + weight * np.maximum(scores - covered, 0.0)]
        positive = envelope[envelope > 0.0]
        rare = RARE * weight * float(positive.mean()) if positive.size else 0.0
        if any(self._bound(gain, rare) >= 0.0 for gain in gains):
            return False
        return self.last is None or self._bound(scores - prices - self.last[tasks]) < 0.0

    def _bound(self, gains: FloatArray, rare: float = 0.0) -> float:
        """Return an upper confidence bound on the mean gain over all tasks.

        Parameters
        ----------
        rare
            The gain that the other tasks may have, in all as many as were tried.
        """
        done = len(gains)
        left = 1.0 - done / len(self.order)
        error = float(gains.std(ddof=1)) * sqrt(left / done)
        return float(gains.mean()) + DEVIATIONS * error + left * rare / done
