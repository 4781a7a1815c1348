"""An adaptive large neighbourhood search with pairs of programs, which rewards the pairs.

It is how G-LNS (arXiv 2602.08253) evaluates; the constants are those of its released code.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

import numpy as np

from specahd.core.program import Outcome
from specahd.core.settings import Accept
from specahd.repair.cases import Case
from specahd.repair.merge import EPSILON, checked_merge
from specahd.repair.passes import Propose, Rebuild
from specahd.routing.base import AnyProblem, FloatArray, Region

BEST, BETTER, ACCEPTED, OTHER = 1.5, 1.2, 0.8, 0.1
"""Rewards of a step: a new best solution, a cheaper one, a dearer one that is accepted, no step."""
_KEPT = 0.5  # share of a program's weight that a step leaves
_COOLING = 0.97  # of the temperature, by step


@dataclass(frozen=True, slots=True)
class Annealing:
    """The length and the rule of acceptance of an episode.

    Parameters
    ----------
    iterations
        Number of steps, each by one pair.
    temperature
        The first temperature, as a share of the cost of the first solution.
    """

    iterations: int
    temperature: float


@dataclass(frozen=True, slots=True)
class Episode:
    """The result of an episode: the best solution's improvement, and the rewards.

    ``rewards`` has a row for each upper program and a column for each lower one: the sum over the
    steps that the pair made.
    """

    improvement: float
    rewards: tuple[tuple[float, ...], ...]


def run_episode(
    problem: AnyProblem,
    case: Case,
    proposers: Sequence[Propose],
    rebuild: Rebuild,
    lowers: int,
    annealing: Annealing,
    rng: np.random.Generator,
) -> Episode:
    """Search from y0; every step draws a pair by the weights of its programs.

    A step rebuilds one region, drawn from those that the upper program proposes for the current
    solution. Both weights move towards its reward. A program that fails is not called again on the
    solution (upper) or in the episode (lower, after a timeout), and its steps earn the least.

    Parameters
    ----------
    rebuild
        Calls some of the ``lowers`` programs, by index, with the inputs of a region.
    """
    search = _Episode(problem, case, proposers, rebuild, lowers, rng)
    temperature = annealing.temperature * case.cost
    for _ in range(annealing.iterations):
        search.step(temperature)
        temperature *= _COOLING
    improvement = (case.cost - search.best) / max(EPSILON, case.cost)
    return Episode(improvement, tuple(map(tuple, search.rewards.tolist())))


class _Episode:
    """The current solution, the weights and the rewards."""

    def __init__(
        self,
        problem: AnyProblem,
        case: Case,
        proposers: Sequence[Propose],
        rebuild: Rebuild,
        lowers: int,
        rng: np.random.Generator,
    ) -> None:
        self._problem, self._case = problem, case
        self._proposers, self._rebuild = proposers, rebuild
        self._rng = rng
        self._solution, self._cost = case.baseline, case.cost
        self.best = case.cost
        self.rewards: FloatArray = np.zeros((len(proposers), lowers))
        self._weights = np.ones(len(proposers)), np.ones(lowers)
        self._regions: dict[int, Sequence[Region]] = {}
        self._slow: set[int] = set()

    def step(self, temperature: float) -> None:
        """Let a pair make a step, and reward it."""
        upper, lower = (
            int(self._rng.choice(len(weights), p=weights / weights.sum()))
            for weights in self._weights
        )
        reward = self._reward(upper, lower, temperature)
        self.rewards[upper, lower] += reward
        for weights, member in zip(self._weights, (upper, lower), strict=True):
            weights[member] = _KEPT * weights[member] + (1 - _KEPT) * reward

    def _reward(self, upper: int, lower: int, temperature: float) -> float:
        regions = self._proposed(upper)
        if not regions or lower in self._slow:
            return OTHER
        region = regions[int(self._rng.integers(len(regions)))]
        problem, instance = self._problem, self._case.instance
        inputs = problem.operator.inputs(instance, self._solution, region)
        [result] = self._rebuild([lower], inputs, len(region.nodes))
        if result.outcome is not Outcome.OK:
            if result.outcome is Outcome.TIMEOUT:
                self._slow.add(lower)
            return OTHER
        current = self._solution, self._cost
        merge = checked_merge(problem, instance, *current, region, result.output, Accept.FEASIBLE)
        if not merge.accepted or merge.cost == self._cost:
            return OTHER
        dearer = merge.cost - self._cost
        if dearer > 0 and not (temperature > 0 and self._rng.random() < exp(-dearer / temperature)):
            return OTHER
        self._solution, self._cost = merge.solution, merge.cost
        self._regions.clear()
        if dearer > 0:
            return ACCEPTED
        if merge.cost < self.best:
            self.best = merge.cost
            return BEST
        return BETTER

    def _proposed(self, upper: int) -> Sequence[Region]:
        """Return the regions of an upper program for the current solution; empty if it failed."""
        if upper not in self._regions:
            selector, instance = self._problem.operator.selector, self._case.instance
            result = self._proposers[upper](selector.inputs(instance, self._solution))
            self._regions[upper] = (
                selector.validate(instance, self._solution, result.output).regions
                if result.outcome is Outcome.OK
                else ()
            )
        return self._regions[upper]
