"""RandSample (LLM4AD): independent samples of one prompt; the best one is kept."""

import numpy as np

from specahd.core.contract import Operator, Parent
from specahd.search.base import Query, RoundStart, Sample
from specahd.search.versions import completion_prompt

COMPLETE = Operator("complete", "Write an improved version of the example.")


class RandSample:
    """Search method that asks for an improved version of the seed program by a constant prompt.

    Deviations from LLM4AD's code, the original:

    - The prompt is code, followed by our rules and the form of an answer, because a program that
      breaks them is not measured.
    - A seed program that fails does not end the run: it is an example here, and no parent.
    - A reply without a program uses a ticket, as in every method; the original asks again.
    """

    size = 1

    def __init__(self) -> None:
        self.members: list[Parent] = []
        self._prompt = ""

    def begin(self, start: RoundStart) -> None:
        """Write the prompt; keep the best program carried over."""
        self._prompt = completion_prompt(start.contract, [start.contract.seed.source])
        self.members = sorted(start.carried, key=lambda parent: -parent.score)[:1]

    def ask(self, index: int, rng: np.random.Generator) -> Query:
        """Return the only query of the method."""
        return Query(COMPLETE, prompt=self._prompt)

    def tell(self, sample: Sample, rng: np.random.Generator) -> None:
        """Keep a program that scores more than the best so far."""
        if sample.retained and (not self.members or sample.parent.score > self.members[0].score):
            self.members = [sample.parent]
