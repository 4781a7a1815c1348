"""Orders to the engine's child and its reports, as plain int64 arrays.

A call of a slice names the launched upper program; its inputs are an order, as :meth:`Order.encode`
makes it, and routes to begin with, as the problem's ``flat`` has them: all customers, 0 between two
routes; for the SDVRP also what each is given there, an array as long; for the TSP all nodes in the
order in which they follow node 0. Where these are empty the child goes on from where it was. The
routes of a part are some of a solution's (CVRP, VRPTW); the others stand. Lower
programs are numbered in the order in which they were launched. An order of no repairs asks which
groups the upper program names on the routes; the answer is their lengths and their customers. A
call of a lower program has one group as its last input, which every pass repairs.

The answer is a report, as :meth:`Report.decode` reads it, and the best routes, in the same form as
above; they are left out if the best is no better than what the call before this one told. Of a part
the current routes stand between the two. What a report says is a claim: costs are the checker's
business.
"""

from dataclasses import astuple, dataclass
from typing import Self

import numpy as np

from specahd.routing.base import IntArray

_WORDS = 11
_WHOLE, _REAL = slice(0, 6), slice(6, _WORDS)
"""Where an order has its integers, and where the bits of its other numbers."""


@dataclass(frozen=True, slots=True)
class Order:
    """One slice of a search.

    Parameters
    ----------
    seed
        The seed of the random numbers; used where routes are given.
    repairs
        How many customers to insert; the slice then is a function of its inputs. None where only
        groups are asked for.
    seconds
        If not 0, CPU seconds after which the slice ends anyhow.
    max_groups, max_size
        Limits of each pass: K groups, and the most customers of a group, at most
        :data:`specahd.engine.state.MAX_SIZE`.
    progress, end_progress
        How much of the whole search is over when the slice begins and when it ends.
    temperature, end_temperature
        Temperatures of the annealing, in units of cost; 0 accepts nothing dearer.
    lowers
        Which lower programs repair the groups of this slice, drawn evenly for each group.
    part
        Whether the routes are a part of a solution's.
    exchanges
        How many exchanges of tails are tried for each group (VRPTW).
    """

    seed: int
    repairs: int
    seconds: float
    max_groups: int
    max_size: int
    progress: float
    end_progress: float
    temperature: float
    end_temperature: float
    lowers: tuple[int, ...] = (0,)
    part: bool = False
    exchanges: int = 0

    @classmethod
    def asking(cls, seed: int, max_groups: int, max_size: int, progress: float) -> Self:
        """Return an order without repairs, which asks for groups only."""
        return cls(seed, 0, 0.0, max_groups, max_size, progress, progress, 0.0, 0.0)

    def encode(self) -> IntArray:
        """Return the order as an input of a call."""
        words = np.zeros(_WORDS + len(self.lowers), np.int64)
        limits = self.repairs, self.max_groups, self.max_size
        words[_WHOLE] = (self.seed, *limits, int(self.part), self.exchanges)
        words.view(np.float64)[_REAL] = (
            *(self.seconds, self.progress, self.end_progress),
            *(self.temperature, self.end_temperature),
        )
        words[_WORDS:] = self.lowers
        return words

    def progress_at(self, share: float) -> float:
        """Return how much of the search is over after a share of the slice."""
        return self.progress + (self.end_progress - self.progress) * share

    def temperature_at(self, share: float) -> float:
        """Return the temperature after a share of the slice: it falls by equal factors."""
        if self.temperature <= 0.0:
            return 0.0
        return float(self.temperature * (self.end_temperature / self.temperature) ** share)

    @classmethod
    def decode(cls, words: IntArray) -> Self:
        """Return the record that :meth:`encode` encoded."""
        seed, repairs, max_groups, max_size, part, exchanges = words[_WHOLE].tolist()
        seconds, begin, end, hot, cold = words[_REAL].view(np.float64).tolist()
        limits, progress = (max_groups, max_size), (begin, end)
        lowers = tuple(words[_WORDS:].tolist())
        heat = hot, cold
        return cls(seed, repairs, seconds, *limits, *progress, *heat, lowers, bool(part), exchanges)


@dataclass(frozen=True, slots=True)
class Report:
    """A child's report on its search since it got routes.

    Parameters
    ----------
    repairs, passes
        Customers inserted, and calls of the upper program.
    kept
        Groups that stayed as they were inserted.
    better
        How many passes ended with a new best solution.
    mended
        Answers of lower programs that were no position; the cheapest was taken.
    dropped
        Entries of upper programs' answers that were no customer, or one a second time, or one
        too many.
    cost, best
        The costs of the current and the best solution.
    """

    repairs: int
    passes: int
    kept: int
    better: int
    mended: int
    dropped: int
    cost: float
    best: float

    def encode(self) -> IntArray:
        """Return the report as an array of an answer."""
        costs = np.array([self.cost, self.best]).view(np.int64)
        return np.array([*astuple(self)[:6], *costs.tolist()], np.int64)

    @classmethod
    def decode(cls, words: IntArray) -> Self:
        """Return the record that :meth:`encode` encoded.

        Raises
        ------
        ValueError
            It is no report.
        """
        if len(words) != 8:
            raise ValueError(f"Expected a report of 8 numbers, got {len(words)}.")
        return cls(*words[:6].tolist(), *words[6:].view(np.float64).tolist())
