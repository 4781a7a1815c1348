"""EoH-S (Liu et al. 2025): a set of programs with a good one for each instance."""

from collections.abc import Sequence
from itertools import combinations
from typing import Annotated

import numpy as np

from specahd.core.contract import Operator, Parent, Treatment
from specahd.core.options import Option, checked
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
    """Search method whose set is chosen for coverage; it varies complementary pairs and members.

    It asks for fresh programs until ``population`` of them were measured, or twice as many were
    tried. The best of them by mean score found the set. Then the parents are in turn a pair with
    distant responses, and a single member. After ``population`` children the set is chosen anew
    from the set and the children (:func:`coverage_order`). The method never waits: it draws the
    parents from the current set, as the several threads of the original do.

    Deviations from the released code:

    - The most distant pair is the likeliest, as in the paper and in a comment of the code. With
      ``released_weighting`` it is the least likely, as the code computes it.
    - The programs carried over, at first the seed program, are members: every method of a
      comparison begins with the same.
    - ``members`` is chosen from the children of the unfinished generation too; otherwise these
      would be lost when the budget ends.
    - A program that fails on some tasks scores 0 on them, as in every method; the original
      rejects it.
    - Without members a fresh program is requested, with one member an improvement.
    """

    @checked("method.policy.")
    def __init__(
        self,
        population: Annotated[
            int, Option("programs of the set that a level keeps, at least 2", 2)
        ] = 10,
        released_weighting: Annotated[
            bool, Option("whether pairs are weighed as the released code does")
        ] = False,
    ) -> None:
        self.size = population
        self.members: list[Parent] = []
        self._released = released_weighting
        self._set: list[Parent] = []
        self._children: list[Parent] = []
        self._failed = 0
        self._tried = 0
        self._founded = False

    def begin(self, start: RoundStart) -> None:
        """Choose the set from the programs carried over, by the new round's measure."""
        self._children.clear()
        self._failed = 0
        self._set = chosen(start.carried, self.size)
        self.members = self._set

    def ask(self, index: int, rng: np.random.Generator) -> Query:
        """Return i1 until founded, then in turn a query for a pair and one for an improvement."""
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
        """Add a new program to the generation; end the generation when it is full."""
        self._tried += 1
        # A program with the responses of another adds nothing to the set.
        known = {one.responses for one in (*self._set, *self._children)}
        if sample.retained and sample.responses not in known:
            self._children.append(sample.parent)
        elif self._founded and sample.outcome not in (Outcome.PARSE_ERROR, Outcome.PROMPT_REFUSED):
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
    """Return the row with the best mean, then repeatedly the row that adds most to the coverage.

    Coverage is the sum over the columns of the best chosen response. Ties are resolved by the
    better mean, then by the earlier row. Rows that add no coverage fill the set.

    Parameters
    ----------
    responses
        Shape (programs, tasks), larger is better, of any sign.
    """
    # Sorted by mean, because argmax returns the first of equal gains.
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
    """Return the probability of each of ``count`` pairs, the farthest apart first.

    The probabilities are proportional to 1, 1/2, 1/3 …; in the released code, in reverse order.
    """
    ranks = np.arange(1, count + 1)
    weights: FloatArray = 1.0 / (ranks[::-1] if released else ranks)
    weights /= weights.sum()
    return weights
