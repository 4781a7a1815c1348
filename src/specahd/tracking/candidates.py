"""What MLflow keeps of single candidates: a nested run each, rows of one table, or nothing."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from specahd.tracking.description import NOTE
from specahd.tracking.follower import JournalEntry
from specahd.tracking.frozen import Frozen
from specahd.tracking.run_writer import MlflowRunWriter
from specahd.tracking.store import WAYS

TABLE = "candidates.json"
IN_CHECKPOINT, ROLE, SCORE = "in_checkpoint", "role", "checkpoint_score"
"""Tags of a candidate that the checkpoint holds, and the metric that chose it."""
_COLUMNS = (
    *("candidate", "ticket", "level", "round", "operator", "outcome", "score", "parents"),
    *("idea", "detail", "prompt_tokens", "completion_tokens", "cost", "seconds", "source"),
    *(ROLE, SCORE),
)


class Candidates:
    """Is told what became of each sample, the same one perhaps again; keeps nothing of it."""

    def __init__(self, writer: MlflowRunWriter, choices: Mapping[str, str]) -> None:
        self._writer = writer
        self._choices = choices

    def tell(self, entry: JournalEntry, *, known: bool) -> None:
        """Keep a sample that was committed; ``known`` if that was done by another process."""

    def end_round(self) -> None:
        """Show what is kept so far."""

    def freeze(self, programs: Sequence[Frozen], at: int) -> None:
        """Mark those that the run's checkpoint holds, at a time in milliseconds."""


class CandidateTable(Candidates):
    """Keeps candidates as rows of ``candidates.json``, which MLflow shows as a table."""

    def __init__(self, writer: MlflowRunWriter, choices: Mapping[str, str]) -> None:
        super().__init__(writer, choices)
        self._rows: dict[str, Sequence[Any]] = {}
        self._frozen: dict[str, Sequence[Any]] = {}
        self._shown = 0

    def tell(self, entry: JournalEntry, *, known: bool) -> None:
        record, reply = entry.record, entry.reply
        self._rows[record["sample"]] = (
            *(record["sample"], entry.ticket, record["level"], record["round"]),
            *(record["operator"], record["outcome"], record["score"]),
            " ".join(record["parents"]),
            *(record["idea"], record["detail"]),
            *(reply.get(name) for name in ("prompt_tokens", "completion_tokens", "cost")),
            entry.seconds.get("commit"),
            record["source"],
        )

    def end_round(self) -> None:
        if len(self._rows) > self._shown:
            self._write()
            # By this tag the UI knows the file for a table.
            shown = json.dumps([{"path": TABLE, "type": "table"}])
            self._writer.tag({"mlflow.loggedArtifacts": shown})
            self._shown = len(self._rows)

    def freeze(self, programs: Sequence[Frozen], at: int) -> None:
        self._frozen = {program.id: (program.role, program.score) for program in programs}
        if self._rows:
            self._write()

    def _write(self) -> None:
        rows = [(*row, *self._frozen.get(name, (None, None))) for name, row in self._rows.items()]
        table = {"columns": _COLUMNS, "data": rows}
        self._writer.write_text(self._writer.parent, json.dumps(table), TABLE)


class NestedRuns(Candidates):
    """Keeps a run for each candidate below that of its training, with the source beside it."""

    def tell(self, entry: JournalEntry, *, known: bool) -> None:
        if known:
            return
        record, reply = entry.record, entry.reply
        params = {
            **self._choices,
            **{name: str(record[name]) for name in ("level", "round", "operator")},
            "parents": " ".join(record["parents"]),
        }
        tags = {
            "kind": "candidate",
            "outcome": record["outcome"],
            NOTE: record["idea"] or "",
            "detail": record["detail"],
        }
        spent, stages = ("prompt_tokens", "completion_tokens", "cost"), ("reply", "commit")
        metrics = {
            **{name: reply[name] for name in spent if reply.get(name)},
            **{f"seconds/{name}": entry.seconds[name] for name in stages if name in entry.seconds},
        }
        if record["score"] is not None:
            metrics["score"] = record["score"]
        began = entry.at - round(1000 * entry.seconds.get("commit", 0))
        run = self._writer.nested(record["sample"], {k: v for k, v in tags.items() if v}, began)
        self._writer.fill(run.info.run_id, metrics, params, step=entry.ticket, at=entry.at)
        if record["source"] is not None:
            self._writer.write_text(run, record["source"], "program.py")
        else:
            self._writer.write_text(run, record["reply"], "reply.txt")
        status = "FINISHED" if record["outcome"] == "ok" else "FAILED"
        self._writer.end(run.info.run_id, status, entry.at)

    def freeze(self, programs: Sequence[Frozen], at: int) -> None:
        for program in programs:
            # Seeds, and what another run had learned, have no run here.
            run = self._writer.find_nested(program.id)
            if run is not None:
                score = {} if program.score is None else {SCORE: program.score}
                tags = {IN_CHECKPOINT: "true", ROLE: program.role}
                self._writer.fill(run.info.run_id, score, {}, tags, step=0, at=at)


WRITERS: Mapping[str, type[Candidates]] = dict(
    zip(WAYS, (NestedRuns, CandidateTable, Candidates), strict=True)
)
"""Who does it, by the values of ``tracking.candidates``."""
