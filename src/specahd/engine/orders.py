"""Orders to the engine's child and its reports, as plain int64 arrays.

A call of a slice names the launched upper program. Its inputs are an order (:meth:`Order.encode`)
and the routes to begin with, in the form of the problem's ``flat``: all customers, 0 between two
routes; for the SDVRP also the quantities of these deliveries, an array as long; for the TSP all
nodes in the order in which they follow node 0. If the routes are empty, the child continues its
search. The routes of a part are some of a solution's (CVRP, VRPTW); the others do not change.
Lower programs are numbered in the order in which they were launched. An order without repairs
requests the groups that the upper program names on the routes; the answer is their sizes and their
customers. A call of a lower program has one group as its last input, which every pass repairs.

The answer is a report (:meth:`Report.decode`) and the best routes, in the same form as above. They
are left out if the best is no better than in the answer before. For a part, the current routes are
between the two. A report is only a claim: the checker computes the costs.
"""

from dataclasses import astuple, dataclass, fields
from typing import NamedTuple, Self

import numpy as np

from specahd.routing.base import IntArray

_WORDS = 12
_WHOLE, _REAL = slice(0, 6), slice(6, _WORDS)
"""Parts of an order: its integers, and the bits of its floating-point numbers."""


@dataclass(frozen=True, slots=True)
class Order:
    """One slice of a search.

    Parameters
    ----------
    seed
        The seed of the random numbers; used where routes are given.
    repairs
        The number of customers to insert; the slice then is a function of its inputs. 0 if only
        groups are requested.
    seconds
        If not 0, CPU seconds after which the slice ends in any case.
    max_groups, max_size
        Limits of each pass: the number K of groups, and the number of customers of a group, at
        most :data:`specahd.engine.state.MAX_SIZE`.
    progress, end_progress
        The shares of the whole search that are over when the slice begins and when it ends.
    temperature, end_temperature
        Temperatures of the annealing, in units of cost; with 0, no higher cost is accepted.
    lowers
        The indices of the lower programs for this slice; one is drawn uniformly for each group.
    part
        Whether the routes are only some of a solution's.
    exchanges
        The number of exchanges of tails or runs, or of turned runs, tried for each group.
    step_repairs
        As how many of ``repairs`` a step of the upper program's loops counts.
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
    step_repairs: float = 0.0

    @classmethod
    def asking(cls, seed: int, max_groups: int, max_size: int, progress: float) -> Self:
        """Return an order without repairs, which requests groups only."""
        return cls(seed, 0, 0.0, max_groups, max_size, progress, progress, 0.0, 0.0)

    def encode(self) -> IntArray:
        """Return the order as an input of a call."""
        words = np.zeros(_WORDS + len(self.lowers), np.int64)
        limits = self.repairs, self.max_groups, self.max_size
        words[_WHOLE] = (self.seed, *limits, int(self.part), self.exchanges)
        words.view(np.float64)[_REAL] = (
            *(self.seconds, self.progress, self.end_progress),
            *(self.temperature, self.end_temperature, self.step_repairs),
        )
        words[_WORDS:] = self.lowers
        return words

    def progress_at(self, share: float) -> float:
        """Return the share of the search that is over after a share of the slice."""
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
        seconds, begin, end, start_temperature, end_temperature, step_repairs = (
            words[_REAL].view(np.float64).tolist()
        )
        limits, progress = (max_groups, max_size), (begin, end)
        heat = start_temperature, end_temperature
        lowers = tuple(words[_WORDS:].tolist())
        return cls(
            *(seed, repairs, seconds, *limits, *progress, *heat),
            *(lowers, bool(part), exchanges, step_repairs),
        )


class Work(NamedTuple):
    """What the passes of a search did; the numbers are those of a :class:`Report`."""

    passes: int
    groups: int
    members: int
    kept: int
    steps: int
    repairs: int


@dataclass(frozen=True, slots=True)
class Report:
    """A child's report on its search since it received routes.

    Parameters
    ----------
    repairs, passes
        The numbers of customers inserted (with what steps count as), and of passes.
    kept
        The number of groups that were accepted.
    better
        The number of passes that ended with a new best solution.
    invalid_positions
        The number of lower programs' answers that were no position. The cheapest was taken.
    invalid_customers
        The number of entries in upper programs' answers that were no customer, a customer a
        second time, or one too many.
    groups, members
        The numbers of groups that were tried, and of their customers.
    steps
        The number of steps that the loops of the upper program took.
    cost, best
        The costs of the current and the best solution.
    """

    repairs: int
    passes: int
    kept: int
    better: int
    invalid_positions: int
    invalid_customers: int
    groups: int
    members: int
    steps: int
    cost: float
    best: float

    @property
    def work(self) -> Work:
        """What the passes did."""
        return Work(*(getattr(self, name) for name in Work._fields))

    def encode(self) -> IntArray:
        """Return the report as an array of an answer."""
        costs = np.array([self.cost, self.best]).view(np.int64)
        return np.array([*astuple(self)[:-2], *costs.tolist()], np.int64)

    @classmethod
    def decode(cls, words: IntArray) -> Self:
        """Return the record that :meth:`encode` encoded.

        Raises
        ------
        ValueError
            The array is no report.
        """
        if len(words) != (length := len(fields(cls))):
            raise ValueError(f"Expected a report of {length} numbers, got {len(words)}.")
        return cls(*words[:-2].tolist(), *words[-2:].view(np.float64).tolist())
