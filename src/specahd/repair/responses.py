"""Repair tasks r = (x, y, z), the measured responses to them, and the dense table S."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from specahd.core.program import Outcome
from specahd.repair.cases import Incumbent
from specahd.repair.merge import EPSILON
from specahd.routing.base import FloatArray, Region


@dataclass(frozen=True, slots=True)
class RepairTask:
    """One region of one solution, to be rebuilt by a lower program.

    Parameters
    ----------
    key
        Identity of the task over the whole run: equal keys where instance and incumbent are
        equal, and the repair operator rebuilds the regions alike.
    case
        Index of (x, y0) among the run's cases.
    descriptor
        Raw φ of the region.
    solution
        The solution y if it differs from y0.
    """

    key: str
    case: int
    region: Region
    descriptor: tuple[float, ...]
    solution: Any = None

    @property
    def incumbent(self) -> Incumbent:
        """The solution that the region belongs to."""
        return Incumbent(self.case, self.solution)

    def record(self) -> dict[str, Any]:
        """Return the task in plain values."""
        return {
            "key": self.key,
            "case": self.case,
            "nodes": list(self.region.nodes),
            "descriptor": list(self.descriptor),
            **({} if self.solution is None else {"solution": self.solution}),
        }


def task_key(instance_name: str, identity: Iterable[int], solution: Any = None) -> str:
    """Return the key of a region of an instance's baseline solution, or of another one.

    Parameters
    ----------
    identity
        Integers by which the repair operator in use identifies the region.
    """
    nodes = ",".join(map(str, identity))
    if solution is not None:
        nodes += f" of {solution}"
    return f"{instance_name}#{hashlib.sha256(nodes.encode()).hexdigest()[:12]}"


@dataclass(frozen=True, slots=True)
class Response:
    """The measured outcome of one lower program on one task.

    ``cost_merged`` is None when the program failed or the merge was infeasible;
    otherwise it is the cost of the merged solution, even when that is worse.
    """

    outcome: Outcome
    cost_before: float
    cost_merged: float | None
    fallbacks: int = 0

    @property
    def score(self) -> float:
        """The score s of eq. repair_score, in [0, 1]."""
        if self.cost_merged is None:
            return 0.0
        return max(0.0, self.cost_before - self.cost_merged) / max(EPSILON, self.cost_before)


def count_outcomes(responses: Sequence[Response]) -> Mapping[str, int]:
    """Return how many tasks ended in each outcome, in order of the outcome's name."""
    counts: dict[str, int] = {}
    for response in sorted(responses, key=lambda response: str(response.outcome)):
        counts[str(response.outcome)] = counts.get(str(response.outcome), 0) + 1
    return counts


class ResponseTable:
    """S: the responses of every retained program to every task of a round.

    Parameters
    ----------
    tasks
        The round's tasks, at least one.
    """

    def __init__(self, tasks: Sequence[RepairTask]) -> None:
        self.tasks = tuple(tasks)
        self._rows: dict[str, tuple[Response, ...]] = {}
        self._scores: dict[str, FloatArray] = {}

    def add(self, program: str, responses: Sequence[Response]) -> None:
        """Enter one program's row; it must answer every task (dense)."""
        if len(responses) != len(self.tasks):
            raise ValueError(f"Expected {len(self.tasks)} responses, got {len(responses)}.")
        self._rows[program] = tuple(responses)
        self._scores[program] = np.array([response.score for response in responses])

    def keep(self, programs: Iterable[str]) -> None:
        """Drop every row but those of ``programs``."""
        kept = set(programs)
        for program in [name for name in self._rows if name not in kept]:
            del self._rows[program], self._scores[program]

    @property
    def rows(self) -> Mapping[str, tuple[Response, ...]]:
        """Responses by program, in order of entry."""
        return self._rows

    def scores(self, programs: Sequence[str]) -> FloatArray:
        """Return s as an array of shape (programs, tasks)."""
        if not programs:
            return np.zeros((0, len(self.tasks)))
        return np.stack([self._scores[program] for program in programs])
