"""What a broken run has paid for and measured: enough to run it again up to where it broke off.

Nothing of a run's state is stored: a run is a function of its configuration, of
the replies and of what was measured. Resuming repeats it, with the replies of
``wal.jsonl`` and the measurements of ``journal.jsonl`` and ``responses.jsonl``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specahd.core import journal
from specahd.core.contract import Reply, Request
from specahd.core.errors import JournalError
from specahd.core.program import Program

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Past:
    """Replies by sample, and measurements by round and program; empty for a new run."""

    replies: Mapping[str, Record] = field(default_factory=dict)
    measured: Mapping[tuple[int, str], Record] = field(default_factory=dict)

    @classmethod
    def read(cls, directory: Path) -> "Past":
        """Read the files of a run directory, as far as they go."""
        replies = {record["sample"]: record for record in journal.read(directory / "wal.jsonl")}
        samples = {
            record["sample"]: record
            for record in journal.read(directory / "journal.jsonl")
            if "sample" in record
        }
        measured = {}
        for record in journal.read(directory / "responses.jsonl"):
            if "carried" in record:
                measured[record["round"], record["carried"]] = record
            elif record["sample"] in samples:
                sample = samples[record["sample"]]
                measured[sample["round"], record["sample"]] = {**sample, **record}
        for sample in samples.values():
            measured.setdefault((sample["round"], sample["sample"]), sample)
        return cls(replies, measured)

    def reply(self, request: Request) -> tuple[Reply, int] | None:
        """Return the reply that was paid for, and how often its ticket was refunded first.

        Raises
        ------
        JournalError
            The run asked something else then.
        """
        record = self.replies.get(request.id)
        if record is None:
            return None
        if record["hash"] != request.hash:
            raise JournalError(
                f"Sample {request.id} does not come again; "
                "the program or its libraries changed since."
            )
        reply = Reply(
            record["reply"], record["prompt_tokens"], record["completion_tokens"], record["cost"]
        )
        return reply, record["refunds"]

    def measurement(self, number: int, program: Program) -> Record | None:
        """Return what was measured of a program in a round."""
        return self.measured.get((number, program.id))
