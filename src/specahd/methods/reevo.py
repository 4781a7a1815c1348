"""ReEvo (Ye et al. 2024): a generational genetic search, guided by reflections."""

from collections import deque
from typing import Annotated

import numpy as np

from specahd.core.contract import Operator, Parent, Treatment
from specahd.core.options import Option, checked
from specahd.search.base import Query, RoundStart, Sample

START = Operator(
    "init",
    "Write a program of your own. The example only shows the form; be very creative.",
)
SHORT_REFLECTION = Operator(
    "short_reflection",
    "Program 1 scores more than program 2. Compare {parents} and state hints for writing better "
    "programs, in less than 20 words.",
    parents=2,
    treatment=Treatment.DESCRIBE,
)
CROSSOVER = Operator(
    "crossover",
    "Program 1 scores more than program 2. Write an improved program out of {parents}, going by "
    "the reflection if there is one.",
    parents=2,
    treatment=Treatment.COMBINE,
)
LONG_REFLECTION = Operator(
    "long_reflection",
    "State constructive hints for writing better programs, in less than 50 words, based on the "
    "earlier reflection and on the new ones.",
    treatment=Treatment.DESCRIBE,
)
MUTATION = Operator(
    "mutation",
    "Write a mutated form of {parents}, the best so far, going by the reflection if there is one.",
    parents=1,
    treatment=Treatment.RESTRUCTURE,
    skills=True,
)
TRIALS = 1000
"""Largest number of draws until enough pairs differ in their scores."""
MOST = 90
"""Largest population: its short reflections are requested in a row, and the loop allows 100."""


