"""A run tracked by a real ``mlflow server``, which is killed and comes back."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from mlflow import MlflowClient
from trial_store import candidates_of
from written_run import SOURCE, WrittenRun

from specahd.tracking.mlflow import MLflowObserver
from specahd.tracking.observers import Observers
from specahd.tracking.upload import SyncCursor

pytestmark = pytest.mark.integration


class Server:
    """One server on loopback that can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.folder = folder
        self.uri = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "mlflow", "server", "--workers", "1"),
                *("--host", "127.0.0.1", "--port", str(self.port)),
                *("--backend-store-uri", f"sqlite:///{self.folder}/server.db"),
                *("--artifacts-destination", f"{self.folder}/artifacts"),
            ],
            cwd=self.folder,
            env=os.environ
            | {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        until = time.monotonic() + 180
        while True:
            try:
                urllib.request.urlopen(f"{self.uri}/health", timeout=5).close()
                return
            except OSError:
                assert time.monotonic() < until, "the server does not start"
                time.sleep(0.2)

    def kill(self) -> None:
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None


@pytest.fixture
def server(tmp_path):
    (tmp_path / "server").mkdir()
    made = Server(tmp_path / "server")
    yield made
    made.kill()


@pytest.mark.usefixtures("forked_uploader")
def test_a_server_killed_and_started_again_lacks_no_record(server, tmp_path):
    run = WrittenRun(tmp_path / "run")
    told = MLflowObserver(uri=server.uri, artifacts="", experiment="trial", patience=180)
    observers = Observers([told])
    server.start()
    observers.on_start(200, run.directory)
    for _ in range(40):
        run.commit()
    # Somewhere in the midst of them.
    until = time.monotonic() + 120
    while (SyncCursor.read(run.directory) or SyncCursor("")).records < 25:
        assert time.monotonic() < until
        time.sleep(0.02)
    server.kill()
    for _ in range(20):
        run.commit()
    server.start()
    run.end_round()
    run.finish()
    observers.on_finish("complete")
    assert observers.warnings == []

    client = MlflowClient(server.uri)
    experiments = [client.get_experiment_by_name("trial").experiment_id]
    [training] = client.search_runs(experiments, "tags.kind = 'training'")
    candidates = candidates_of(client, training)
    assert training.info.status == "FINISHED"
    assert list(candidates.index) == [f"{('lower', 'upper')[i % 2]}-1-{i:04d}" for i in range(60)]
    tickets = client.get_metric_history(training.info.run_id, "spent/tickets")
    assert [metric.step for metric in tickets] == list(range(1, 61))
    assert candidates.loc["lower-1-0058", "source"] == SOURCE
    figures = client.list_artifacts(training.info.run_id, "figures")
    names = [Path(artifact.path).name for artifact in figures]
    assert names == ["convergence.png", "convergence.svg", "routes.png", "routes.svg"]
