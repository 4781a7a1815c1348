"""The ask/tell protocol of a search method, and what one level of a search offers the loop."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from specahd.core.contract import Contract, Parent
from specahd.core.program import Level, Outcome, Program, Tier
from specahd.memory.skills import Effects

Rank = Callable[[Sequence[Program]], list[Parent]]
"""Orders programs, given oldest first, from best to worst, each with its measured score."""


@dataclass(frozen=True, slots=True)
class Variation:
    """What to ask the proposer for: an operator and the parents it shows."""

    operator: str
    parents: tuple[Parent, ...] = ()


class Policy(Protocol):
    """A search method: which programs survive, and what to ask for next.

    The loop tells it every committed sample in index order, so its state after
    a commit is the same whatever the number of workers.
    """

    size: int
    """How many programs survive."""

    @property
    def members(self) -> Sequence[Parent]:
        """The population, best first."""
        ...

    def begin(self, rank: Rank, carried: Sequence[Program]) -> None:
        """Start a round with the programs carried over, ranked by the round's measure."""
        ...

    def ask(self, index: int, rng: np.random.Generator) -> Variation:
        """Choose the operator and the parents of sample ``index``."""
        ...

    def tell(self, program: Program | None) -> None:
        """Hear of a committed sample: the program if it was retained, else None."""
        ...


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a level measured of one candidate.

    Parameters
    ----------
    score
        The level's measure, larger is better; None when there is none.
    retained
        Whether the candidate may survive.
    tier
        How the candidate ran, and will run from now on; None if it did not.
    vector
        Measurements behind the score, for ``responses.jsonl``.
    record
        What the journal says beyond that (counts by outcome, …).
    """

    outcome: Outcome
    detail: str
    score: float | None
    retained: bool
    tier: Tier | None = None
    vector: Mapping[str, Any] = field(default_factory=dict)
    record: Mapping[str, Any] = field(default_factory=dict)


class LevelSearch(Protocol):
    """One round of one level: the contract, the measure and the survivors."""

    level: Level
    round: int
    contract: Contract
    policy: Policy

    def submit(self, program: Program) -> "Future[Any]":
        """Start the evaluation of a candidate."""
        ...

    def measure(self, result: Any) -> Evaluation:
        """Turn what the evaluation returned into a score."""
        ...

    def recall(self, record: Mapping[str, Any]) -> Any:
        """Return the result whose :meth:`measure` the journal recorded."""
        ...

    def rank(self, programs: Sequence[Program]) -> list[Parent]:
        """Order admitted programs, given oldest first, by the round's measure."""
        ...

    def admit(self, program: Program, result: Any) -> None:
        """Take a retained candidate in, before the policy is told of it."""
        ...

    def effects(self, child: str, parent: str) -> Effects | None:
        """Return how two programs, by id, differ in what this round measured of them.

        None unless both were measured, the child with success.
        """
        ...

    def best(self) -> float | None:
        """Return the round's best measure so far (J at the lower level)."""
        ...
