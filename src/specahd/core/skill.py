"""Skill records: the measured effect of a change of a program (paper, appendix G)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from specahd.core.program import Program


@dataclass(frozen=True, slots=True)
class Condition:
    """A descriptor condition that separates one group of tasks from the rest.

    Parameters
    ----------
    coordinate
        Name of a descriptor coordinate.
    effect
        Its mean over those tasks minus its mean over the others, in standard
        deviations over all tasks.
    """

    coordinate: str
    effect: float

    def __str__(self) -> str:
        return f"{self.coordinate.replace('_', ' ')} {self.effect:+.1f} sd"


@dataclass(frozen=True, slots=True)
class Skill:
    """The measured effect of one change: where a child did better and worse than its parent.

    Parameters
    ----------
    program, parent
        The child, and the program that it is compared with.
    version
        Number of comparisons of the two so far. A round that measures both again
        makes a new version, which replaces the old one.
    change
        The change: the child's idea, and the additions and removals in its code.
    tasks, better, worse
        Numbers of tasks that were compared, and on which the child scored higher, or lower.
    gain
        Mean difference of the scores.
    helped, failed
        Conditions that separate the tasks on which the child was better, or worse, from the
        rest; empty if the sample does not support any statement.
    failures
        Number of tasks on which the child had no answer, by outcome.
    """

    program: Program
    parent: Program
    version: int
    change: str
    tasks: int
    better: int
    worse: int
    gain: float
    helped: tuple[Condition, ...] = ()
    failed: tuple[Condition, ...] = ()
    failures: Mapping[str, int] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The identifier of requests and programs: ``lower-2-0017/1``."""
        return f"{self.program.id}/{self.version}"

    @property
    def record(self) -> dict[str, Any]:
        """The record of the journal, in plain values."""
        return {
            "record": "skill",
            "id": self.id,
            "program": self.program.id,
            "parent": self.parent.id,
            "version": self.version,
            "change": self.change,
            "tasks": self.tasks,
            "better": self.better,
            "worse": self.worse,
            "gain": self.gain,
            "helped": {condition.coordinate: condition.effect for condition in self.helped},
            "failed": {condition.coordinate: condition.effect for condition in self.failed},
            "failures": dict(self.failures),
        }
