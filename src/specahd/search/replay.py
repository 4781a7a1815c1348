"""What a broken run has paid for and measured: enough to run it again up to where it broke off.

Nothing of a run's state is stored: a run is a function of its configuration, of
the replies and of what was measured. Resuming repeats it, with the replies of
``wal.jsonl`` and the measurements of ``responses.jsonl`` and ``journal.jsonl``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from pathlib import Path
from typing import Any

from specahd.core import journal
from specahd.core.contract import Request
from specahd.core.errors import RunFailed
from specahd.core.plain import NAME, Shape
from specahd.core.program import Outcome, Program, Tier
from specahd.core.proposer import Reply
from specahd.memory.novelty import Verdict
from specahd.runs.files import JOURNAL, REPLIES, RESPONSES
from specahd.runs.reading import require_current

Record = Mapping[str, Any]

NOT_REPRODUCED = (
    "What responses.jsonl holds does not come again; "
    "the program, its libraries or this file changed since."
)
"""Why a run ends whose measurements are not of its own tasks."""

# What each kind of line must have; others fields are not read.
_REPLY: Shape = {
    "sample": NAME,
    "hash": str,
    "reply": str,
    "prompt_tokens": int,
    "completion_tokens": int,
    "cost": float,
    "refunds": int,
    "request": {"skills": [str]},
}
_TASKS: Shape = {
    "round": int,
    "tasks": [{"key": str, "case": int, "nodes": [int], "descriptor": [float]}],
}
_MEASURED: Shape = {"round": int, "outcome": Outcome, "detail": str}
_LOWER: Shape = {
    "tier": Tier,
    "outcomes": [Outcome],
    "cost_before": [float],
    "cost_merged": [float | None],
    "fallbacks": [int],
}
_UPPER: Shape = {"utilities": [float], "penalties": [float], "regions": [([float], None)]}
_ROUND: Shape = {"round": int, "upper": NAME, "selection": float | None}
_VERDICT: Shape = {
    "duplicate_of": str | None,
    "nearest": str | None,
    "similarity": dict[str, float],
}


@dataclass(frozen=True)
class Replay:
    """What is known, empty for a new run.

    Parameters
    ----------
    replies
        By sample.
    measured
        By round and program.
    tasks
        What each round exposed, by round.
    selection
        Of each round's candidate the upper programs, its mean improvement on the selection pool,
        nan if it failed on all instances, and on how many it failed.
    verdicts
        Which programs were new, by program.
    """

    replies: Mapping[str, Record] = field(default_factory=dict)
    measured: Mapping[tuple[int, str], Record] = field(default_factory=dict)
    tasks: Mapping[int, Record] = field(default_factory=dict)
    selection: Mapping[int, tuple[list[str], float, int]] = field(default_factory=dict)
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)

    @classmethod
    def read(cls, directory: Path) -> "Replay":
        """Read the files of a run directory, as far as they go.

        Raises
        ------
        FileError
            A line is not what a run writes, or another version wrote the run.
        """
        require_current(directory)
        replies = {record["sample"]: record for record in journal.read(directory / REPLIES, _REPLY)}
        measured, tasks = {}, {}
        for record in journal.read(directory / RESPONSES, _of_response):
            if "tasks" in record:
                tasks[record["round"]] = record
            else:
                program = record["sample"] if "sample" in record else record["carried"]
                measured[record["round"], program] = record
        selection, verdicts = {}, {}
        for record in journal.read(directory / JOURNAL, _of_record):
            if record.get("record") == "round":
                mean = nan if record["selection"] is None else float(record["selection"])
                failed = record.get("selection_failed", 0)
                uppers = record.get("uppers", [record["upper"]])
                selection[record["round"]] = uppers, mean, failed
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


def _of_response(record: Record) -> Shape:
    """Return the shape of a line of ``responses.jsonl``."""
    if "tasks" in record:
        return _TASKS
    who = {"sample" if "sample" in record else "carried": NAME}
    vector: Shape = {}
    for columns in (_LOWER, _UPPER):
        if any(name in record for name in columns if name != "tier"):
            vector = columns
    return {**_MEASURED, **who, **vector}


def _of_record(record: Record) -> Shape:
    """Return the shape of a line of ``journal.jsonl``, as far as it is read."""
    if record.get("record") == "round":
        more = {"selection_failed": int, "uppers": [NAME]}
        return {**_ROUND, **{name: shape for name, shape in more.items() if name in record}}
    if record.get("novelty") is not None:
        return {"sample": NAME, "novelty": _VERDICT}
    return {}
