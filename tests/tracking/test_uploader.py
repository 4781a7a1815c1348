"""The process that brings a run to MLflow: it follows, waits, gives up, and outlives a training."""

import json
import socket
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import psutil
import pytest
from trial_store import observer, stored

from specahd.core.errors import FileError
from specahd.tracking.observers import Observers
from specahd.tracking.upload import SyncCursor, upload_lock

pytestmark = pytest.mark.integration

TELL = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from written_run import WrittenRun
from specahd.tracking.mlflow import MLflowObserver
from specahd.tracking.observers import Observers

run = WrittenRun(Path(sys.argv[2]))
store = "sqlite:///mlruns/mlflow.db", "mlruns/artifacts", "trial"
uri, artifacts, experiment = store
told = MLflowObserver(uri=uri, artifacts=artifacts, experiment=experiment, patience=180)
observers = Observers([told])
observers.on_start(10, run.directory)
run.commit(10)
observers.on_finish("complete")
print(observers.warnings)
"""
HANG = TELL.replace('observers.on_finish("complete")', "input()")


def start(program: str, folder: Path, directory: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, Path(__file__).parent, directory],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(directory: Path, records: int) -> None:
    """Wait until so many records are in MLflow."""
    until = time.monotonic() + 120
    while (SyncCursor.read(directory) or SyncCursor("")).records < records:
        assert time.monotonic() < until
        time.sleep(0.1)


def wait_for_end(uploader: psutil.Process) -> None:
    psutil.wait_procs([uploader], timeout=60)
    assert not uploader.is_running()


def test_a_run_is_followed_while_it_goes_on(run, store):
    told = observer(store)
    began = time.perf_counter()
    told.on_start(40, run.directory)
    assert time.perf_counter() - began < 0.5
    wait_for(run.directory, records=21)
    _, training, candidates = stored(run.directory, store)
    assert (training.info.status, len(candidates)) == ("RUNNING", 20)
    assert training.data.tags["status"] == "running"
    run.commit(10)
    told.on_stop("The service refuses: no credit.")
    told.on_finish("failed")
    _, training, candidates = stored(run.directory, store)
    assert (training.info.status, len(candidates)) == ("FAILED", 30)
    why = "**interrupted**: `The service refuses: no credit.`\n"
    assert training.data.tags["mlflow.note.content"].startswith(why)


def test_processes_that_meet_at_a_fresh_store_all_keep_their_runs(tmp_path):
    processes = [start(TELL, tmp_path, f"run{index}") for index in range(3)]
    for process in processes:
        out, error = process.communicate(timeout=180)
        assert (process.returncode, out, error) == (0, "[]\n", "")
    for index in range(3):
        _, training, _ = stored(tmp_path / f"run{index}", tmp_path / "mlruns")
        assert training.info.status == "FINISHED"
        assert training.data.metrics["spent/tickets"] == 10
    assert (tmp_path / "mlruns" / "artifacts").is_dir()


def test_a_killed_training_leaves_a_run_that_says_so_and_no_process(tmp_path):
    process = start(HANG, tmp_path, "run")
    wait_for(tmp_path / "run", records=10)
    [uploader] = psutil.Process(process.pid).children()
    process.kill()
    process.communicate()
    wait_for_end(uploader)
    _, training, _ = stored(tmp_path / "run", tmp_path / "mlruns")
    assert (training.info.status, training.data.tags["status"]) == ("KILLED", "interrupted")
    assert training.data.tags["mlflow.note.content"].startswith("**interrupted**: `killed`\n")


def test_a_training_that_does_not_begin_leaves_no_process_and_no_store(tmp_path):
    program = TELL.partition("observers.on_start")[0] + "observers.on_prepare(); input()"
    process = start(program, tmp_path, "run")
    parent = psutil.Process(process.pid)
    until = time.monotonic() + 60
    while not parent.children():
        assert time.monotonic() < until
        time.sleep(0.1)
    [uploader] = parent.children()
    process.communicate("")
    wait_for_end(uploader)
    assert not (tmp_path / "mlruns").exists()


def test_a_training_killed_while_it_waits_at_its_end_is_complete_in_mlflow(run, store):
    run.finish()
    options = asdict(observer(store).options)
    uploader = subprocess.Popen(
        [sys.executable, "-m", "specahd.tracking.mlflow"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    # As the pipes are when it has said how it ended and is killed.
    uploader.stdout.close()
    for line in (options, {"directory": str(run.directory)}, {"status": "complete", "reason": ""}):
        uploader.stdin.write(json.dumps(line).encode() + b"\n")
    uploader.stdin.close()
    uploader.wait(timeout=120)
    client, training, _ = stored(run.directory, store)
    assert training.info.status == "FINISHED"
    assert client.list_artifacts(training.info.run_id, "figures")


@pytest.mark.usefixtures("forked_uploader")
def test_a_store_that_stays_closed_is_one_warning_and_not_waited_for(run, tmp_path):
    observers = Observers([observer(tmp_path, uri="elsewhere://x")])
    observers.on_start(20, run.directory)
    observers.on_finish("complete")
    [warning] = observers.warnings
    assert warning.startswith("MLflow lacks some of this run (")
    assert f"python -m specahd.track run={run.directory}" in warning
    assert "\n" not in warning


@pytest.mark.usefixtures("forked_uploader")
def test_a_silent_store_is_not_waited_for_beyond_patience(run, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = f"http://127.0.0.1:{silent.getsockname()[1]}"
        observers = Observers([observer(tmp_path, uri=place, patience=3)])
        observers.on_start(20, run.directory)
        began = time.perf_counter()
        observers.on_finish("complete")
        assert 2.5 < time.perf_counter() - began < 10
    [warning] = observers.warnings
    assert "no answer within 3 s" in warning


def test_a_tracker_that_dies_is_one_warning(run, tmp_path):
    told = observer(tmp_path)
    before = psutil.Process().children()
    told.on_start(20, run.directory)
    [uploader] = [child for child in psutil.Process().children() if child not in before]
    uploader.kill()
    observers = Observers([told])
    observers.on_finish("complete")
    [warning] = observers.warnings
    assert "its process ended" in warning


@pytest.mark.usefixtures("forked_uploader")
def test_a_tracker_waits_until_the_one_before_has_ended(run, store):
    told = observer(store)
    with upload_lock(run.directory):
        told.on_start(20, run.directory)
        # Longer than it takes to find a store closed for good.
        time.sleep(5)
    told.on_finish("complete")
    _, training, _ = stored(run.directory, store)
    assert training.data.metrics["spent/tickets"] == 20


def test_one_process_at_a_time_brings_a_run(tmp_path):
    refused = pytest.raises(FileError, match="Another process is bringing")
    with upload_lock(tmp_path), refused, upload_lock(tmp_path):
        pass
    with upload_lock(tmp_path):
        pass
