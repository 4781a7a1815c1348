"""Brings written runs to the experiment `trial` of a sqlite store, and finds them there."""

from pathlib import Path
from typing import Any

from mlflow import MlflowClient
from written_run import WrittenRun

from specahd.tracking.mlflow import MLflowObserver
from specahd.tracking.upload import RunUpload


def observer(folder: Path, **options) -> MLflowObserver:
    options = {"uri": f"sqlite:///{folder}/mlflow.db", "patience": 180} | options
    return MLflowObserver(artifacts=f"{folder}/artifacts", experiment="trial", **options)


def bring(
    run: WrittenRun,
    folder: Path,
    status: str = "complete",
    reason: str | None = None,
    **options,
) -> None:
    """Bring a run in without a process of its own."""
    upload = RunUpload(observer(folder, **options).options, run.directory)
    for _ in upload.close(status, reason):
        pass


def stored(run: Path, folder: Path) -> tuple[MlflowClient, Any, list]:
    """Return the run of a training and those of its candidates."""
    client = MlflowClient(f"sqlite:///{folder}/mlflow.db")
    experiments = [client.get_experiment_by_name("trial").experiment_id]
    [training] = client.search_runs(experiments, f"tags.directory = '{run}'")
    below = f"tags.`mlflow.parentRunId` = '{training.info.run_id}'"
    return client, training, client.search_runs(experiments, below)
