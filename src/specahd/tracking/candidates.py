"""Writers of single candidates to MLflow: as nested runs, table rows, traces, or not at all."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specahd.core import journal
from specahd.reporting.frozen import Frozen
from specahd.runs.files import PROMPTS
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


@dataclass
class Traces(Candidates):
    """Keeps each sample's request to the language model, and what came back, as a trace."""

    _prompts: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Asynchronous threads would drop failed traces.
        os.environ["MLFLOW_ENABLE_ASYNC_TRACE_LOGGING"] = "false"
        import mlflow

        mlflow.set_tracking_uri(self.writer.client.tracking_uri)

    def tell(self, entry: JournalEntry, *, known: bool) -> None:
        """Keep the request and the reply of a sample that was committed.

        Raises
        ------
        OSError
            MLflow dropped the trace without an error.
        """
        sample = entry.record["sample"]
        if known or (self.writer.doubt and self._is_there(sample)):
            return
        self._write(entry)
        if not self._is_there(sample):
            raise OSError(f"no trace of {sample} arrived")

    def _write(self, entry: JournalEntry) -> None:
        from mlflow import start_span_no_context
        from mlflow.entities import SpanType

        record, reply, training = entry.record, entry.reply, self.writer.parent.info.run_id
        took = [1e9 * entry.seconds.get(name, 0.0) for name in ("commit", "reply")]
        began = 1_000_000 * entry.at - round(took[0])
        tokens = [reply.get(name, 0) for name in ("prompt_tokens", "completion_tokens")]
        span = start_span_no_context(
            record["operator"],
            span_type=SpanType.CHAT_MODEL,
            inputs={"messages": [{"role": "user", "content": self._prompt(record["sample"])}]},
            attributes={
                "mlflow.chat.tokenUsage": {  # type: ignore[dict-item]  # annotated too narrowly
                    "input_tokens": tokens[0],
                    "output_tokens": tokens[1],
                    "total_tokens": sum(tokens),
                },
                "cost": reply.get("cost", 0.0),
                "outcome": record["outcome"],
            },
            tags={
                **self.choices,
                "candidate": record["sample"],
                "training": training,
                "outcome": record["outcome"],
            },
            metadata={"mlflow.sourceRun": training},
            experiment_id=self.writer.experiment,
            start_time_ns=began,
        )
        message = {"role": "assistant", "content": record["reply"]}
        span.end(outputs={"choices": [{"message": message}]}, end_time_ns=began + round(took[1]))

    def _is_there(self, sample: str) -> bool:
        training = self.writer.parent.info.run_id
        found = self.writer.client.search_traces(
            locations=[self.writer.experiment],
            filter_string=f"tags.candidate = '{sample}' and tags.training = '{training}'",
            max_results=1,
            include_spans=False,
        )
        return bool(found)

    def _prompt(self, sample: str) -> str:
        if sample not in self._prompts:
            records = journal.read_records(self.directory / PROMPTS)
            self._prompts = {record["sample"]: record["prompt"] for record in records}
        return self._prompts.get(sample, "")


WRITERS: Mapping[str, type[Candidates]] = dict(
    zip(WAYS, (NestedRuns, CandidateTable, Candidates), strict=True)
)
"""The writers by the values of ``tracking.candidates``."""
