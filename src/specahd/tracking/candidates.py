"""Writers of single candidates to MLflow: as nested runs, table rows, or not at all."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specahd.reporting.frozen import Frozen
from specahd.tracking.description import NOTE
from specahd.tracking.follower import JournalEntry
from specahd.tracking.run_writer import MlflowRunWriter
from specahd.tracking.store import WAYS

TABLE = "candidates.json"
IN_CHECKPOINT, ROLE, SCORE = "in_checkpoint", "role", "checkpoint_score"
"""Tags of a candidate that the checkpoint holds, and the metric that chose it."""
_SPENT = ("prompt_tokens", "completion_tokens", "cost")
_COLUMNS = (
    *("candidate", "ticket", "level", "round", "operator", "outcome", "score", "parents"),
    *("idea", "detail", *_SPENT, "seconds", "source", ROLE, SCORE),
)


@dataclass
class Candidates:
    """The base writer: receives each sample, perhaps repeatedly, and writes nothing.

    Parameters
    ----------
    directory
        That of the run.
    choices
        The parameters that distinguish the run.
    """

    writer: MlflowRunWriter
    directory: Path
    choices: Mapping[str, str]

    def tell(self, entry: JournalEntry, *, known: bool) -> None:
        """Write a committed sample; ``known`` if another process has written it."""

    def end_round(self) -> None:
        """Write buffered rows."""

    def freeze(self, programs: Sequence[Frozen], at: int) -> None:
        """Mark the candidates in the run's checkpoint, at a time in milliseconds."""


@dataclass
class CandidateTable(Candidates):
    """Keeps candidates as rows of ``candidates.json``, which MLflow shows as a table."""

    _rows: dict[str, dict[str, Any]] = field(default_factory=dict)

    def tell(self, entry: JournalEntry, *, known: bool) -> None:
        record = entry.record
        values = {
            **record,
            **{name: entry.reply.get(name) for name in _SPENT},
            "candidate": record["sample"],
            "ticket": entry.ticket,
            "parents": " ".join(record["parents"]),
            "seconds": entry.seconds.get("commit"),
        }
        self._rows[record["sample"]] = {name: values.get(name) for name in _COLUMNS}

    def end_round(self) -> None:
        if self._rows:
            rows = [list(row.values()) for row in self._rows.values()]
            table = json.dumps({"columns": _COLUMNS, "data": rows})
            self.writer.write_text(self.writer.parent, table, TABLE)
            # This tag makes the UI show the file as a table.
            artifacts = json.dumps([{"path": TABLE, "type": "table"}])
            self.writer.fill(self.writer.parent, tags={"mlflow.loggedArtifacts": artifacts})

    def freeze(self, programs: Sequence[Frozen], at: int) -> None:
        for program in programs:
            if program.id in self._rows:
                self._rows[program.id] |= {ROLE: program.role, SCORE: program.score}
        self.end_round()


class NestedRuns(Candidates):
    """Keeps a run for each candidate below that of its training, with the source beside it."""

    def tell(self, entry: JournalEntry, *, known: bool) -> None:
        if known:
            return
        record, reply, seconds = entry.record, entry.reply, entry.seconds
        tags = {
            "kind": "candidate",
            "outcome": record["outcome"],
            NOTE: record["idea"],
            "detail": record["detail"],
        }
        began = entry.at - round(1000 * seconds.get("commit", 0))
        run = self.writer.nested(record["sample"], {k: v for k, v in tags.items() if v}, began)
        params = {
            **self.choices,
            **{name: str(record[name]) for name in ("level", "round", "operator")},
            "parents": " ".join(record["parents"]),
        }
        stages = [name for name in ("reply", "commit") if name in seconds]
        metrics = {
            **{name: reply[name] for name in _SPENT if reply.get(name)},
            **{f"seconds/{name}": seconds[name] for name in stages},
            **({} if record["score"] is None else {"score": record["score"]}),
        }
        self.writer.fill(run, metrics, params, step=entry.ticket, at=entry.at)
        if record["source"] is not None:
            self.writer.write_text(run, record["source"], "program.py")
        else:
            self.writer.write_text(run, record["reply"], "reply.txt")
        status = "FINISHED" if record["outcome"] == "ok" else "FAILED"
        self.writer.client.set_terminated(run.info.run_id, status, entry.at)

    def freeze(self, programs: Sequence[Frozen], at: int) -> None:
        for program in programs:
            # Seed programs and programs of other runs have no run here.
            run = self.writer.find_nested(program.id)
            if run is not None:
                score = {} if program.score is None else {SCORE: program.score}
                tags = {IN_CHECKPOINT: "true", ROLE: program.role}
                self.writer.fill(run, score, tags=tags, at=at)


WRITERS: Mapping[str, type[Candidates]] = dict(
    zip(WAYS, (NestedRuns, CandidateTable, Candidates), strict=True)
)
"""The writers by the values of ``tracking.candidates``."""
