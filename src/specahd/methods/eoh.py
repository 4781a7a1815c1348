"""Evolution of Heuristics (Liu et al. 2024): a population and six variation operators."""

from collections.abc import Sequence

import numpy as np

from specahd.core.contract import Parent
from specahd.core.errors import ConfigError
from specahd.core.program import Program
from specahd.search.base import Rank, Variation
from specahd.search.operators import INITIAL, PARENTS, VARIATIONS


class EoH:
    """Fresh samples until the population is founded, then the operators in turn.

    Parameters
    ----------
    population
        Survivors after each commit, at least 2.
    operators
        Operators in turn once ``population`` programs were retained, or twice as many tried.
    """

    def __init__(self, population: int = 10, operators: Sequence[str] = VARIATIONS) -> None:
        if population < 2:
            raise ConfigError(f"Expected method.policy.population of at least 2, got {population}.")
        unknown = [name for name in operators if name not in PARENTS]
        if unknown or not operators:
            raise ConfigError(
                f"Expected method.policy.operators among {', '.join(PARENTS)}, "
                f"got {', '.join(operators) or 'none'}."
            )
        self.size = population
        self.operators = tuple(operators)
        self.members: list[Parent] = []
        self._rank: Rank = lambda programs: []
        self._ages: dict[str, int] = {}
        self._valid = 0
        self._tried = 0

    def begin(self, rank: Rank, carried: Sequence[Program]) -> None:
        """Rank the programs carried over by the new round's measure."""
        self._rank = rank
        self._survive(carried)

    def ask(self, index: int, rng: np.random.Generator) -> Variation:
        """Return i1 until founded, then the operators in turn with rank-weighted parents."""
        founded = self._valid >= self.size or self._tried >= 2 * self.size
        operator = self.operators[index % len(self.operators)] if founded else INITIAL
        if not self.members:
            operator = INITIAL
        return Variation(operator, self._parents(PARENTS[operator], rng))

    def _parents(self, count: int, rng: np.random.Generator) -> tuple[Parent, ...]:
        if count == 0:
            return ()
        ranks = np.arange(len(self.members))
        weights = 1.0 / (ranks + len(self.members))
        # Each parent is drawn independently; the same member may come twice.
        drawn = rng.choice(ranks, size=count, p=weights / weights.sum())
        return tuple(self.members[rank] for rank in sorted(drawn))

    def tell(self, program: Program | None) -> None:
        """Count the sample; let a retained program compete for survival."""
        self._tried += 1
        if program is None:
            return
        self._valid += 1
        self._survive([*(member.program for member in self.members), program])

    def _survive(self, candidates: Sequence[Program]) -> None:
        for program in candidates:
            self._ages.setdefault(program.id, len(self._ages))
        oldest_first = sorted(candidates, key=lambda program: self._ages[program.id])
        self.members = self._rank(oldest_first)[: self.size]
