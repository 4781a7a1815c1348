"""The MLflow store of the runs: created once for writing, only opened for reading.

The UI stores the saved views of an experiment (columns and charts) in its tags, and lists them
under *Views* on the runs page; ``viewStateShareKey`` in the address opens one. The server's own
address opens a page without runs. An address without ``workflowType`` opens the UI's pages for
chats. :mod:`specahd.tracking.ui` starts the UI.
"""

import json
import logging
import os
import re
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from filelock import FileLock

from specahd.core.errors import FileError
from specahd.core.extras import require
from specahd.core.options import check_options, option
from specahd.core.services import without_password
from specahd.runs.files import POOLS

if TYPE_CHECKING:
    from mlflow import MlflowClient

URI, ARTIFACTS, EXPERIMENT = "sqlite:///mlruns/mlflow.db", "mlruns/artifacts", "specahd"
"""Values of ``conf/tracking/mlflow.yaml``: the store that ``make ui`` serves."""
PORT = 5000
"""The port of ``make ui``."""
VIEW = "by-problem"
VIEW_TAG = f"mlflow.sharedViewState.{VIEW}"
TRAININGS = "tags.kind = 'training'"
"""The condition of a search for trainings; candidates and sweeps are runs as well."""
SELECTION = "selection/improvement"
"""The metric by which trainings are compared: their mean improvement on the selection pool."""
NOTE = "mlflow.note.content"
"""The tag that MLflow shows as a run's description, in Markdown."""
# Lengths of the longest values that MLflow accepts.
LONGEST_TAG, _LONGEST_PARAM = 5000, 6000
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_SQLITE = "sqlite:///"
_SETTINGS = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "3",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
}
"""Environment variables of MLflow, set unless the user has set them."""
_WORKFLOW = "?workflowType=machine_learning"


def percent_metric(pool: str) -> str:
    """Return the name of the metric with a pool's mean improvement in percent, to hundredths."""
    return f"improvement_percent/{pool}"


# Selection first: trainings may be selected by this pool only.
_RESULTS = tuple(percent_metric(pool) for pool in POOLS)
_CURVES = ("lower/best", "upper/best")
_SECTION = "results"
# An improvement has no meaning without these parameters.
_TASK = ("problem", "problem.repair")
# Widths: usual names are not cut, and a page of 1600 pixels shows the columns up to the status.
_PIXELS = {
    "attributes.`Run Name`": 340,
    **{f"metrics.`{name}`": 205 for name in _RESULTS},
    "params.`problem.repair`": 110,
    "params.`problem.baseline`": 120,
    "params.`budget`": 65,
    "tags.`status`": 90,
    "tags.`sweep`": 190,
    "params.`method`": 85,
    "params.`llm`": 80,
    "params.`seed`": 60,
    # Stage of the pipeline that made the run; empty if a user started it.
    "tags.`dvc.stage`": 125,
}


@dataclass(frozen=True, slots=True)
class Store:
    """The location of the runs. A ``sqlite:///`` file is created once, under a file lock."""

    uri: str = option(words="the MLflow store: sqlite:///FILE or http://HOST:PORT")
    artifacts: str | Path = option(words="where a sqlite store keeps artifacts")
    experiment: str = option(words="the experiment that holds the runs")

    def prepare(self) -> None:
        """Import MLflow's modules in advance, so that opening is fast."""
        _import_mlflow()
        if not self.uri.startswith("http"):
            import mlflow.store.tracking.sqlalchemy_store  # noqa: F401

    def connect(self) -> "tuple[MlflowClient, str]":
        """Open the store, or create it; return a client and the experiment's id."""
        _import_mlflow()
        database = sqlite_file(self.uri)
        location = None
        if database is not None:
            database.parent.mkdir(parents=True, exist_ok=True)
            location = Path(self.artifacts).resolve().as_uri()
        # Two processes that migrate a new database at the same time would corrupt it.
        lock = FileLock(f"{database}.lock", timeout=60) if database else nullcontext()
        with lock:
            if database is not None and location is not None and not database.exists():
                _create_store(database, location)
            client = _client(self.uri)
            found = client.get_experiment_by_name(self.experiment)
            experiment = (
                found.experiment_id
                if found
                else client.create_experiment(self.experiment, artifact_location=location)
            )
            if found is None or VIEW_TAG not in found.tags:
                client.set_experiment_tag(experiment, VIEW_TAG, _saved_view())
            if database is not None:
                # In this mode readers (the UI) and writers do not wait for each other.
                with closing(sqlite3.connect(database)) as connection:
                    connection.execute("PRAGMA journal_mode=WAL")
        return client, experiment


