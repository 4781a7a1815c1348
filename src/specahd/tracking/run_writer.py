"""One run in an MLflow store: found or made, and written so that writing again changes nothing."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from specahd.tracking.follower import Measure
from specahd.tracking.store import Store, absolute, active_run

if TYPE_CHECKING:
    from mlflow.entities import DatasetInput, Run

KEY = "specahd.key"
_ABOVE = "mlflow.parentRunId"
LONGEST_TAG = 5000
# What MLflow accepts in one request, and in one value.
_METRICS, _PARAMS, _PARAM = 1000, 100, 6000


class MlflowRunWriter:
    """Writes the run of one training, and the runs below it.

    Metrics have the time at which they were measured, so that MLflow drops those that
    it has. Runs are looked for before they are made where an earlier writing may have
    made them already.

    Attributes
    ----------
    doubt
        Whether the next nested run may be there already.
    """

    def __init__(self, store: Store, *, doubt: bool) -> None:
        # A request that is repeated unseen could make a run twice.
        os.environ["MLFLOW_HTTP_REQUEST_MAX_RETRIES"] = "0"
        self.uri = absolute(store.uri)
        self.client, self.experiment = store.connect()
        self.doubt = doubt

    def open(self, run_id: str, key: str, name: str, tags: Mapping[str, str], began: int) -> None:
        """Find the run by its id or its key, or make it; the tags are those of a new one."""
        found = active_run(self.client, run_id) if run_id else None
        # A directory of somebody else's could name any run of this store.
        if found is not None and found.data.tags.get(KEY) != key:
            found = None
        if found is None and self.doubt:
            found = self._search(f"tags.`{KEY}` = '{key}'")
        self.parent = found or self._create(name, {KEY: key, **tags}, began)

    def describe(self, params: Mapping[str, str], tags: Mapping[str, str]) -> None:
        """Add the parameters that the run does not have, and the tags that differ."""
        had = self.parent.data
        missing = [name for name in params if name not in had.params]
        for start in range(0, len(missing), _PARAMS):
            chosen = {name: params[name] for name in missing[start : start + _PARAMS]}
            self.fill(self.parent.info.run_id, {}, chosen, step=0, at=0)
        self.tag({name: value for name, value in tags.items() if had.tags.get(name) != value})

    def tag(self, tags: Mapping[str, str]) -> None:
        """Set tags of the training's run."""
        if tags:
            self.fill(self.parent.info.run_id, {}, {}, tags, step=0, at=0)

    def measure(self, measures: Iterable[tuple[Measure, int]]) -> None:
        """Log measures of the training's run with their times in milliseconds."""
        from mlflow.entities import Metric

        metrics = [Metric(m.name, m.value, at, m.step) for m, at in measures]
        for start in range(0, len(metrics), _METRICS):
            chosen = metrics[start : start + _METRICS]
            self.client.log_batch(self.parent.info.run_id, metrics=chosen)

    def nested(self, name: str, tags: Mapping[str, str], began: int) -> "Run":
        """Return the run of that name below the training's, made if it is not there."""
        if self.doubt:
            found = self.find_nested(name)
            if found is not None:
                return found
            # They are made in order, so those that follow are not there either.
            self.doubt = False
        return self._create(name, {_ABOVE: self.parent.info.run_id, **tags}, began)

    def find_nested(self, name: str) -> "Run | None":
        """Return the run of that name below the training's, None if it is not there."""
        above = self.parent.info.run_id
        return self._search(f"tags.`{_ABOVE}` = '{above}' and attributes.run_name = '{name}'")

    def fill(
        self,
        run_id: str,
        metrics: Mapping[str, float],
        params: Mapping[str, str],
        tags: Mapping[str, str] = MappingProxyType({}),
        *,
        step: int,
        at: int,
    ) -> None:
        """Log metrics, parameters and tags of any run in one request."""
        from mlflow.entities import Metric, Param, RunTag

        self.client.log_batch(
            run_id,
            metrics=[Metric(name, float(value), at, step) for name, value in metrics.items()],
            params=[Param(name, _cut(value, _PARAM)) for name, value in params.items()],
            tags=[RunTag(name, _tag(value)) for name, value in tags.items()],
        )

    def write_text(self, run: "Run", text: str, name: str) -> None:
        """Keep a text as an artifact."""
        folder = self._folder(run)
        if folder is None:
            self.client.log_text(run.info.run_id, text, name)
        else:
            # What the client would do in the end, five milliseconds later.
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def keep(self, path: Path, folder: str) -> None:
        """Keep a file, or all files of a folder, as artifacts of the training's run."""
        log = self.client.log_artifacts if path.is_dir() else self.client.log_artifact
        log(self.parent.info.run_id, str(path), artifact_path=folder)

    def use(self, datasets: "Sequence[DatasetInput]") -> None:
        """Name the data sets that the training used."""
        if datasets:
            self.client.log_inputs(self.parent.info.run_id, list(datasets))

    def reopen(self) -> None:
        """Mark the training's run as going on."""
        if self.parent.info.status != "RUNNING":
            self.client.update_run(self.parent.info.run_id, status="RUNNING")

    def end(self, run_id: str, status: str, at: int) -> None:
        """Mark a run as ended."""
        self.client.set_terminated(run_id, status, at)

    def _create(self, name: str, tags: Mapping[str, str], began: int) -> "Run":
        cut = {key: _tag(value) for key, value in tags.items()}
        return self.client.create_run(self.experiment, start_time=began, tags=cut, run_name=name)

    def _search(self, condition: str) -> "Run | None":
        found = self.client.search_runs([self.experiment], condition, max_results=1)
        return found[0] if found else None

    @staticmethod
    def _folder(run: "Run") -> Path | None:
        """Return where a run's artifacts lie, if that is a folder of this machine."""
        place = urlsplit(run.info.artifact_uri)
        return Path(unquote(place.path)) if place.scheme == "file" else None


def _tag(value: str) -> str:
    return _cut(value, LONGEST_TAG)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
