"""Traces in MLflow: one for each request to the language model.

A trace holds prompt, reply, tokens and cost, in the attributes that MLflow's overview reads.
Its session is the round and the level. The program's outcome and score are feedback. The
common beginning of all prompts of a level is a version in the prompt registry.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specahd.core import journal
from specahd.runs.reading import read_prompts
from specahd.runs.records import Prompt
from specahd.tracking.description import Description
from specahd.tracking.follower import JournalEntry

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities.model_registry import PromptVersion

_REQUEST = "\n\n{{request}}"
"""Placeholder in a registered prompt for the text that differs between a level's requests."""


class Traces:
    """Writer of the traces of one run, in an experiment and with a run of the given ids.

    Attributes
    ----------
    may_be_stored
        Whether the next trace to write may be in the store already.
    """

    def __init__(
        self,
        client: "MlflowClient",
        experiment: str,
        run_id: str,
        directory: Path,
        described: Description,
        *,
        may_be_stored: bool,
    ) -> None:
        # Asynchronous logging would drop failed traces.
        os.environ["MLFLOW_ENABLE_ASYNC_TRACE_LOGGING"] = "false"
        import mlflow

        mlflow.set_tracking_uri(client.tracking_uri)
        self._client = client
        self._experiment = experiment
        self._run_id = run_id
        self._directory = directory
        self._choices, self._params = described.choices, described.params()
        self._prompts: dict[str, Prompt] = {}
        self._versions: dict[tuple[str, str], PromptVersion] = {}
        self.may_be_stored = may_be_stored

    def tell(self, entry: JournalEntry, *, known: bool) -> None:
        """Write the trace of the request that a journal record answers.

        Parameters
        ----------
        known
            Whether the record was uploaded before; then nothing is written.

        Raises
        ------
        OSError
            MLflow dropped the trace without an error.
        """
        request = entry.request
        if request is None or known or (self.may_be_stored and self._is_there(request)):
            return
        # Traces are written in order, so the later ones are not in the store either.
        self.may_be_stored = False
        self._write(entry, request)
        if not self._is_there(request):
            raise OSError(f"no trace of {request} arrived")

    def _write(self, entry: JournalEntry, request: str) -> None:
        from mlflow import start_span_no_context
        from mlflow.entities import SpanType

        record, training = entry.record, self._run_id
        run = self._directory.resolve().name
        sent = self._prompt(request)
        took = [1e9 * entry.seconds.get(name, 0.0) for name in ("commit", "reply")]
        began = 1_000_000 * entry.at - round(took[0])
        span = start_span_no_context(
            record["operator"],
            span_type=SpanType.CHAT_MODEL,
            inputs={"messages": [{"role": "user", "content": sent.prompt}]},
            attributes=self._attributes(entry.reply),
            tags={**self._choices, "candidate": request, "training": training},
            metadata={
                "mlflow.sourceRun": training,
                "mlflow.trace.session": f"{run} round {record['round']} {record['level']}",
            },
            experiment_id=self._experiment,
            start_time_ns=began,
        )
        message = {"role": "assistant", "content": record["reply"]}
        span.end(outputs={"choices": [{"message": message}]}, end_time_ns=began + round(took[1]))
        self._assess(span.trace_id, record)
        if sent.shared:
            shared = sent.prompt[: sent.shared]
            parts = ["specahd", self._params["problem"], self._params["problem.repair"]]
            parts += [record["level"], *([] if entry.ticket else ["text"])]
            version = self._version("-".join(parts), shared + _REQUEST)
            self._client.link_prompt_versions_to_trace([version], span.trace_id)

    def _attributes(self, reply: journal.Record) -> dict[str, Any]:
        read, written = (reply.get(name, 0) for name in ("prompt_tokens", "completion_tokens"))
        provider, model = (self._params.get(name, "None") for name in ("llm", "llm.model"))
        return {
            "mlflow.chat.tokenUsage": {
                "input_tokens": read,
                "output_tokens": written,
                "total_tokens": read + written,
            },
            "mlflow.llm.cost": {"total_cost": reply.get("cost", 0.0)},
            # Earlier versions do not record which model answered.
            "mlflow.llm.model": reply.get("model") or (provider if model == "None" else model),
            "mlflow.llm.provider": provider,
        }

    def _assess(self, trace: str, record: journal.Record) -> None:
        """Log the outcome of a program, and its score if it has one, as feedback."""
        from mlflow import log_feedback
        from mlflow.entities import AssessmentSource

        source = AssessmentSource(source_type="CODE", source_id="specahd")
        for name, reason in (("outcome", record.get("detail")), ("score", None)):
            if record.get(name) is not None:
                log_feedback(
                    trace_id=trace,
                    name=name,
                    value=record[name],
                    source=source,
                    rationale=reason or None,
                )

    def _version(self, name: str, template: str) -> "PromptVersion":
        """Return the version of a registered prompt with this text; create it if there is none."""
        key = name, template
        if key not in self._versions:
            client = self._client
            exists = client.get_prompt(name) is not None
            known = client.search_prompt_versions(name, max_results=100) if exists else []
            same = [version for version in known if version.template == template]
            self._versions[key] = same[0] if same else client.register_prompt(name, template)
        return self._versions[key]

    def _is_there(self, request: str) -> bool:
        training = self._run_id
        found = self._client.search_traces(
            locations=[self._experiment],
            filter_string=f"tags.candidate = '{request}' and tags.training = '{training}'",
            max_results=1,
            include_spans=False,
        )
        return bool(found)

    def _prompt(self, request: str) -> Prompt:
        if request not in self._prompts:
            self._prompts = read_prompts(self._directory)
        return self._prompts.get(request, Prompt(request, ""))