@dataclass(frozen=True, slots=True)
class Options(Store):
    """Options of tracking: the store, and how much is kept (``conf/tracking/mlflow.yaml``).

    Raises
    ------
    ConfigError
        ``traces`` or ``patience`` has another type or value.
    """

    traces: bool | None = option(None, "requests to the model as traces; null: where one is asked")
    patience: float = option(
        60.0, "seconds without progress after which MLflow is not waited for", 1e-3
    )

    def __post_init__(self) -> None:
        check_options(self, "tracking.")


@contextmanager
def open_store(uri: str) -> "Iterator[MlflowClient]":
    """Open an existing store; raise its errors in the block as one sentence.

    Raises
    ------
    FileError
        The store does not exist, cannot be reached, or refuses a request.
    """
    path = sqlite_file(uri)
    if path is not None and not path.is_file():
        raise FileError(f"There is no MLflow store at {path}; train with tracking=mlflow first.")
    _import_mlflow()
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield _client(uri)
    except (MlflowException, SQLAlchemyError) as error:
        store = without_password(uri)
        reason = (str(error).strip() or type(error).__name__).splitlines()[0].split(". ")[0]
        if " failed with exception " in reason:
            raise FileError(f"The MLflow store {store} cannot be reached.") from None
        # The message of a server begins with an error code.
        reason = without_password(re.sub("^[A-Z_]+: ", "", reason)).rstrip(".")
        raise FileError(f"The MLflow store {store} refuses: {reason}.") from None


def sqlite_file(uri: str) -> Path | None:
    """Return the file of a sqlite store, to test it: a query would create a missing one."""
    return Path(uri.removeprefix(_SQLITE)) if uri.startswith(_SQLITE) else None


def one_line_error(error: BaseException) -> str:
    """Return the type and first line of an exception, without passwords."""
    [first, *_] = str(error).splitlines() or [""]
    return without_password(f"{type(error).__name__}: {first}")


def log_values(
    client: "MlflowClient",
    run_id: str,
    metrics: Mapping[str, float] = _NOTHING,
    params: Mapping[str, str] = _NOTHING,
    tags: Mapping[str, str] = _NOTHING,
    *,
    at: int = 0,
) -> None:
    """Log metrics of a time in milliseconds, parameters and tags, all in one request if possible.

    Texts that are longer than MLflow accepts are cut.
    """
    from mlflow.entities import Metric, Param, RunTag

    client.log_batch(
        run_id,
        metrics=[Metric(name, float(value), at, 0) for name, value in metrics.items()],
        params=[Param(name, cut_text(value, _LONGEST_PARAM)) for name, value in params.items()],
        tags=[RunTag(name, cut_text(value, LONGEST_TAG)) for name, value in tags.items()],
    )


def cut_text(text: str, length: int) -> str:
    """Return a text of at most so many characters; an ellipsis stands for the rest."""
    return text if len(text) <= length else text[: length - 1] + "…"


def origin_tags(kind: str, directory: Path) -> dict[str, str]:
    """Return the tags by which a run is found: its kind and its directory."""
    return {
        "kind": kind,
        "directory": str(directory.resolve()),
        "mlflow.source.name": "specahd",
    }


def _import_mlflow() -> None:
    """Import MLflow on demand (it takes more than a second), and silence its loggers."""
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    require("train", "MLflow")
    import mlflow  # noqa: F401  # which sets the levels of its loggers

    for name in ("mlflow", "alembic", "urllib3"):
        logging.getLogger(name).setLevel(logging.ERROR)


