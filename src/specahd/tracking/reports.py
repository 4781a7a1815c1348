"""A report in MLflow: one run for each report's directory, with the report's files."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from specahd.core.errors import FileError
from specahd.tracking.provenance import dvc_hashes
from specahd.tracking.store import (
    NOTE,
    Store,
    artifact_link,
    open_store,
    origin_tags,
    sqlite_file,
)

if TYPE_CHECKING:
    from mlflow import MlflowClient

_CHECKPOINT_TAG = "dvc.checkpoint"
"""The tag of a training's run that holds DVC's hash of its checkpoint."""


def log_report(store: Store, root: Path, directory: Path, checkpoints: Iterable[Path]) -> str:
    """Log a report's files to MLflow, and tag the runs that it reads.

    A report that is written to the same directory again replaces the files of its run. The newest
    run of each checkpoint's directory is tagged with DVC's hash of the checkpoint.
    Checkpoints unknown to DVC and runs unknown to MLflow are skipped, and without a store or
    its experiment nothing is logged.

    Parameters
    ----------
    root
        The folder of ``dvc.lock``.
    directory
        The directory of the report.

    Returns
    -------
    str
        A line for the user if the store cannot be used, else an empty text.

    Raises
    ------
    FileError
        A file of DVC is not valid.
    """
    hashes = dvc_hashes(root)
    known = {
        path.parent.resolve(): hashes[name]
        for path in checkpoints
        if (name := os.path.relpath(path.resolve(), root.resolve())) in hashes
    }
    database = sqlite_file(store.uri)
    if database is not None and not database.is_file():
        return ""
    try:
        with open_store(store.uri) as client:
            found = client.get_experiment_by_name(store.experiment)
            if found is not None:
                _log(client, found.experiment_id, known, directory)
    except FileError as error:
        return f"The report is not in MLflow: {error}"[:200] + "\n"
    return ""


def _log(
    client: "MlflowClient", experiment: str, known: Mapping[Path, str], directory: Path
) -> None:
    newest = ["attributes.start_time DESC"]
    for trained, md5 in known.items():
        found = client.search_runs([experiment], _condition(trained), order_by=newest)
        for run in [run for run in found if "mlflow.parentRunId" not in run.data.tags][:1]:
            client.set_tag(run.info.run_id, _CHECKPOINT_TAG, md5)
    tags = origin_tags("report", directory)
    found = client.search_runs([experiment], f"tags.kind = 'report' AND {_condition(directory)}")
    run = found[0] if found else client.create_run(experiment, tags=tags, run_name=directory.name)
    client.log_artifacts(run.info.run_id, str(directory))
    link = artifact_link(experiment, run.info.run_id, "report.html", "The report")
    client.set_tag(run.info.run_id, NOTE, f"{link} of {directory}")
    client.set_terminated(run.info.run_id)


def _condition(directory: Path) -> str:
    """Return the search condition for the runs of a directory."""
    path = str(directory.resolve())
    quote = '"' if "'" in path else "'"
    return f"tags.directory = {quote}{path}{quote}"
