"""The candidates of a run as a table in MLflow: scores, ideas, sources, and refused replies."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from specahd.reporting.family import Frozen
from specahd.tracking.follower import JournalEntry
from specahd.tracking.run_writer import MlflowRunWriter

TABLE = "candidates.json"
ROLE, SCORE = "role", "checkpoint_score"
"""Columns of candidates in the checkpoint: their role, and the score that selected them."""
_SPENT = ("prompt_tokens", "completion_tokens", "cost")
_COLUMNS = (
    *("candidate", "ticket", "level", "round", "operator", "outcome", "score", "parents"),
    *("idea", "detail", *_SPENT, "seconds", "source", "reply", ROLE, SCORE),
)


@dataclass
class CandidateTable:
    """The table ``candidates.json``, which MLflow's UI shows among the run's artifacts.

    One column holds a program's source, another the whole reply if it contained no program.
    """

    writer: MlflowRunWriter
    _rows: dict[str, dict[str, Any]] = field(default_factory=dict)

    def tell(self, entry: JournalEntry) -> None:
        """Add the row of a committed sample, or replace it."""
        record = entry.record
        values = {
            **record,
            **{name: entry.reply.get(name) for name in _SPENT},
            "candidate": record["sample"],
            "ticket": entry.ticket,
            "parents": " ".join(record["parents"]),
            "seconds": entry.seconds.get("commit"),
            "reply": record["reply"] if record["source"] is None else None,
        }
        self._rows[record["sample"]] = {name: values.get(name) for name in _COLUMNS}

    def write(self) -> None:
        """Write the table, if it has any row."""
        if self._rows:
            rows = [list(row.values()) for row in self._rows.values()]
            self.writer.write_text(json.dumps({"columns": _COLUMNS, "data": rows}), TABLE)
            # This tag makes the UI show the file as a table.
            artifacts = json.dumps([{"path": TABLE, "type": "table"}])
            self.writer.fill(tags={"mlflow.loggedArtifacts": artifacts})

    def mark(self, programs: Sequence[Frozen]) -> None:
        """Mark the candidates that are in the run's checkpoint."""
        for program in programs:
            # Seed programs and programs of other runs have no row here.
            if program.id in self._rows:
                self._rows[program.id] |= {ROLE: program.role, SCORE: program.score}
