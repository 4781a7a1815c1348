"""What MLflow keeps of a run, in real sqlite stores, written by real processes."""

import json
import socket
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
import pytest
from mlflow import MlflowClient
from written_run import BEGAN, SOURCE, WrittenRun

from specahd.core.budget import Spent
from specahd.core.errors import ConfigError, FileError
from specahd.core.events import Committed
from specahd.core.program import Level, Outcome
from specahd.tracking.cursor import SyncCursor, exclusive
from specahd.tracking.mlflow import MLflowObserver
from specahd.tracking.observers import Observers
from specahd.tracking.upload import UploadFailed

TELL = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from written_run import WrittenRun
from specahd.tracking.mlflow import MLflowObserver
from specahd.tracking.observers import Observers

run = WrittenRun(Path(sys.argv[2]))
store = "sqlite:///mlruns/mlflow.db", "mlruns/artifacts", "trial"
told = MLflowObserver(*store, candidates="table", patience=180)
observers = Observers([told])
observers.on_start(10, run.directory)
run.commit(10)
observers.on_finish("complete")
print(observers.warnings)
"""
HANG = TELL.replace('observers.on_finish("complete")', "input()")


@pytest.fixture(scope="session")
def store(tmp_path_factory) -> Path:
    """A folder with a store that all tests of a process share."""
    return tmp_path_factory.mktemp("store")


def observer(folder: Path, **options) -> MLflowObserver:
    options = {"uri": f"sqlite:///{folder}/mlflow.db", "patience": 180} | options
    return MLflowObserver(artifacts=f"{folder}/artifacts", experiment="trial", **options)


def bring(run: WrittenRun, folder: Path, status: str = "complete", **options) -> None:
    """Bring a run in without a process of its own."""
    for _ in observer(folder, **options).upload(run.directory).close(status):
        pass


def stored(run: Path, folder: Path) -> tuple[MlflowClient, Any, list]:
    """Return the run of a training and those of its candidates."""
    client = MlflowClient(f"sqlite:///{folder}/mlflow.db")
    experiments = [client.get_experiment_by_name("trial").experiment_id]
    [training] = client.search_runs(experiments, f"tags.directory = '{run}'")
    below = f"tags.`mlflow.parentRunId` = '{training.info.run_id}'"
    return client, training, client.search_runs(experiments, below)


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


@pytest.fixture
def run(tmp_path):
    written = WrittenRun(tmp_path / "run")
    written.commit(20)
    written.end_round()
    return written


def test_one_run_holds_parameters_metrics_by_step_files_and_pictures(run, store):
    run.finish()
    bring(run, store)
    client, training, _ = stored(run.directory, store)
    name, data = training.info.run_id, training.data
    assert (training.info.status, training.info.run_name) == (
        "FINISHED",
        "cvrp-specahd-offline-seed3",
    )
    assert data.params == {
        "problem": "cvrp",
        "method": "specahd",
        "llm": "offline",
        "seed": "3",
        "problem.baseline": "nearest",
        "problem.max_size": "50",
        "search.penalty.weight": "1.0",
        "pools.dir": "pools",
        "pools.seed": "1",
        "budget.name": "smoke",
        "budget.programs": "40",
        "budget.lower_train": "1",
        "budget.upper_train": "2",
        "budget.selection": "2",
        "budget.validation": "None",
    }
    assert data.tags["mlflow.source.git.commit"] == "c0ffee"
    assert data.tags["version.numpy"] == "2.0"
    assert data.tags["sandbox.seccomp"] == "enforced"
    assert data.tags["directory"] == str(run.directory)
    best = client.get_metric_history(name, "lower/best")
    assert [(m.step, m.value, m.timestamp) for m in best] == [
        (i + 1, i / 100, 1000 * (BEGAN + i)) for i in range(0, 20, 2)
    ]
    tokens = client.get_metric_history(name, "spent/completion_tokens")
    assert [metric.value for metric in tokens] == [i * (i + 1) / 2 for i in range(1, 20)]
    expected = {
        "outcome/ok": 16,
        "outcome/parse_error": 4,
        "spent/tickets": 20,
        "spent/cost": 10,
        "programs_per_minute": 60,
        "round/J": 0.25,
        "round/U": 0.375,
        "round/penalty": 0.0625,
        "selection/improvement": 0.5,
        "selection/percent": 50,
        "validation/improvement": 0.125,
        "validation/percent": 12.5,
        "validation/cost": 7,
    }
    assert data.metrics | expected == pytest.approx(data.metrics)
    artifacts = {
        path: {Path(a.path).name for a in client.list_artifacts(name, path)}
        for path in ("run", "checkpoint", "figures")
    }
    assert artifacts["checkpoint"] == {"manifest.json"}
    assert artifacts["figures"] == {"convergence.png", "routes.png"}
    assert artifacts["run"] >= {"config.yaml", "journal.jsonl", "responses.jsonl", "wal.jsonl"}


def test_each_candidate_is_a_nested_run_with_its_source(run, store):
    bring(run, store)
    client, training, candidates = stored(run.directory, store)
    assert len(candidates) == 20
    by_name = {candidate.info.run_name: candidate for candidate in candidates}
    good, bad = by_name["upper-1-0003"], by_name["lower-1-0004"]
    assert good.data.tags["mlflow.parentRunId"] == training.info.run_id
    assert good.data.tags["mlflow.note.content"] == "Take the first."
    assert good.data.params == {
        "problem": "cvrp",
        "method": "specahd",
        "llm": "offline",
        "seed": "3",
        "level": "upper",
        "round": "1",
        "operator": "e1",
        "parents": "upper-seed",
    }
    assert (good.data.metrics["score"], good.data.metrics["cost"]) == (0.03, 0.5)
    assert (good.info.end_time, good.info.start_time) == (1000 * (BEGAN + 3), 1000 * (BEGAN + 1))
    folder = Path(good.info.artifact_uri.removeprefix("file://"))
    assert (folder / "program.py").read_text() == SOURCE
    assert (bad.info.status, bad.data.tags["outcome"]) == ("FAILED", "parse_error")
    assert bad.data.tags["detail"] == "There is no code."
    assert [a.path for a in client.list_artifacts(bad.info.run_id)] == ["reply.txt"]


@pytest.mark.parametrize(("way", "files"), [("table", ["candidates.json"]), ("none", [])])
def test_candidates_are_a_table_or_nothing(run, store, way, files):
    bring(run, store, candidates=way)
    client, training, candidates = stored(run.directory, store)
    assert candidates == []
    found = client.list_artifacts(training.info.run_id)
    assert [a.path for a in found if not a.is_dir] == files
    if files:
        path = client.download_artifacts(training.info.run_id, *files)
        table = pd.read_json(path, orient="split")
        assert len(table) == 20
        row = table.loc[3, ["candidate", "score", "source"]]
        assert row.tolist() == ["upper-1-0003", 0.03, SOURCE]


def test_a_run_is_followed_while_it_goes_on(run, store):
    told = observer(store)
    began = time.perf_counter()
    told.on_start(40, run.directory)
    assert time.perf_counter() - began < 0.5
    wait_for(run.directory, records=21)
    _, training, candidates = stored(run.directory, store)
    assert (training.info.status, len(candidates)) == ("RUNNING", 20)
    run.commit(10)
    told.on_finish("failed")
    _, training, candidates = stored(run.directory, store)
    assert (training.info.status, len(candidates)) == ("FAILED", 30)


def test_a_run_that_goes_on_later_goes_on_in_the_same_run(run, store):
    bring(run, store, "interrupted")
    _, before, _ = stored(run.directory, store)
    assert before.info.status == "KILLED"
    run.commit(10)
    run.finish()
    bring(run, store)
    bring(run, store)
    client, training, candidates = stored(run.directory, store)
    assert (training.info.run_id, training.info.status) == (before.info.run_id, "FINISHED")
    assert len(candidates) == 30
    best = client.get_metric_history(training.info.run_id, "upper/best")
    assert [metric.step for metric in best] == list(range(2, 31, 2))


@pytest.mark.parametrize("lost", ["records", "run"])
def test_what_was_written_before_its_mark_is_not_written_twice(run, store, lost):
    bring(run, store)
    mark = SyncCursor.read(run.directory)
    mark.records = 7
    if lost == "run":
        mark.run_id = ""
    mark.write(run.directory)
    run.commit(1)
    bring(run, store)
    client, training, candidates = stored(run.directory, store)
    names = sorted(candidate.info.run_name for candidate in candidates)
    assert names == sorted(f"{('lower', 'upper')[i % 2]}-1-{i:04d}" for i in range(21))
    tickets = client.get_metric_history(training.info.run_id, "spent/tickets")
    assert [metric.step for metric in tickets] == list(range(1, 22))


def test_a_run_whose_run_was_deleted_gets_another(run, store):
    bring(run, store, candidates="none")
    client, before, _ = stored(run.directory, store)
    client.delete_run(before.info.run_id)
    bring(run, store, candidates="none")
    _, training, _ = stored(run.directory, store)
    assert training.info.run_id != before.info.run_id
    assert training.data.metrics["spent/tickets"] == 20


def test_a_run_belongs_to_the_sweep_whose_folder_holds_it(run, store):
    sweep = run.directory.parent / "sweep.json"
    sweep.write_text(json.dumps({"run_id": "a" * 32}))
    bring(run, store, candidates="none")
    _, training, _ = stored(run.directory, store)
    assert training.data.tags["mlflow.parentRunId"] == "a" * 32


def test_pools_are_data_sets_with_the_hash_that_dvc_has_of_them(tmp_path, store, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "pools" / "cvrp"
    folder.mkdir(parents=True)
    pools = {pool: {"a.vrp": "1", "b.vrp": "2"} for pool in ("lower_train", "validation")}
    (folder / "manifest.json").write_text(json.dumps({"pools": pools}))
    out = {"outs": [{"path": "pools/cvrp/validation", "md5": "ab12.dir"}]}
    (tmp_path / "dvc.lock").write_text(json.dumps({"stages": {"prepare": out}}))
    run = WrittenRun(tmp_path / "run")
    bring(run, store, candidates="none")
    _, training, _ = stored(run.directory, store)
    sets = {i.dataset.name: i.dataset for i in training.inputs.dataset_inputs}
    assert sets.keys() == {"cvrp/lower_train", "cvrp/validation"}
    assert sets["cvrp/validation"].digest == "ab12.dir"
    assert json.loads(sets["cvrp/lower_train"].profile) == {"instances": 2, "used": 1}
    # A budget of null is all that there is.
    assert json.loads(sets["cvrp/validation"].profile) == {"instances": 2, "used": 2}


@pytest.mark.usefixtures("forked_uploader")
def test_requests_to_the_model_are_traces_if_asked_for(run, store):
    told = observer(store, candidates="none", traces=True)
    told.on_start(20, run.directory)
    for index, level in enumerate((Level.LOWER, Level.UPPER)):
        sample = Committed(
            f"{level}-1-{index:04d}", level, 1, Outcome.OK, None, f"Write program {index}."
        )
        told.on_commit(sample, Spent(0, 0, 0, 0, 0, 0.0))
    told.on_finish("complete")
    client, training, _ = stored(run.directory, store)
    traces = client.search_traces(locations=[training.info.experiment_id])
    assert len(traces) == 20
    [trace] = [t for t in traces if t.info.tags["candidate"] == "upper-1-0001"]
    [span] = trace.data.spans
    assert span.inputs["messages"][0]["content"] == "Write program 1."
    assert span.outputs["choices"][0]["message"]["content"] == "a reply"
    assert trace.info.token_usage["total_tokens"] == 11
    assert trace.info.execution_duration == 500


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
    psutil.wait_procs([uploader], timeout=60)
    assert not uploader.is_running()
    _, training, _ = stored(tmp_path / "run", tmp_path / "mlruns")
    assert training.info.status == "KILLED"


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
    psutil.wait_procs([uploader], timeout=60)
    assert not uploader.is_running()
    assert not (tmp_path / "mlruns").exists()


def test_a_training_killed_while_it_waits_at_its_end_is_complete_in_mlflow(run, store):
    run.finish()
    options = asdict(observer(store, candidates="none").options)
    uploader = subprocess.Popen(
        [sys.executable, "-m", "specahd.tracking.uploader"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    # As the pipes are when it has said how it ended and is killed.
    uploader.stdout.close()
    for line in (options, {"directory": str(run.directory)}, {"status": "complete"}):
        uploader.stdin.write(json.dumps(line).encode() + b"\n")
    uploader.stdin.close()
    uploader.wait(timeout=120)
    client, training, _ = stored(run.directory, store)
    assert training.info.status == "FINISHED"
    assert client.list_artifacts(training.info.run_id, "figures")


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("sqlite:///{}/file/mlflow.db", "FileExistsError"),
        ("sqlite:///{}/torn.db", "file is not a database"),
        ("elsewhere://{}", "elsewhere"),
        ("http://name:canary@127.0.0.1:1/{}", "Connection refused"),
    ],
)
def test_a_store_that_cannot_be_opened_says_why_in_one_line(run, tmp_path, place, reason):
    (tmp_path / "file").write_text("a file where the folder should be")
    (tmp_path / "torn.db").write_text("no database" * 1000)
    with pytest.raises(UploadFailed) as raised:
        bring(run, tmp_path, uri=place.format(tmp_path))
    assert reason in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1
    written = [str(raised.value), *(path.read_text() for path in run.directory.iterdir())]
    assert not [text for text in written if "canary" in text]


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
    told = observer(store, candidates="none")
    with exclusive(run.directory):
        told.on_start(20, run.directory)
        # Longer than it takes to find a store closed for good.
        time.sleep(5)
    told.on_finish("complete")
    _, training, _ = stored(run.directory, store)
    assert training.data.metrics["spent/tickets"] == 20


def test_one_process_at_a_time_brings_a_run(tmp_path):
    refused = pytest.raises(FileError, match="Another process is bringing")
    with exclusive(tmp_path), refused, exclusive(tmp_path):
        pass
    with exclusive(tmp_path):
        pass


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"candidates": "all"}, "Expected tracking.candidates to be one of nested, table, none"),
        ({"traces": "yes"}, "Expected tracking.traces to be true or false, got 'yes'."),
        ({"patience": 0}, "Expected tracking.patience above 0, got 0."),
    ],
)
def test_options_out_of_range_are_refused(tmp_path, options, sentence):
    with pytest.raises(ConfigError, match=sentence):
        observer(tmp_path, **options)
