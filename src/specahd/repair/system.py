"""The frozen repair system, and the result of a repair."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

from specahd.core.program import Outcome, Program
from specahd.core.settings import Accept, Penalty
from specahd.core.sums import sequential_sum
from specahd.engine.orders import Work
from specahd.repair.merge import EPSILON
from specahd.repair.router import Router
from specahd.routing.base import Region


@dataclass(frozen=True)
class RepairSystem:
    """The frozen (H, A): a repertoire and its router.

    Parameters
    ----------
    key
        Identity within a run; systems with equal keys have equal repertoires.
    portfolio
        Every member repairs the whole instance separately, and the cheapest result is returned;
        the router is not used.
    passes
        Largest number of passes over a solution, of all upper programs together.
    tries
        Number of members that rebuild a region: the first ones that the router ranks.
    repairs
        Insertions of a search per node of the instance; None: those of final programs.
    seed
        Numbers that vary the random numbers of a search; the same ones are drawn for all programs.
    choice
        Chooses the upper program of a search by the descriptor of its first solution; None: the
        first searches.
    """

    key: str
    repertoire: tuple[Program, ...]
    router: Router
    accept: Accept
    portfolio: bool = False
    passes: int = 1
    tries: int = 1
    repairs: int | None = None
    seed: tuple[int, ...] = ()
    choice: Router | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One region of a pass: its raw descriptor, the program that rebuilt it, the outcome.

    Parameters
    ----------
    program
        The program; if several were tried, the one with the cheapest merge.
    number
        The number of the pass, from 1; None if there is only one.
    upper
        The upper program that proposed the region; None if there is only one.
    """

    region: Region
    descriptor: tuple[float, ...]
    program: str
    outcome: Outcome
    cost_before: float
    cost_merged: float | None
    accepted: bool
    fallbacks: int
    number: int | None = None
    upper: str | None = None


@dataclass(frozen=True, slots=True)
class Repair:
    """All passes over one case, from y0 to ŷ.

    Parameters
    ----------
    outcome
        The outcome of the upper programs: ok, empty_regions if no pass had any, or a failure.
    cost, solution
        C_x(ŷ) and ŷ; those of the baseline if nothing was accepted.
    proposed, rejections
        Raw proposals, and the validator's reasons against some of them.
    seconds
        Wall time by stage: propose, validate, describe, route, rebuild, merge; what numba compiled
        in the first pass of a process is left out. In a portfolio, the sum over all members.
    passes
        Number of passes made.
    skipped
        Number of valid regions that were not tried, since they were before on the same routes, or
        since the seconds of the programs were over.
    work
        What a search of the engine did; None if there was none.
    """

    outcome: Outcome
    detail: str
    baseline_cost: float
    cost: float
    solution: Any
    proposed: int
    rejections: tuple[str, ...]
    steps: tuple[Step, ...]
    seconds: Mapping[str, float]
    passes: int = 1
    skipped: int = 0
    work: Work | None = None

    @property
    def improvement(self) -> float:
        """U_x: the relative improvement over the baseline."""
        return (self.baseline_cost - self.cost) / max(EPSILON, self.baseline_cost)

    @property
    def failed(self) -> bool:
        """Whether the upper program failed, so that there is nothing to measure (``T``)."""
        return self.outcome not in (Outcome.OK, Outcome.EMPTY_REGIONS)

    def penalty(self, weights: Penalty) -> float:
        """Return λΩ(g, x); proposed, kept and rolled back regions are counted over all passes."""
        kept = len(self.steps) + self.skipped
        rolled_back = sum(step.outcome is not Outcome.OK for step in self.steps)
        return weights.weight * (
            weights.empty * (kept == 0)
            + weights.rejected * (self.proposed - kept) / max(1, self.proposed)
            + weights.rolled_back * rolled_back / max(1, kept)
        )


def mean_improvement(repairs: Sequence[Repair]) -> float:
    """Return the mean of U over the repairs that did not fail, nan if there is none."""
    done = [repair.improvement for repair in repairs if not repair.failed]
    return sequential_sum(done) / len(done) if done else nan
