"""What MLflow keeps of a run, in real sqlite stores."""

import subprocess
import sys
import time
from pathlib import Path

from specahd.tracking.mlflow import MLflowObserver
from specahd.tracking.observers import Observers

TELL = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from conftest import tell_small_run
from specahd.tracking.mlflow import MLflowObserver
from specahd.tracking.observers import Observers

told = MLflowObserver("sqlite:///mlruns/mlflow.db", "mlruns/artifacts", "trial", 60)
observers = Observers([told])
tell_small_run(observers, Path(sys.argv[2]))
print(observers.warnings)
"""


def observer(folder: Path, **options: float) -> MLflowObserver:
    return MLflowObserver(
        f"sqlite:///{folder}/m/mlflow.db", f"{folder}/m/artifacts", "trial", **options
    )


def start(folder: Path, directory: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", TELL, Path(__file__).parent, directory],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def runs(uri: str) -> list:
    from mlflow import MlflowClient

    client = MlflowClient(uri)
    experiment = client.get_experiment_by_name("trial")
    return [(client, run) for run in client.search_runs([experiment.experiment_id])]


def test_one_run_holds_parameters_metrics_by_step_and_the_checkpoint(tmp_path, tell):
    began = time.perf_counter()
    told = observer(tmp_path, patience=60)
    told.on_start({}, 0, tmp_path)  # measured apart: a hook must not wait for the import
    assert time.perf_counter() - began < 0.5
    told.on_finish("failed", {}, None)
    tell(observer(tmp_path, patience=60), tmp_path / "run")

    [(client, run), (_, other)] = runs(f"sqlite:///{tmp_path}/m/mlflow.db")
    assert other.info.status == "FAILED"
    assert run.info.status == "FINISHED"
    assert run.info.run_name == "cvrp-specahd-offline-seed3"
    assert run.data.params == {
        "problem": "cvrp",
        "method": "specahd",
        "llm": "offline",
        "seed": "3",
        "problem.baseline": "nearest",
        "problem.max_size": "50",
        "search.penalty.weight": "1.0",
    }
    best = client.get_metric_history(run.info.run_id, "lower/best")
    assert [(metric.step, metric.value) for metric in best] == [(i + 1, i / 100) for i in range(10)]
    assert run.data.metrics["outcome/ok"] == 16
    assert run.data.metrics["outcome/parse_error"] == 4
    assert run.data.metrics["spent/tickets"] == 20
    assert run.data.metrics["round/J"] == 0.25
    assert run.data.metrics["final/validation"] == 0.125
    [artifact] = client.list_artifacts(run.info.run_id, "checkpoint")
    assert artifact.path == "checkpoint/manifest.json"


def test_processes_that_meet_at_a_fresh_store_all_keep_their_runs(tmp_path):
    processes = [start(tmp_path, f"run{index}") for index in range(3)]
    for process in processes:
        out, error = process.communicate(timeout=120)
        assert (process.returncode, out, error) == (0, "[]\n", "")
    found = runs(f"sqlite:///{tmp_path}/mlruns/mlflow.db")
    assert [run.info.status for _, run in found] == ["FINISHED"] * 3
    assert (tmp_path / "mlruns" / "artifacts").is_dir()


def test_a_store_that_cannot_be_opened_is_one_warning(tmp_path, tell):
    (tmp_path / "m").write_text("a file where the folder should be")
    observers = Observers([observer(tmp_path)])
    tell(observers, tmp_path / "run")
    [warning] = observers.warnings
    assert warning.startswith("MLflowObserver stopped: FileExistsError")


def test_a_slow_store_is_not_waited_for_beyond_patience(tmp_path, tell, monkeypatch):
    told = observer(tmp_path, patience=0.2)
    monkeypatch.setattr("specahd.tracking.mlflow._Store.open_run", lambda *_: time.sleep(5))
    observers = Observers([told])
    began = time.perf_counter()
    tell(observers, tmp_path / "run")
    assert time.perf_counter() - began < 2
    [warning] = observers.warnings
    assert "took more than 0.2 s" in warning


def test_an_interrupted_run_is_marked_so(tmp_path):
    told = observer(tmp_path, patience=60)
    told.on_start({"seed": 1}, 10, tmp_path)
    told.on_finish("interrupted", {}, None)
    [(_, run)] = runs(f"sqlite:///{tmp_path}/m/mlflow.db")
    assert (run.info.status, run.info.run_name) == ("KILLED", "seed1")
