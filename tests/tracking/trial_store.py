"""Brings written runs to the experiment `trial` of a sqlite store, and finds them there."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
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


def stored(run: Path, folder: Path) -> tuple[MlflowClient, Any, pd.DataFrame]:
    """Return the run of a training, and the table of its candidates."""
    client = MlflowClient(f"sqlite:///{folder}/mlflow.db")
    experiments = [client.get_experiment_by_name("trial").experiment_id]
    [training] = client.search_runs(experiments, f"tags.directory = '{run}'")
    return client, training, candidates_of(client, training)


def candidates_of(client: MlflowClient, training: Any) -> pd.DataFrame:
    """Return the table of a run's candidates by their names; an empty one if there is none."""
    names = [each.path for each in client.list_artifacts(training.info.run_id)]
    if "candidates.json" not in names:
        return pd.DataFrame()
    path = client.download_artifacts(training.info.run_id, "candidates.json")
    table = json.loads(Path(path).read_text())
    return pd.DataFrame(table["data"], columns=table["columns"]).set_index("candidate")