def _client(uri: str) -> "MlflowClient":
    from mlflow import MlflowClient

    database = sqlite_file(uri)
    # MLflow caches open stores by address, so the address must not depend on the directory.
    return MlflowClient(f"{_SQLITE}{database.resolve()}" if database else uri)


def _create_store(database: Path, location: str) -> None:
    """Create an empty store atomically, as a kill during its migrations would corrupt it."""
    from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

    draft = database.with_name(f".{database.name}.draft")
    for stale in draft.parent.glob(f"{draft.name}*"):
        stale.unlink()
    draft_store = SqlAlchemyStore(f"{_SQLITE}{draft}", location)  # type: ignore[no-untyped-call]
    draft_store.engine.dispose()
    draft.replace(database)


def ui_address(store: str, experiment: str, port: int = PORT) -> str:
    """Return the address of the runs of an experiment in the UI.

    Parameters
    ----------
    store
        The tracking store: the address of a server, or any other store, which a server on this
        machine shows.
    experiment
        Id of the experiment; 1 if it was the first in a store that specahd created.
    port
        The port of the server on this machine.
    """
    server = store.rstrip("/") if store.startswith("http") else f"http://127.0.0.1:{port}"
    return f"{server}/#/experiments/{experiment}/runs{_WORKFLOW}&viewStateShareKey={VIEW}"


def run_link(experiment: str, run_id: str, name: str) -> str:
    """Return a link to the page of a run, for notes of other runs; it contains no server."""
    return f"[{name}](#/experiments/{experiment}/runs/{run_id}{_WORKFLOW})"


def artifact_link(experiment: str, run_id: str, path: str, name: str) -> str:
    """Return a link to the UI's page of a run's file, for the note of the run."""
    return f"[{name}](#/experiments/{experiment}/runs/{run_id}/artifacts/{path})"


def ui_directions(store: str, experiment: str) -> str:
    """Return one line on how to see the runs of an experiment."""
    if store.startswith("http"):
        begin = ""
    elif store == URI:
        begin = "make ui, then "
    else:
        begin = f"mlflow server --backend-store-uri {store}, then "
    return f"MLflow UI:  {begin}{ui_address(store, experiment)}"


def _saved_view() -> str:
    """Return the value of the tag :data:`VIEW_TAG`."""
    columns = list(_PIXELS)
    state = {
        # Only trainings; sorted by creation the UI would fold them into their sweeps.
        "searchFilter": TRAININGS,
        "orderByKey": f"metrics.`{_RESULTS[0]}`",
        "orderByAsc": False,
        "groupBy": {
            "aggregateFunction": "max",
            "groupByKeys": [{"mode": "param", "groupByData": name} for name in _TASK],
        },
        # Charts compare single runs.
        "useGroupedValuesInCharts": False,
        "selectedColumns": columns,
        "columnOrder": columns,
        "columnWidths": _PIXELS,
        "isAccordionReordered": True,  # else sections are sorted by name
        "compareRunSections": [
            {
                "uuid": _SECTION,
                "name": _SECTION,
                "display": True,
                "isReordered": True,
                "deleted": False,
                "isGenerated": False,
            }
        ],
        "compareRunCharts": [
            *(_chart("BAR", name) for name in _RESULTS),
            *(
                _chart("LINE", name, selectedMetricKeys=[name], lineSmoothness=0)
                for name in _CURVES
            ),
        ],
    }
    milliseconds = time.time_ns() // 1_000_000
    return json.dumps({"name": VIEW, "createdAt": milliseconds, "state": json.dumps(state)})


def _chart(kind: str, metric: str, **more: Any) -> dict[str, Any]:
    return {
        "uuid": f"{_SECTION}-{metric}",
        "type": kind,
        "metricKey": metric,
        "metricSectionId": _SECTION,
        "runsCountToCompare": 20,
        "deleted": False,
        "isGenerated": False,
        **more,
    }
