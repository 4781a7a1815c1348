"""G-LNS (Zhao et al. 2026): destroy and repair programs evolve together, rewarded in pairs."""

from collections.abc import Iterable, Sequence
from typing import Annotated

import numpy as np

from specahd.core.contract import Operator, Parent, Treatment
from specahd.core.options import Option, checked
from specahd.core.program import Level
from specahd.search.base import Pairing, Query, RoundStart, Sample
from specahd.search.prompts import idea_and_code

INITIAL = Operator(
    "init",
    "Write a new program whose logic differs from that of the example and of {parents}.",
    parents=3,
    treatment=Treatment.FRESH,
)
LOGIC = Operator(
    "mutate_logic",
    "Replace parts of the logic of {parents} by new mechanisms or formulas.",
    parents=1,
    treatment=Treatment.RESTRUCTURE,
    skills=True,
)
PARAMETERS = Operator(
    "mutate_parameters",
    "Adjust the parameters of {parents}, such as its thresholds and weights; keep its logic.",
    parents=1,
    treatment=Treatment.RETUNE,
    skills=True,
)
CROSSOVER = Operator(
    "crossover",
    "State what is promising in program 1. Write a program in the form of program 2 that is "
    "inspired by it, and better than both.",
    parents=2,
    treatment=Treatment.COMBINE,
)
JOINT = Operator(
    "joint",
    "Write a new version of {parents}, made for what the other program above does.",
    parents=1,
    treatment=Treatment.RESTRUCTURE,
)
_MUTATION, _CROSSOVER = 0.5, 0.8
"""The chance of a mutation, and else of a crossover within a level; both of the released code."""
_OTHER = {
    Level.UPPER: "The other program rebuilds the regions that are proposed.",
    Level.LOWER: "The other program proposes the regions that are rebuilt.",
}
"""What the program of the other level does, by the level of the request."""


class GLNS:
    """One of two populations that evolve together (:class:`specahd.design.pairs.Pairs`).

    Fitness is the sum of what a program earned with all programs of the other level. At the start
    of a round the ``renewed`` worst are dropped. Each new program comes of a mutation, of a
    crossover of two members, drawn by fitness, or of the pair that earned most. The best member
    is given other parameters, the worst another logic, the others one of both. The second level
    follows the first: what it asks for is of the kind of its companion, and a joint crossover is
    made for the companion.

    Deviations from the released code (github.com/ZBoyn/G-LNS, commit ea834aa), besides those of
    the rounds:

    - A joint crossover takes two requests and tickets: the destroy program is written for the
      repair program of the pair, and the repair program for the new destroy program. There one
      reply has both. It may begin with a pair of which one program was dropped; there nothing
      happens then.
    - A population of 10, not 5, since ten of each are deployed and up to six are by hand.
    - A program that fails uses its ticket and is not requested again, up to three times there; its
      place is filled in the next round.
    - Without a pairing the fitness is the score, and there is no joint crossover.
    """

    @checked("method.policy.")
    def __init__(
        self,
        population: Annotated[int, Option("programs of a level, at least 2", 2)] = 10,
        renewed: Annotated[int, Option("programs dropped in a round, at least 1", 1)] = 2,
    ) -> None:
        self.size = population
        self._renewed = min(renewed, population - 1)
        self._founded = False
        self._population: list[tuple[float, Parent]] = []
        self._pairing: Pairing | None = None
        self._best: tuple[Parent, Parent] | None = None

    @property
    def members(self) -> Sequence[Parent]:
        """The population, the fittest first."""
        return [parent for _, parent in self._population]

    def begin(self, start: RoundStart) -> None:
        """Rank the programs carried over by fitness; drop the worst if pairs were rewarded."""
        pairing, carried = start.pairing, start.carried
        self._founded = self._founded or start.founded
        self._pairing, self._best = pairing, None
        if pairing is None:
            fitness = [parent.score for parent in carried]
        else:
            fitness = pairing.rewards.sum(axis=1).tolist()
            if pairing.rewards.any():
                row, column = np.unravel_index(pairing.rewards.argmax(), pairing.rewards.shape)
                self._best = carried[int(row)], pairing.others[int(column)]
        self._population = _ranked(zip(fitness, carried, strict=True))
        del self._population[self.size - (self._renewed if pairing else 0) :]

    def ask(self, index: int, rng: np.random.Generator) -> Query:
        """Return a query of the companion's kind, or else of a kind drawn."""
        members = self.members
        if not self._founded or not members:
            return Query(INITIAL, tuple(members[: INITIAL.parents]))
        companion = self._pairing.companions.get(index) if self._pairing else None
        if companion is None:
            mutates, crosses = rng.random(2) < (_MUTATION, _CROSSOVER)
            kind = "mutate" if mutates else CROSSOVER.name if crosses else JOINT.name
        else:
            kind = companion.program.operator
        if kind == JOINT.name and self._best is not None:
            own, other = self._best
            return Query(JOINT, (own,), hints=_described(own.program.level, other, companion))
        if kind in (JOINT.name, CROSSOVER.name) and len(members) > 1:
            return Query(CROSSOVER, self._pair(rng))
        row = int(rng.integers(len(members)))
        operator = (LOGIC, PARAMETERS)[int(rng.integers(2))]
        if row == 0:
            operator = PARAMETERS
        elif row == len(members) - 1:
            operator = LOGIC
        return Query(operator, (members[row],))

    def _pair(self, rng: np.random.Generator) -> tuple[Parent, ...]:
        """Return two members drawn by fitness, evenly where fewer than two have any."""
        weights = np.array([max(0.0, fitness) for fitness, _ in self._population])
        if np.count_nonzero(weights) < 2:
            weights = np.ones(len(weights))
        rows = rng.choice(len(weights), size=2, replace=False, p=weights / weights.sum())
        return tuple(self._population[row][1] for row in rows)

    def tell(self, sample: Sample, rng: np.random.Generator) -> None:
        """Add a new program; it has earned nothing yet."""
        if sample.retained:
            fitness = 0.0 if self._pairing else sample.parent.score
            self._population = _ranked([*self._population, (fitness, sample.parent)])[: self.size]
            self._founded = self._founded or len(self._population) == self.size


def _ranked(population: Iterable[tuple[float, Parent]]) -> list[tuple[float, Parent]]:
    """Return programs in the order of fitness, the earlier one first on ties."""
    return sorted(population, key=lambda one: -one[0])


def _described(level: Level, other: Parent, companion: Parent | None) -> str:
    """Return a description of the other program of the best pair, or of the one made from it."""
    shown = (companion or other).program
    story = "Of all pairs, it and program 1 earned most together."
    if companion is not None:
        story = "It is a new version of the one with which program 1 earned most."
    return f"{_OTHER[level]} {story} {idea_and_code(shown.idea, shown.source)}"
