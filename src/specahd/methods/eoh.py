"""Evolution of Heuristics (Liu et al. 2024): a population and six variation operators."""

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from specahd.core.contract import Operator, Parent, Treatment
from specahd.core.options import Option, checked
from specahd.core.program import Outcome, Program
from specahd.search.base import Query, Rank, RoundStart, Sample

OPERATORS = {
    operator.name: operator
    for operator in (
        Operator(
            "i1",
            "Write a new program from scratch. Do not start from the example; choose an approach "
            "of your own that fits the problem.",
        ),
        Operator(
            "e1",
            "Write a program whose approach is as different as possible from {parents}: other "
            "signals, another structure, another way to decide.",
            parents=2,
        ),
        Operator(
            "e2",
            "Find the idea at the core of {parents}. Write a new program that has this idea as "
            "its backbone and adds what makes it better.",
            parents=2,
            treatment=Treatment.COMBINE,
        ),
        Operator(
            "m1",
            "Modify the structure of {parents}: add, replace or rearrange parts of its logic so "
            "that it scores higher.",
            parents=1,
            treatment=Treatment.RESTRUCTURE,
            skills=True,
        ),
        Operator(
            "m2",
            "Keep the structure of {parents} and retune it: find the parameters that matter most, "
            "the constants and weights of its formulas, and give them other values.",
            parents=1,
            treatment=Treatment.RETUNE,
            skills=True,
        ),
        Operator(
            "m3",
            "Simplify {parents}: remove what does not pay, above all special cases and terms that "
            "may be fitted to the training instances, and keep what will help on unseen ones.",
            parents=1,
            treatment=Treatment.SIMPLIFY,
            skills=True,
        ),
    )
}
"""The operators by name. i1: a fresh program; e1: a form unlike the parents; e2: the common idea of
the parents as a backbone; m1: a modified form; m2: other parameters; m3: a simplification."""
INITIAL = OPERATORS["i1"]
VARIATIONS = tuple(name for name in OPERATORS if name != INITIAL.name)


class EoH:
    """Search method that founds a population of fresh samples, then applies operators in turn.

    Deviations from EoH's published code, the original:

    - Every program competes for survival as soon as its result is received, so that no sampler
      waits. The original waits for a generation of ``population`` programs.
    - The operators are applied in turn, as in LLM4AD, so that their shares are equal at any
      budget. The original draws them.
    - The population is founded once ``population`` programs were retained, or twice as many were
      tried, as in LLM4AD. The original always tries twice as many; small budgets need less.
    - A reply without a program uses a ticket, as in every method; the original asks again.
    - The seed program is a member from the start: every method of a comparison begins with it.
    - ``distinct`` compares exact scores. The original rounds them to five decimals. Scores here
      are shares of a cost, and small shares differ only in the sixth decimal.

    ``rank_offset`` is 1 in the original, 0 in LLM4AD and SpecAHD. ``distinct`` is not needed if the
    generation memory rejects duplicates.
    """

    @checked("method.policy.")
    def __init__(
        self,
        population: Annotated[int, Option("programs that a level keeps, at least 2", 2)] = 10,
        operators: Annotated[
            Sequence[str],
            Option("variations in turn, once i1 has founded the population", choices=OPERATORS),
        ] = VARIATIONS,
        rank_offset: Annotated[
            int, Option("added to a rank before parents are drawn by 1 / (rank + N)", 0)
        ] = 0,
        distinct: Annotated[
            bool, Option("whether a program that scores just what another does is dropped")
        ] = False,
    ) -> None:
        self.size = population
        self._rank_offset = rank_offset
        self._distinct = distinct
        self.operators = tuple(OPERATORS[name] for name in operators)
        self.members: list[Parent] = []
        self._rank: Rank = lambda programs: []
        self._ages: dict[str, int] = {}
        self._valid = 0
        self._tried = 0

    def begin(self, start: RoundStart) -> None:
        """Rank the programs carried over by the new round's measure."""
        self._rank = start.rank
        self._survive([parent.program for parent in start.carried])

    def ask(self, index: int, rng: np.random.Generator) -> Query:
        """Return i1 until founded, then the operators in turn with rank-weighted parents."""
        founded = self._valid >= self.size or self._tried >= 2 * self.size
        operator = self.operators[index % len(self.operators)] if founded else INITIAL
        if not self.members:
            operator = INITIAL
        return Query(operator, self._parents(operator.parents, rng))

    def _parents(self, count: int, rng: np.random.Generator) -> tuple[Parent, ...]:
        if count == 0:
            return ()
        ranks = np.arange(len(self.members))
        weights = 1.0 / (ranks + self._rank_offset + len(self.members))
        # Each parent is drawn independently; a member may be drawn twice.
        drawn = rng.choice(ranks, size=count, p=weights / weights.sum())
        return tuple(self.members[rank] for rank in sorted(drawn))

    def tell(self, sample: Sample, rng: np.random.Generator) -> None:
        """Count the sample; let a retained program compete for survival."""
        self._tried += 1
        # A race stops programs that ran.
        self._valid += sample.retained or sample.outcome is Outcome.STOPPED
        if not sample.retained:
            return
        if self._distinct and sample.score in {member.score for member in self.members}:
            return
        self._survive([*(member.program for member in self.members), sample.parent.program])

    def _survive(self, candidates: Sequence[Program]) -> None:
        for program in candidates:
            self._ages.setdefault(program.id, len(self._ages))
        oldest_first = sorted(candidates, key=lambda program: self._ages[program.id])
        self.members = self._rank(oldest_first)[: self.size]
