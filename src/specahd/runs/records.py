"""The records of a run's files, as far as they are read again.

A record may have more fields. A field has a default if some records, or those of
earlier versions, do not have it.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from specahd.core.plain import Count, Finite, Name
from specahd.core.program import Level, Outcome, Tier
from specahd.core.proposer import ReplyRecord


class Novelty(Struct, frozen=True):
    """The memory's verdict on a program."""

    duplicate_of: str | None
    nearest: str | None
    similarity: dict[str, Finite]


class Sample(Struct, frozen=True):
    """A program in ``journal.jsonl``; ``best`` is the score of its level's best so far."""

    sample: Name
    level: Level
    round: int
    outcome: Outcome
    best: float | None
    novelty: Novelty | None = None
    skills: list[str] = []


class UploadedSample(Sample, frozen=True, kw_only=True):
    """A program with all fields that are uploaded to MLflow."""

    operator: str
    parents: list[str]
    detail: str
    score: Finite | None
    idea: str | None
    source: str | None
    reply: str


class Round(Struct, frozen=True):
    """The end of a round in ``journal.jsonl``: its choices and their measurements.

    ``objective`` is J of the repertoire.
    """

    round: int
    upper: Name
    repertoire: list[Name] = []
    utility: Finite | None = None
    selection: Finite | None = None
    selection_failed: int = 0
    finalists_stopped: int = 0
    uppers: list[Name] = []
    objective: Finite | None = field(default=None, name="J")

    @property
    def chosen(self) -> list[str]:
        """The upper programs; the first of several is also ``upper``."""
        return self.uppers or [self.upper]


class Rewards(Struct, frozen=True):
    """What pairs of programs earned together in ``journal.jsonl``: a row for each upper one."""

    round: int
    uppers: list[Name]
    lowers: list[Name]
    rewards: list[list[Finite]]
    improvement: Finite


class Other(Struct, frozen=True):
    """Any other record of ``journal.jsonl``."""

    record: str = ""


class AskedRequest(Struct, frozen=True):
    """The request of a reply in ``wal.jsonl``: the skill records that it contained."""

    skills: list[str]


class Answer(ReplyRecord, frozen=True, kw_only=True):
    """A reply in ``wal.jsonl``."""

    sample: Name
    hash: str
    refunds: Count = 0
    request: AskedRequest = AskedRequest([])


class Task(Struct, frozen=True):
    """A task of the lower level; ``solution`` is None for the baseline's."""

    key: str
    case: int
    nodes: list[int]
    descriptor: list[Finite]
    solution: Any = None


class Measured(Struct, frozen=True, kw_only=True):
    """The measurements of a program in ``responses.jsonl``, in the columns of its level.

    ``carried`` is the name of a program that was carried into the round, ``tried`` the number of
    tasks or instances after which a program was stopped. ``work`` holds the numbers of
    :class:`specahd.engine.orders.Work`, for searches of the engine.
    """

    round: int
    outcome: Outcome
    detail: str = ""
    sample: Name | None = None
    carried: Name | None = None
    tier: Tier | None = None
    outcomes: list[Outcome] | None = None
    cost_before: list[Finite] = []
    cost_merged: list[Finite | None] = []
    fallbacks: list[int] = []
    utilities: list[Finite] = []
    penalties: list[Finite] = []
    regions: list[list[Finite] | None] = []
    tried: Count | None = None
    work: list[Count] = []

    def __post_init__(self) -> None:
        if self.sample is None and self.carried is None:
            raise ValueError("Object missing required field `sample`")

    @property
    def program(self) -> str:
        """The program's name."""
        return self.sample or self.carried or ""


class Tasks(Struct, frozen=True):
    """The tasks that a round exposed, in ``responses.jsonl``."""

    round: int
    tasks: list[Task]


class Timing(Struct, frozen=True):
    """Time of a sample's commit, and the seconds until its reply and its commit."""

    sample: Name
    at: float = 0.0
    commit: float | None = None
    reply: float | None = None


class Prompt(Struct, frozen=True):
    """A prompt as sent; all prompts of its level have the first ``shared`` characters in common.

    In ``prompts.jsonl`` these characters stand once: ``begins`` is the sample whose prompt has
    them, None if this one does.
    """

    sample: Name
    prompt: str
    shared: int = 0
    begins: Name | None = None


def journal_type(record: Mapping[str, Any], sample: type[Sample] = Sample) -> type[Struct]:
    """Return the type of a record of ``journal.jsonl``."""
    if "record" not in record:
        return sample
    kinds: Mapping[str, type[Struct]] = {"round": Round, "rewards": Rewards}
    return kinds.get(record["record"], Other)


def uploaded_journal_type(record: Mapping[str, Any]) -> type[Struct]:
    """Return the same type, but :class:`UploadedSample` for a sample."""
    return journal_type(record, UploadedSample)


def responses_type(record: Mapping[str, Any]) -> type[Struct]:
    """Return the type of a record of ``responses.jsonl``."""
    return Tasks if "tasks" in record else Measured
