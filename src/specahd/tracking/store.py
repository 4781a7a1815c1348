"""The MLflow store of the runs: created once for writing, only opened for reading."""

import logging
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock

from specahd.core.errors import FileError
from specahd.core.extras import require
from specahd.core.options import check_options, option
from specahd.core.services import without_password
from specahd.tracking import view

if TYPE_CHECKING:
    from mlflow import MlflowClient

_SQLITE = "sqlite:///"
_SETTINGS = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "3",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
}
"""Environment variables of MLflow, set unless the user has set them."""


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
            if found is None or view.TAG not in found.tags:
                client.set_experiment_tag(experiment, view.TAG, view.saved_view())
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
