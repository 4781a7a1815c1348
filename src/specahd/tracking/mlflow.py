"""One MLflow run per training, written by a thread of its own.

The search never waits for the tracker: hooks only put what happened into a
queue. MLflow is imported on the thread (it takes a second or two). Processes
that fork must do so before :meth:`MLflowObserver.on_start`.
"""

import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from specahd.core.budget import Spent
from specahd.core.events import Committed, Observer, RoundEnd
from specahd.tracking.store import Store

if TYPE_CHECKING:
    from mlflow import MlflowClient

# MLflow accepts 1,000 metrics and 100 parameters in one batch.
_METRICS, _PARAMETERS = 1000, 100
_SECONDS_BETWEEN_BATCHES = 1.0
_STATUS = {"complete": "FINISHED", "interrupted": "KILLED", "failed": "FAILED"}


class MLflowObserver(Observer):
    """Keeps parameters, metrics by step, and the checkpoint of one run.

    The step of a sample is its place among all samples committed; that of a
    round's measures is the round.

    Parameters
    ----------
    uri
        Tracking store. A ``sqlite:///`` file is made, once, under a file lock.
    artifacts
        Directory of the artifacts of a sqlite store.
    experiment
        Name of the experiment that holds the run.
    patience
        Seconds that :meth:`on_finish` waits for what is still to be written.
    """

    def __init__(self, uri: str, artifacts: str, experiment: str, patience: float = 30.0) -> None:
        self._store = Store(uri, Path(artifacts), experiment)
        self._patience = patience
        self._queue: SimpleQueue[_Measure | _End] = SimpleQueue()
        self._finishing = Event()
        self._thread: Thread | None = None
        self._failure: Exception | None = None
        self._committed = 0
        self._outcomes: Counter[str] = Counter()
        self._spent: dict[str, float] = {}

    def on_start(self, config: Mapping[str, Any], tickets: int, directory: Path) -> None:
        # A daemon: a store that hangs must not keep the process alive.
        self._thread = Thread(
            target=self._write, args=(config, directory), name="mlflow", daemon=True
        )
        self._thread.start()

    def on_commit(self, sample: Committed, spent: Spent) -> None:
        self._committed += 1
        self._outcomes[sample.outcome.value] += 1
        level, outcome = sample.level.value, sample.outcome.value
        self._measure(f"outcome/{outcome}", self._outcomes[outcome])
        if sample.score is not None:
            self._measure(f"{level}/score", sample.score)
        if sample.best is not None:
            self._measure(f"{level}/best", sample.best)
        reading = asdict(spent)
        for name, value in reading.items():
            if value != self._spent.get(name, 0):
                self._measure(f"spent/{name}", value)
        self._spent = reading

    def on_round(self, end: RoundEnd) -> None:
        for name, value in end.measures.items():
            self._measure(f"round/{name}", value, end.round)

    def on_finish(
        self, status: str, measures: Mapping[str, float], checkpoint: Path | None
    ) -> None:
        """Wait, but not for ever, until all is written.

        Raises
        ------
        TimeoutError
            If the store was too slow.
        Exception
            Whatever stopped the thread.
        """
        if self._thread is None:
            return
        for name, value in measures.items():
            self._measure(f"final/{name}", value)
        self._queue.put(_End(status, checkpoint))
        self._finishing.set()
        self._thread.join(self._patience)
        if self._thread.is_alive():
            raise TimeoutError(f"{self._store.uri} took more than {self._patience:g} s")
        if self._failure is not None:
            raise self._failure

    def _measure(self, name: str, value: float, step: int | None = None) -> None:
        if self._failure is None:
            step = self._committed if step is None else step
            self._queue.put(_Measure(name, float(value), time.time_ns() // 1_000_000, step))

    def _write(self, config: Mapping[str, Any], directory: Path) -> None:
        try:
            run = _open_run(self._store, config, directory)
            end = None
            while end is None:
                measures, end = self._drain()
                run.log(measures)
                self._finishing.wait(_SECONDS_BETWEEN_BATCHES)
            run.close(end)
        except Exception as error:  # noqa: BLE001  # told by on_finish, on the caller's thread
            self._failure = error

    def _drain(self) -> "tuple[list[_Measure], _End | None]":
        """Take what is there, at most one batch; wait for the first item."""
        measures: list[_Measure] = []
        item = self._queue.get()
        while isinstance(item, _Measure):
            measures.append(item)
            if len(measures) == _METRICS:
                return measures, None
            try:
                item = self._queue.get_nowait()
            except Empty:
                return measures, None
        return measures, item


@dataclass(frozen=True, slots=True)
class _Measure:
    name: str
    value: float
    milliseconds: int
    step: int


@dataclass(frozen=True, slots=True)
class _End:
    status: str
    checkpoint: Path | None


@dataclass(frozen=True, slots=True)
class _Run:
    """One open run; only the tracker's thread touches it."""

    client: "MlflowClient"
    id: str

    def log(self, measures: list[_Measure]) -> None:
        from mlflow.entities import Metric

        metrics = [Metric(m.name, m.value, m.milliseconds, m.step) for m in measures]
        if metrics:
            self.client.log_batch(self.id, metrics=metrics)

    def describe(self, parameters: Mapping[str, str]) -> None:
        from mlflow.entities import Param

        params = [Param(name, value) for name, value in parameters.items()]
        for start in range(0, len(params), _PARAMETERS):
            self.client.log_batch(self.id, params=params[start : start + _PARAMETERS])

    def close(self, end: _End) -> None:
        if end.checkpoint is not None:
            self.client.log_artifacts(self.id, str(end.checkpoint), artifact_path="checkpoint")
        self.client.set_terminated(self.id, _STATUS.get(end.status, "FAILED"))


def _open_run(store: Store, config: Mapping[str, Any], directory: Path) -> _Run:
    client, experiment = store.connect()
    choices = {key: str(value) for key, value in config.get("choices", {}).items() if value}
    names = [choices[group] for group in ("problem", "method", "llm") if group in choices]
    tags = {"mlflow.source.name": "specahd", "directory": str(directory.resolve()), **_commit()}
    opened = client.create_run(
        experiment, tags=tags, run_name="-".join([*names, f"seed{config.get('seed')}"])
    )
    run = _Run(client, opened.info.run_id)
    rest = {key: value for key, value in config.items() if key != "choices"}
    run.describe(choices | dict(_flatten(rest)))
    return run


def _flatten(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield dotted names and values, without what only Hydra's instantiate reads."""
    for key, value in values.items():
        if key.startswith("_"):
            continue
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", str(value)


def _commit() -> dict[str, str]:
    """Return the tag of the commit that the working directory is at, if it is at one."""
    try:
        answer = subprocess.run(
            ["git", "rev-parse", "HEAD"], capture_output=True, text=True, timeout=10, check=False
        )
    except OSError:
        return {}
    return {"mlflow.source.git.commit": answer.stdout.strip()} if answer.returncode == 0 else {}
