"""One run in an MLflow store: found or created, and written idempotently."""

import os
from collections.abc import Iterable, Mapping
from math import nan
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from specahd.tracking.description import Description
from specahd.tracking.follower import Measure
from specahd.tracking.store import Store

if TYPE_CHECKING:
    from mlflow.entities import Run

KEY = "specahd.key"
# Lengths of the longest values that MLflow accepts.
LONGEST_TAG, _LONGEST_PARAM = 5000, 6000
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class MlflowRunWriter:
    """Writer of the run of one training.

    Metrics have the time at which they were measured, so that MLflow drops those that
    it has already. If an earlier process may have created the run, the run is searched
    for before it is created.

    Attributes
    ----------
    doubt
        Whether the next values to write may be in the store already.
    """

    def __init__(self, store: Store, *, doubt: bool) -> None:
        # A request that MLflow repeats by itself could create a run twice.
        os.environ["MLFLOW_HTTP_REQUEST_MAX_RETRIES"] = "0"
        self.client, self.experiment = store.connect()
        self.doubt = doubt

    def open(self, key: str, described: Description, began: int, unmeasured: Iterable[str]) -> None:
        """Find the run by its key, or create it; add missing fields, and mark it as running.

        Only the key identifies a run, as an untrusted directory could name any run of the store.

        Parameters
        ----------
        unmeasured
            Names of metrics that are nan until they are measured.
        """
        tags = described.tags()
        found = self._search(f"tags.`{KEY}` = '{key}'") if self.doubt else None
        self.parent = found or self._create(described.name, {KEY: key, **tags}, began)
        run_id, had = self.parent.info.run_id, self.parent.data
        params = {name: v for name, v in described.params().items() if name not in had.params}
        differing = {name: value for name, value in tags.items() if had.tags.get(name) != value}
        nothing = {name: nan for name in unmeasured if name not in had.metrics}
        # Logged first, so that every measured value is newer.
        self.fill(nothing, params, differing, at=began - 1)
        if datasets := described.datasets():
            self.client.log_inputs(run_id, datasets)
        if self.parent.info.status != "RUNNING":
            self.client.update_run(run_id, status="RUNNING")

    def measure(self, measures: Iterable[tuple[Measure, int]]) -> None:
        """Log measures of the training's run with their times in milliseconds."""
        from mlflow.entities import Metric

        metrics = [Metric(m.name, m.value, at, m.step) for m, at in measures]
        self.client.log_batch(self.parent.info.run_id, metrics)

    def fill(
        self,
        metrics: Mapping[str, float] = _NOTHING,
        params: Mapping[str, str] = _NOTHING,
        tags: Mapping[str, str] = _NOTHING,
        *,
        at: int = 0,
    ) -> None:
        """Log metrics, parameters and tags, in as few requests as MLflow allows."""
        from mlflow.entities import Metric, Param, RunTag

        self.client.log_batch(
            self.parent.info.run_id,
            metrics=[Metric(name, float(value), at, 0) for name, value in metrics.items()],
            params=[Param(name, _cut(value, _LONGEST_PARAM)) for name, value in params.items()],
            tags=[RunTag(name, _cut(value, LONGEST_TAG)) for name, value in tags.items()],
        )

    def write_text(self, text: str, name: str) -> None:
        """Store a text as an artifact."""
        self.client.log_text(self.parent.info.run_id, text, name)

    def _create(self, name: str, tags: Mapping[str, str], began: int) -> "Run":
        cut = {key: _cut(value, LONGEST_TAG) for key, value in tags.items()}
        return self.client.create_run(self.experiment, start_time=began, tags=cut, run_name=name)

    def _search(self, condition: str) -> "Run | None":
        found = self.client.search_runs([self.experiment], condition, max_results=1)
        return found[0] if found else None


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
