"""Eight jobs at once and an MLflow server on PostgreSQL lose nothing."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from counted_sweep import count_against_journals, sweep

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
# It refuses to run as root.
USER = {"user": "nobody"} if os.geteuid() == 0 else {}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def running(command: list, ready, **options) -> Iterator[None]:
    """Run a server until the block ends; ``ready`` says when it answers."""
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True, **options,
    )  # fmt: skip
    try:
        until = time.monotonic() + 300  # a busy machine is slow
        while not ready():
            assert process.poll() is None, f"{command[0]} ended with {process.returncode}"
            assert time.monotonic() < until, f"{command[0]} does not answer"
            time.sleep(0.1)
        yield
    finally:
        # The fast shutdown of PostgreSQL; it ends an MLflow server too.
        process.send_signal(signal.SIGINT)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


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
        with running(server, lambda: not subprocess.run(probe).returncode, cwd=folder, **USER):
            yield f"postgresql+psycopg2://specahd@127.0.0.1:{port}/postgres"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def server(database, tmp_path) -> Iterator[str]:
    """An MLflow server on that database, which makes its tables."""
    uri = f"http://127.0.0.1:{free_port()}"

    def answers() -> bool:
        try:
            return urllib.request.urlopen(f"{uri}/health", timeout=5).status == 200
        except OSError:
            return False

    command = [
        sys.executable, "-m", "mlflow", "server", "--backend-store-uri", database,
        "--artifacts-destination", tmp_path / "artifacts", "--workers", "1",
        "--host", "127.0.0.1", "--port", uri.rpartition(":")[2],
    ]  # fmt: skip
    quiet = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true"}
    with running(command, answers, cwd=tmp_path, env={**os.environ, **quiet}):
        yield uri


def test_eight_jobs_at_once_lose_nothing_on_a_server_with_postgresql(server, tmp_path):
    assert "sweep: 8 complete, 0 partial, 0 failed" in sweep(tmp_path, 8, f"tracking.uri={server}")
    count_against_journals(tmp_path, 8, server)
