"""EoH-S (Liu et al. 2025): a set of programs, of which each instance has a good one."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from specahd.core.contract import Operator, Parent, Treatment
from specahd.core.errors import ConfigError
from specahd.core.program import Outcome
from specahd.routing.base import FloatArray
from specahd.search.base import Query, RoundStart, Sample

INITIAL = Operator(
    "i1",
    "Write a new program from scratch. Do not start from the example; choose an approach "
    "of your own that fits the problem.",
)
COMPLEMENT = Operator(
    "cs",
    "Each of {parents} does well on other kinds of instances. Find out why, and write a new "
    "program that differs from them in its form.",
    parents=2,
    treatment=Treatment.COMBINE,
)
IMPROVE = Operator(
    "m1",
    "Write an improved version of {parents}, in a modified form.",
    parents=1,
    treatment=Treatment.RESTRUCTURE,
)


class EoHS:
    """A set that is chosen for coverage; complementary pairs and single members are varied.

    Fresh programs until ``population`` of them were measured, or twice as many asked for; of
    these the best by mean found the set. Then pairs whose responses lie far apart and single
    members take turns as parents. Once as many children are there as the set has members, the
    set is chosen anew from both (:func:`coverage_order`). It never waits: parents come from the
    set as it is when they are asked for, as with the several threads of the original.

    Deviations from the released code:

    - The pair that lies farthest apart is the likeliest, as the paper and the code's own comment
      say; ``released_weighting`` gives it the least weight, as the code does.
    - The programs carried over, at first the seed program, are members: every method of a
      comparison begins with the same.
    - ``members`` take in the children that no survival has seen yet: what a budget leaves in the
      unfinished generation would be lost.
    - A program that fails on some tasks scores 0 there, as with every method; there it fails.
    - With no member a fresh program is asked for, with one an improvement.

    Parameters
    ----------
    population
        Programs of the set, at least 2.
    released_weighting
        Weigh pairs as the released code does.
    """

    def __init__(self, population: int = 10, released_weighting: bool = False) -> None:
        if population < 2:
            raise ConfigError(f"Expected method.policy.population of at least 2, got {population}.")
        self.size = population
        self.members: list[Parent] = []
        self._released = released_weighting
        self._set: list[Parent] = []
        self._children: list[Parent] = []
        self._failed = 0
        self._tried = 0
        self._founded = False

    def begin(self, start: RoundStart) -> None:
        """Choose the set of the programs carried over, by the new round's measure."""
        self._children.clear()
        self._failed = 0
        self._set = chosen(start.carried, self.size)
        self.members = self._set

    def ask(self, index: int, rng: np.random.Generator) -> Query:
        """Ask for fresh programs first, then in turn for a third to a pair and an improvement."""
        if not self._founded or not self._set:
            return Query(INITIAL)
        if index % 2 == 0 and len(self._set) > 1:
            pairs = distant_pairs(np.array([one.responses for one in self._set]))
            weights = pair_weights(len(pairs), self._released)
            pair = pairs[rng.choice(len(pairs), p=weights)]
            return Query(COMPLEMENT, tuple(self._set[row] for row in pair))
        ranks = np.arange(len(self._set))
        weights = 1.0 / (ranks + len(ranks))
        return Query(IMPROVE, (self._set[rng.choice(ranks, p=weights / weights.sum())],))

    def tell(self, sample: Sample, rng: np.random.Generator) -> None:
        """Take a new program into the generation, which ends once it is full."""
        self._tried += 1
        # A program with the responses of another adds nothing to the set.
        known = {one.responses for one in (*self._set, *self._children)}
        if sample.retained and sample.responses not in known:
            self._children.append(sample.parent)
        elif self._founded and sample.outcome is not Outcome.PARSE_ERROR:
            # Later generations end after as many evaluations, successful or not.
            self._failed += 1
        if not self._founded:
            if len(self._children) >= self.size or self._tried >= 2 * self.size:
                best = sorted([*self._set, *self._children], key=lambda one: -one.score)
                self._founded = True
                self._renew(best[: self.size])
        elif len(self._children) + self._failed >= self.size:
            self._renew(chosen([*self._set, *self._children], self.size))
        self.members = chosen([*self._set, *self._children], self.size)

    def _renew(self, survivors: list[Parent]) -> None:
        self._set = survivors
        self._children = []
        self._failed = 0


def chosen(pool: Sequence[Parent], size: int) -> list[Parent]:
    """Return a set of at most ``size`` programs, in the order of :func:`coverage_order`."""
    if not pool:
        return []
    responses = np.array([one.responses for one in pool])
    return [pool[row] for row in coverage_order(responses, size)]


def coverage_order(responses: FloatArray, size: int) -> list[int]:
    """Return the row with the best mean, then by turns the one that adds most to the coverage.

    Coverage is the sum over the columns of the best chosen response. Ties go to the better mean,
    then to the earlier row; rows that add nothing fill the set.

    Parameters
    ----------
    responses
        Shape (programs, tasks), larger is better, of any sign.
    """
    # By mean first: of equal gains, argmax takes the first.
    rows = np.argsort(-responses.mean(axis=1), kind="stable").tolist()
    taken = [rows.pop(0)]
    envelope = responses[taken[0]]
    while rows and len(taken) < size:
        gains = np.maximum(responses[rows] - envelope, 0.0).sum(axis=1)
        row = rows.pop(int(np.argmax(gains)))
        taken.append(row)
        envelope = np.maximum(envelope, responses[row])
    return taken


def distant_pairs(responses: FloatArray) -> list[tuple[int, int]]:
    """Return all pairs of rows, the farthest apart first by the sum of absolute differences."""
    pairs = list(combinations(range(len(responses)), 2))
    apart = [float(np.abs(responses[one] - responses[other]).sum()) for one, other in pairs]
    return [pairs[place] for place in np.argsort(-np.array(apart), kind="stable")]


def pair_weights(count: int, released: bool) -> FloatArray:
    """Return how likely each of ``count`` pairs is, the farthest apart first.

    Proportional to 1, 1/2, 1/3 …; in the released code to the reverse of it.
    """
    ranks = np.arange(1, count + 1)
    weights: FloatArray = 1.0 / (ranks[::-1] if released else ranks)
    weights /= weights.sum()
    return weights