class ReEvo:
    """Search method with crossovers after short reflections, and mutations of the elitist.

    A generation draws ``population`` pairs of different scores, with equal probability, from the
    previous population and the elitist, which is the best program so far. Each pair gets a
    reflection and then a crossover; the children replace the population. A long reflection
    summarises the short ones. Then mutations of the elitist are added to the population.

    Deviations from the authors' code, the original:

    - The original ends with an error in some cases; here the round continues until its tickets
      are used. Without two different scores only the elitist is mutated. Without an elitist the
      population is founded again. A seed program that fails is left out.
    - Initial programs use at most half of a round's tickets, so that small budgets reach
      reflection; a later round of a coupled search begins with the programs carried over.
    - All programs are sampled at the provider's temperature; the original adds 0.3 for the first.
    - The better program of a pair is shown first, as in every prompt here.
    - The long reflection is requested while the crossovers are measured; it does not use them.
    - A reply states the idea of its program, as in every method.
    """

    @checked("method.policy.")
    def __init__(
        self,
        population: Annotated[
            int, Option("pairs of a generation, and most programs that a level keeps", 1, MOST)
        ] = 10,
        initial: Annotated[
            int, Option("programs that are written from scratch at first, at least 2", 2)
        ] = 30,
        mutation_rate: Annotated[
            float, Option("mutations of a generation, as a share of the population", 0, 1)
        ] = 0.5,
        knowledge: Annotated[
            str, Option("what experts know, told with initial programs and mutations")
        ] = "",
    ) -> None:
        self.size = population
        self._most_initial = initial
        self._initial = initial
        self._mutations = int(population * mutation_rate)
        self._knowledge = knowledge
        self._long_reflection = knowledge
        self._elitist: Parent | None = None
        self._population: list[Parent] = []
        self._children: list[Parent] = []
        self._pairs: list[tuple[Parent, Parent]] = []
        self._reflections: dict[int, str] = {}
        self._stage = START
        self._asking: deque[tuple[Operator, int]] = deque()
        self._under_way: dict[int, tuple[Operator, int]] = {}

    @property
    def members(self) -> list[Parent]:
        """The best of the elitist, the population and the children that will replace it."""
        elitist = [self._elitist] if self._elitist else []
        known = [*elitist, *self._population, *self._children]
        unique = {parent.program.id: parent for parent in known}
        return sorted(unique.values(), key=lambda parent: -parent.score)[: self.size]

    def begin(self, start: RoundStart) -> None:
        """Begin with the carried programs; if they are only seeds, keep the best as elitist."""
        self._initial = max(2, min(self._most_initial, start.tickets // 2))
        self._population = list(start.carried) if start.founded else []
        self._elitist = max(start.carried, key=lambda parent: parent.score, default=None)
        self._children = []
        self._asking.clear()
        # Carried programs count as the result of a mutation stage; without any, start anew.
        self._stage = MUTATION
        if not self._population:
            self._begin_anew()

    def ask(self, index: int, rng: np.random.Generator) -> Query | None:
        """Return the query of the next step; None until the results that it needs are received."""
        if not self._asking:
            if self._under_way:
                return None
            self._go_on(rng)
        operator, pair = self._asking[0]
        if operator is CROSSOVER and pair not in self._reflections:
            return None
        self._asking.popleft()
        self._under_way[index] = operator, pair
        return self._query(operator, pair)

    def tell(self, sample: Sample, rng: np.random.Generator) -> None:
        """Store a reflection or a child."""
        operator, pair = self._under_way.pop(sample.request.index)
        if operator is SHORT_REFLECTION:
            self._reflections[pair] = sample.text
        elif operator is LONG_REFLECTION:
            self._long_reflection = sample.text or self._long_reflection
        elif sample.retained:
            child = sample.parent
            self._children.append(child)
            if self._elitist is None or child.score > self._elitist.score:
                self._elitist = child

    def _go_on(self, rng: np.random.Generator) -> None:
        """End a finished stage, and queue the steps of the next one."""
        staying = self._population if self._stage is MUTATION else []
        self._population, self._children = [*staying, *self._children], []
        if self._stage is CROSSOVER and self._mutations and self._elitist:
            self._mutate()
            return
        self._pairs = self._draw_pairs(rng)
        self._reflections = {}
        if self._pairs:
            self._stage = CROSSOVER
            steps = (SHORT_REFLECTION, CROSSOVER)
            self._asking.extend((step, pair) for step in steps for pair in range(self.size))
            self._asking.append((LONG_REFLECTION, 0))
        elif self._mutations and self._elitist:
            self._mutate()
        else:
            self._begin_anew()

    def _begin_anew(self) -> None:
        self._stage = START
        self._asking.extend([(START, 0)] * self._initial)

    def _mutate(self) -> None:
        self._stage = MUTATION
        self._asking.extend([(MUTATION, 0)] * self._mutations)

    def _draw_pairs(self, rng: np.random.Generator) -> list[tuple[Parent, Parent]]:
        """Return pairs of different scores, the better first; none if they are too rare."""
        pool = list(self._population)
        if self._elitist and self._elitist not in pool:
            pool.insert(0, self._elitist)
        pairs: list[tuple[Parent, Parent]] = []
        if len({parent.score for parent in pool}) < 2:
            return pairs
        for _ in range(TRIALS):
            one, other = (pool[place] for place in rng.choice(len(pool), size=2, replace=False))
            if one.score != other.score:
                pairs.append((one, other) if one.score > other.score else (other, one))
            if len(pairs) == self.size:
                return pairs
        return []

    def _query(self, operator: Operator, pair: int) -> Query:
        if operator is SHORT_REFLECTION:
            return Query(operator, self._pairs[pair])
        if operator is CROSSOVER:
            reflection = self._reflections[pair]
            return Query(operator, self._pairs[pair], _hints(("Reflection", reflection)))
        if operator is LONG_REFLECTION:
            new = "\n".join(f"- {text}" for text in self._reflections.values() if text)
            earlier = ("Earlier reflection", self._long_reflection)
            return Query(operator, hints=_hints(earlier, ("New reflections", new)))
        learned = self._long_reflection if self._long_reflection != self._knowledge else ""
        hints = _hints(("What experts know", self._knowledge), ("Reflection", learned))
        if operator is START:
            return Query(operator, hints=hints)
        assert self._elitist is not None
        return Query(operator, (self._elitist,), hints)


def _hints(*texts: tuple[str, str]) -> str:
    """Return the texts that are not empty, each below its name."""
    return "\n\n".join(f"{name}:\n{text}" for name, text in texts if text)
