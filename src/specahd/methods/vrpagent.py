"""VRPAgent's genetic search (Hottung et al. 2025): elites, biased crossover, a price on length."""

from collections import deque
from collections.abc import Sequence
from typing import Annotated

import numpy as np

from specahd.core.contract import Operator, Parent, Treatment
from specahd.core.options import Option, checked
from specahd.search.base import Query, RoundStart, Sample

CREATE = Operator(
    "create",
    "Write a new program. Do not start from the example; choose an approach of your own that "
    "fits the problem, and keep it short.",
)
CROSSOVER = Operator(
    "crossover",
    "Program 1 is one of the best. Write a program that combines it with program 2: take about "
    "three quarters of the logic from program 1, and from program 2 what is promising and missing "
    "there.",
    parents=2,
    treatment=Treatment.COMBINE,
)
MUTATIONS = (
    Operator(
        "ablate",
        "Remove one part of {parents}: one that seems to contribute little, or that may even do "
        "harm. Leave the rest as it is.",
        parents=1,
        treatment=Treatment.SIMPLIFY,
        skills=True,
    ),
    Operator(
        "extend",
        "Extend {parents} by one new part: a signal, a rule or a case that it does not have yet. "
        "Leave the rest as it is.",
        parents=1,
        treatment=Treatment.RESTRUCTURE,
        skills=True,
    ),
    Operator(
        "adjust",
        "Adjust the parameters of {parents}: give one or several of its constants, weights and "
        "thresholds other values, and change nothing else.",
        parents=1,
        treatment=Treatment.RETUNE,
        skills=True,
    ),
    Operator(
        "refactor",
        "Refactor {parents}: keep its idea, and rewrite how it is computed, so that it is "
        "shorter, clearer and faster.",
        parents=1,
        treatment=Treatment.RESTRUCTURE,
        skills=True,
    ),
)
"""The mutations; each elite gets a random one in every generation."""


class VRPAgent:
    """A genetic search on programs; the fitness is the score minus a price for length.

    The first population is written from scratch. In every generation the fittest programs are
    the elites. Each offspring is a crossover of an elite and one of the others, with more of the
    elite. Each elite is mutated once, and replaced with its mutation if that is fitter. Elites
    and offspring are the next population; the others are dropped.

    Deviations from the paper (arXiv 2510.07073), of which we could read the beginning and others'
    accounts of its algorithm, but neither the appendix nor the code:

    - It evolves the removal and the ordering of customers in a large neighbourhood search, in
      C++. Here the program is the contract's, scored as with every other method.
    - Sizes, price and the wording of prompts are therefore ours; the sizes suit budgets of tens
      to a thousand programs. Length is the number of characters of the source without
      comments, docstring and annotations.
    - A program that fails uses a ticket and is not requested again, so a generation may have
      fewer offspring. With fewer than two programs, a generation is written from scratch. If
      all programs are elites, two elites are crossed.
    - The programs carried over, at first the seed program, belong to the population.
    """

    @checked("method.policy.")
    def __init__(
        self,
        initial: Annotated[
            int, Option("programs that are written from scratch at first, at least 2", 2)
        ] = 20,
        elites: Annotated[
            int, Option("fittest programs, of which each is mutated, at least 1", 1)
        ] = 5,
        offspring: Annotated[int, Option("crossovers in a generation, at least 1", 1)] = 15,
        length_price: Annotated[
            float, Option("what 1,000 characters of a program cost of its score", 0)
        ] = 0.0005,
    ) -> None:
        self.size = max(initial, elites + offspring)
        self._initial = initial
        self._elite_count = elites
        self._offspring_count = offspring
        self._price = length_price
        self._founded = False
        self._elites: list[Parent] = []
        self._others: list[Parent] = []
        self._offspring: list[Parent] = []
        self._planned: deque[Operator | int] = deque()
        self._under_way: dict[int, int | None] = {}

    @property
    def members(self) -> Sequence[Parent]:
        """The members of the next population so far, the fittest first."""
        population = [*self._elites, *self._offspring]
        return sorted(population, key=self._fitness, reverse=True)[: self.size]

    def _fitness(self, parent: Parent) -> float:
        return parent.score - self._price * len(parent.program.source) / 1000

    def begin(self, start: RoundStart) -> None:
        """Make the programs carried over the population."""
        self._elites = []
        self._offspring = list(start.carried)
        self._planned.clear()

    def ask(self, index: int, rng: np.random.Generator) -> Query | None:
        """Return the next query of the generation, None until all results of one are known."""
        if not self._planned:
            if self._under_way:
                return None
            self._plan()
        planned = self._planned.popleft()
        self._under_way[index] = planned if isinstance(planned, int) else None
        if isinstance(planned, int):
            mutation = MUTATIONS[rng.integers(len(MUTATIONS))]
            return Query(mutation, (self._elites[planned],))
        return Query(planned, self._pair(rng) if planned is CROSSOVER else ())

    def _plan(self) -> None:
        """Plan a generation: crossovers, then a mutation of each elite by its position."""
        population = list(self.members)
        if not self._founded or len(population) < 2:
            self._founded = True
            self._elites, self._offspring = [], population
            self._planned.extend([CREATE] * self._initial)
            return
        self._elites = population[: self._elite_count]
        self._others = population[self._elite_count :]
        self._offspring = []
        self._planned.extend([CROSSOVER] * self._offspring_count)
        self._planned.extend(range(len(self._elites)))

    def _pair(self, rng: np.random.Generator) -> tuple[Parent, Parent]:
        """Return an elite and one of the others; another elite if there are none."""
        elite = self._elites[rng.integers(len(self._elites))]
        partners = self._others or [one for one in self._elites if one is not elite]
        return elite, partners[rng.integers(len(partners))]

    def tell(self, sample: Sample, rng: np.random.Generator) -> None:
        """Add an offspring; replace an elite with its mutation if that is fitter."""
        position = self._under_way.pop(sample.request.index)
        if not sample.retained:
            return
        if position is None:
            self._offspring.append(sample.parent)
        elif self._fitness(sample.parent) > self._fitness(self._elites[position]):
            self._elites[position] = sample.parent
