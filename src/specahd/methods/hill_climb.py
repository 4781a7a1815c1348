"""HillClimb (LLM4AD), a (1+1) search: a better program replaces the incumbent."""

import numpy as np

from specahd.core.contract import Contract, Operator, Parent, Treatment
from specahd.search.base import Query, RoundStart, Sample
from specahd.search.versions import completion_prompt

COMPLETE = Operator(
    "complete",
    "Write an improved version of {parents}.",
    parents=1,
    treatment=Treatment.RESTRUCTURE,
)


class HillClimb:
    """Search method that asks for improved versions of the incumbent, at first the seed program.

    If several samples are under way, a sample may be a version of an older incumbent than the
    one it is compared with, as with several samplers in the original.

    Deviations from LLM4AD's code, the original:

    - The prompt is code, followed by our rules and the form of an answer, because a program that
      breaks them is not measured.
    - A seed program that fails does not end the run: it is shown until a program was measured.
    - A reply without a program uses a ticket, as in every method; the original asks again.
    """

    size = 1

    def __init__(self) -> None:
        self.members: list[Parent] = []
        self._contract: Contract | None = None

    def begin(self, start: RoundStart) -> None:
        """Begin with the best program carried over."""
        self._contract = start.contract
        self.members = sorted(start.carried, key=lambda parent: -parent.score)[:1]

    def ask(self, index: int, rng: np.random.Generator) -> Query:
        """Return the query for a version after the incumbent."""
        assert self._contract is not None
        incumbent = self.members[0].program if self.members else self._contract.seed
        prompt = completion_prompt(self._contract, [incumbent.source])
        return Query(COMPLETE, tuple(self.members), prompt=prompt)

    def tell(self, sample: Sample, rng: np.random.Generator) -> None:
        """Accept a program only if it scores more than the incumbent."""
        if sample.retained and (not self.members or sample.parent.score > self.members[0].score):
            self.members = [sample.parent]
