"""Requests to the language model as MLflow traces, with what was asked and what came back."""

import os
from collections.abc import Mapping
from pathlib import Path

from specahd.core import journal
from specahd.runs.files import PROMPTS
from specahd.tracking.follower import JournalEntry
from specahd.tracking.run_writer import MlflowRunWriter


class Traces:
    """Keeps a trace for each sample; telling the same one again changes nothing."""

    def __init__(
        self, writer: MlflowRunWriter, directory: Path, choices: Mapping[str, str]
    ) -> None:
        # Else traces are sent by threads that drop what fails.
        os.environ["MLFLOW_ENABLE_ASYNC_TRACE_LOGGING"] = "false"
        import mlflow

        mlflow.set_tracking_uri(writer.uri)
        self._writer = writer
        self._directory = directory
        self._choices = choices
        self._prompts: dict[str, str] = {}

    def tell(self, entry: JournalEntry) -> None:
        """Keep the request and the reply of a sample that was committed.

        Raises
        ------
        OSError
            MLflow did not take it, which it does not say itself.
        """
        sample = entry.record["sample"]
        if self._writer.doubt and self._is_there(sample):
            return
        self._write(entry)
        if not self._is_there(sample):
            raise OSError(f"no trace of {sample} arrived")

    def _write(self, entry: JournalEntry) -> None:
        from mlflow import start_span_no_context
        from mlflow.entities import SpanType

        record, reply = entry.record, entry.reply
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
                **self._choices,
                "candidate": record["sample"],
                "training": self._writer.parent.info.run_id,
                "outcome": record["outcome"],
            },
            metadata={"mlflow.sourceRun": self._writer.parent.info.run_id},
            experiment_id=self._writer.experiment,
            start_time_ns=began,
        )
        message = {"role": "assistant", "content": record["reply"]}
        span.end(outputs={"choices": [{"message": message}]}, end_time_ns=began + round(took[1]))

    def _is_there(self, sample: str) -> bool:
        training = self._writer.parent.info.run_id
        found = self._writer.client.search_traces(
            locations=[self._writer.experiment],
            filter_string=f"tags.candidate = '{sample}' and tags.training = '{training}'",
            max_results=1,
            include_spans=False,
        )
        return bool(found)

    def _prompt(self, sample: str) -> str:
        if sample not in self._prompts:
            self._prompts = {
                record["sample"]: record["prompt"]
                for record in journal.read(self._directory / PROMPTS)
            }
        return self._prompts.get(sample, "")
