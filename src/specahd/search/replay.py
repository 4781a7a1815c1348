"""Recorded replies and measurements of an interrupted run, from which it is repeated.

The state of a run is not stored: a run is a function of its configuration, of
the replies and of the measurements. Resuming repeats it, with the replies of
``wal.jsonl`` and the measurements of ``responses.jsonl`` and ``journal.jsonl``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from pathlib import Path

from specahd.core import journal
from specahd.core.contract import Request
from specahd.core.errors import RunFailed
from specahd.core.program import Program
from specahd.core.proposer import Reply
from specahd.memory.novelty import Verdict
from specahd.runs.files import JOURNAL, REPLIES, RESPONSES
from specahd.runs.reading import require_current
from specahd.runs.records import (
    Answer,
    Measured,
    Rewards,
    Round,
    Sample,
    Tasks,
    journal_type,
    responses_type,
)

NOT_REPRODUCED = (
    "The content of responses.jsonl is not reproduced; "
    "the program, its libraries or this file changed since."
)
"""Message of a run that ends because its recorded measurements are not of its own tasks."""


@dataclass(frozen=True)
class Replay:
    """The records of a run; empty for a new run.

    Parameters
    ----------
    replies
        Recorded replies by sample.
    measured
        Measurements by round and program.
    tasks
        Exposed tasks by round.
    selection
        By round, of its candidate: the upper programs, the mean improvement on the selection pool
        (nan if it failed on all instances), the number of instances on which it failed, and that
        of the finalists that were stopped.
    verdicts
        Verdicts on novelty, by program.
    rewards
        What pairs of programs earned, by round.
    """

    replies: Mapping[str, Answer] = field(default_factory=dict)
    measured: Mapping[tuple[int, str], Measured] = field(default_factory=dict)
    tasks: Mapping[int, Tasks] = field(default_factory=dict)
    selection: Mapping[int, tuple[list[str], float, int, int]] = field(default_factory=dict)
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    rewards: Mapping[int, Rewards] = field(default_factory=dict)

    @classmethod
    def read(cls, directory: Path) -> "Replay":
        """Read the files of a run directory up to their end.

        Raises
        ------
        FileError
            A line does not match the schema, or another version wrote the run.
        """
        require_current(directory)
        replies = {each.sample: each for each in journal.read_records(directory / REPLIES, Answer)}
        measured, tasks = {}, {}
        for record in journal.read_records(directory / RESPONSES, responses_type):
            if isinstance(record, Tasks):
                tasks[record.round] = record
            else:
                measured[record.round, record.program] = record
        selection, verdicts, rewards = {}, {}, {}
        for record in journal.read_records(directory / JOURNAL, journal_type):
            if isinstance(record, Round):
                mean = nan if record.selection is None else float(record.selection)
                counts = record.selection_failed, record.finalists_stopped
                selection[record.round] = record.chosen, mean, *counts
            elif isinstance(record, Rewards):
                rewards[record.round] = record
            elif isinstance(record, Sample) and record.novelty is not None:
                found = record.novelty
                verdicts[record.sample] = Verdict(
                    found.duplicate_of, found.nearest, found.similarity
                )
        return cls(replies, measured, tasks, selection, verdicts, rewards)

    def reply(self, request: Request) -> tuple[Reply, int] | None:
        """Return the recorded reply, and the number of earlier refunds of its ticket.

        Raises
        ------
        RunFailed
            The recorded request differs from this one.
        """
        record = self.replies.get(request.id)
        if record is None:
            return None
        if record.hash != request.hash:
            raise RunFailed(
                f"Sample {request.id} is not reproduced; "
                "the program or its libraries changed since."
            )
        return record.answer, record.refunds

    def skills(self, sample: str) -> Sequence[str] | None:
        """Return the identifiers of the skill records in a recorded request."""
        record = self.replies.get(sample)
        return None if record is None else record.request.skills

    def measurement(self, number: int, program: Program) -> Measured | None:
        """Return the recorded measurement of a program in a round."""
        return self.measured.get((number, program.id))
