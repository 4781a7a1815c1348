"""Real ``mlflow server`` processes: one that is killed and comes back, one on PostgreSQL."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from counted_sweep import count_against_journals, sweep
from mlflow import MlflowClient
from trial_store import candidates_of
from written_run import SOURCE, WrittenRun

from specahd.tracking.mlflow import MLflowObserver
from specahd.tracking.observers import Observers
from specahd.tracking.upload import SyncCursor

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
# It refuses to run as root.
USER = {"user": "nobody"} if os.geteuid() == 0 else {}
QUIET = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(command: list, ready: Callable[[], bool], **options) -> subprocess.Popen:
    """Start a server and wait until it answers."""
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True, **options,
    )  # fmt: skip
    until = time.monotonic() + 300  # a busy machine is slow
    while not ready():
        if process.poll() is not None or time.monotonic() > until:
            process.kill()
            pytest.fail(f"{command[0]} does not answer, its status is {process.returncode}")
        time.sleep(0.1)
    return process


class Server:
    """An MLflow server on loopback that can be killed and started again."""

    def __init__(self, folder: Path, database: str) -> None:
        self.folder = folder
        self.database = database
        self.uri = f"http://127.0.0.1:{free_port()}"
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        command = [
            *(sys.executable, "-m", "mlflow", "server", "--workers", "1"),
            *("--host", "127.0.0.1", "--port", self.uri.rpartition(":")[2]),
            *("--backend-store-uri", self.database),
            *("--artifacts-destination", f"{self.folder}/artifacts"),
        ]
        self.process = start(command, self.answers, cwd=self.folder, env=os.environ | QUIET)

    def answers(self) -> bool:
        try:
            return urllib.request.urlopen(f"{self.uri}/health", timeout=5).status == 200
        except OSError:
            return False

    def kill(self) -> None:
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None


@pytest.fixture
def server(tmp_path) -> Iterator[Server]:
    (tmp_path / "server").mkdir()
    made = Server(tmp_path / "server", f"sqlite:///{tmp_path}/server/server.db")
    yield made
    made.kill()


@pytest.mark.integration
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


@pytest.fixture
def database() -> Iterator[str]:
    """A fresh PostgreSQL of our own on a loopback port."""
    if not BINARIES:
        pytest.skip("no PostgreSQL in /usr/lib/postgresql (Debian's package postgresql)")
    pytest.importorskip("psycopg2", reason="pip install 'specahd[server]'")
    binaries = BINARIES[-1].parent
    # Not below tmp_path, which only its owner may enter.
    folder = Path(tempfile.mkdtemp(prefix="specahd-postgres-"))
    if USER:
        shutil.chown(folder, USER["user"])
    port = free_port()
    try:
        subprocess.run(
            [binaries / "initdb", "-D", folder / "data", "-A", "trust", "-U", "specahd", "-N"],
            check=True, capture_output=True, cwd=folder, **USER,
        )  # fmt: skip
        server = [
            binaries / "postgres", "-D", folder / "data", "-k", folder,
            "-h", "127.0.0.1", "-p", str(port),
        ]  # fmt: skip
        probe = [binaries / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port)]
        process = start(server, lambda: not subprocess.run(probe).returncode, cwd=folder, **USER)
        yield f"postgresql+psycopg2://specahd@127.0.0.1:{port}/postgres"
        # Its fast shutdown.
        process.send_signal(signal.SIGINT)
        process.wait(60)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_eight_jobs_at_once_lose_nothing_on_a_server_with_postgresql(database, tmp_path):
    server = Server(tmp_path, database)
    server.start()
    try:
        said = sweep(tmp_path, 8, f"tracking.uri={server.uri}")
        assert "sweep: 8 complete, 0 partial, 0 failed" in said
        count_against_journals(tmp_path, 8, server.uri)
    finally:
        server.kill()
