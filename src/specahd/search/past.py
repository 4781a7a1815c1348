"""What a broken run has paid for and measured: enough to run it again up to where it broke off.

Nothing of a run's state is stored: a run is a function of its configuration, of
the replies and of what was measured. Resuming repeats it, with the replies of
``wal.jsonl`` and the measurements of ``responses.jsonl`` and ``journal.jsonl``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specahd.core import journal
from specahd.core.contract import Reply, Request
from specahd.core.errors import RunFailed
from specahd.core.program import Program
from specahd.memory.novelty import Verdict

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Past:
    """What is known, empty for a new run.

    Parameters
    ----------
    replies
        By sample.
    measured
        By round and program.
    tasks, selection
        What each round exposed, and how its candidate did, by round.
    verdicts
        Which programs were new, by program.
    """

    replies: Mapping[str, Record] = field(default_factory=dict)
    measured: Mapping[tuple[int, str], Record] = field(default_factory=dict)
    tasks: Mapping[int, Record] = field(default_factory=dict)
    selection: Mapping[int, float] = field(default_factory=dict)
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)

    @classmethod
    def read(cls, directory: Path) -> "Past":
        """Read the files of a run directory, as far as they go."""
        replies = {record["sample"]: record for record in journal.read(directory / "wal.jsonl")}
        measured, tasks = {}, {}
        for record in journal.read(directory / "responses.jsonl"):
            if "tasks" in record:
                tasks[record["round"]] = record
            else:
                program = record["sample"] if "sample" in record else record["carried"]
                measured[record["round"], program] = record
        selection, verdicts = {}, {}
        for record in journal.read(directory / "journal.jsonl"):
            if record.get("record") == "round":
                selection[record["round"]] = record["selection"]
            elif record.get("novelty") is not None:
                verdicts[record["sample"]] = Verdict.recalled(record["novelty"])
        return cls(replies, measured, tasks, selection, verdicts)

    def reply(self, request: Request) -> tuple[Reply, int] | None:
        """Return the reply that was paid for, and how often its ticket was refunded first.

        Raises
        ------
        RunFailed
            The run asked something else then.
        """
        record = self.replies.get(request.id)
        if record is None:
            return None
        if record["hash"] != request.hash:
            raise RunFailed(
                f"Sample {request.id} does not come again; "
                "the program or its libraries changed since."
            )
        reply = Reply(
            record["reply"], record["prompt_tokens"], record["completion_tokens"], record["cost"]
        )
        return reply, record["refunds"]

    def skills(self, sample: str) -> Sequence[str] | None:
        """Return the identifiers of the skill records that a paid request bore."""
        record = self.replies.get(sample)
        return None if record is None else record["request"]["skills"]

    def measurement(self, number: int, program: Program) -> Record | None:
        """Return what was measured of a program in a round."""
        return self.measured.get((number, program.id))
