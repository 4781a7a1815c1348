"""Whole trainings that are tracked: no key gets out, and no store can harm them."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from mlflow import MlflowClient
from trial_store import candidates_of

import commands

pytestmark = pytest.mark.integration

CANARY = "sk-canary-a81c62"
SMALL = [
    *("budget=smoke", "budget.programs=4", "budget.rounds=1", "budget.lower_train=2"),
    *("budget.upper_train=2", "budget.selection=2", "budget.validation=2", "executor.workers=1"),
]


def call(
    command: str, *arguments: str, cwd: Path, check: bool = True, cold: bool = False
) -> subprocess.CompletedProcess:
    keys = dict.fromkeys(("DEEPSEEK_API_KEY", "OPENAI_API_KEY", "MLFLOW_TRACKING_TOKEN"), CANARY)
    return commands.call(command, *arguments, cwd=cwd, env=keys, check=check, cold=cold)


def found(place: Path) -> tuple[MlflowClient, Any, pd.DataFrame]:
    client = MlflowClient(f"sqlite:///{place}/mlruns/mlflow.db")
    experiments = [client.get_experiment_by_name("specahd").experiment_id]
    [training] = client.search_runs(experiments)
    return client, training, candidates_of(client, training)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tracked")
    options = ["hydra.run.dir=run", "tracking.traces=true", "tracking.patience=180"]
    options += ["method=specahd_one_pass"]
    call("train", *SMALL, *options, cwd=folder)
    return folder


def test_a_training_is_in_mlflow_with_its_candidates_results_and_map(place):
    client, training, candidates = found(place)
    samples = [json.loads(line) for line in (place / "run" / "journal.jsonl").open()]
    names = sorted(record["sample"] for record in samples if "request" in record)
    assert sorted(candidates.index) == names
    rows = [json.loads(line) for line in (place / "run" / "validation.jsonl").open()]
    mean = sum(row["improvement"] for row in rows) / len(rows)
    assert training.data.metrics["validation/improvement"] == pytest.approx(mean)
    assert training.data.tags["version.specahd"]
    assert len(training.inputs.dataset_inputs) == 4
    figures = client.list_artifacts(training.info.run_id, "figures")
    assert len(figures) == 4
    [trace, *_] = client.search_traces(locations=[training.info.experiment_id])
    [span] = trace.data.spans
    assert "def " in span.inputs["messages"][0]["content"]


def test_the_candidates_in_the_checkpoint_are_marked_with_what_chose_them(place):
    _, training, candidates = found(place)
    manifest = json.loads((place / "run" / "checkpoint" / "manifest.json").read_text())
    frozen = [program["id"] for program in (manifest["upper"], *manifest["repertoire"])]
    scores = candidates[candidates["role"].notna()]["checkpoint_score"].to_dict()
    assert sorted(scores) == sorted(set(frozen) - {"upper-seed", "lower-seed"})
    lower = [score for name, score in scores.items() if name.startswith("lower")]
    if "lower-seed" not in frozen:
        assert sum(lower) == pytest.approx(training.data.metrics["round/J"])
    if manifest["upper"]["id"] in scores:
        assert scores[manifest["upper"]["id"]] == training.data.metrics["round/utility"]
    assert "def " in training.data.tags["mlflow.note.content"]


def test_no_key_is_in_any_file(place):
    files = [path for path in place.rglob("*") if path.is_file()]
    assert any(path.name == "mlflow.db" for path in files)
    assert not [path for path in files if CANARY.encode() in path.read_bytes()]


def test_what_is_tracked_stays_as_it_is(place):
    call("track", "run=run", cwd=place, cold=True)
    call("train", "resume=run", cwd=place)
    _, training, candidates = found(place)
    assert (training.info.status, len(candidates)) == ("FINISHED", 4)


def test_a_store_elsewhere_gets_a_run_of_its_own(place):
    other = "tracking.uri=sqlite:///other.db"
    call("track", "run=run", other, cwd=place)
    store = MlflowClient(f"sqlite:///{place}/other.db")
    experiment = store.get_experiment_by_name("specahd").experiment_id
    [training] = store.search_runs([experiment])
    assert training.data.metrics["spent/tickets"] == 4
    done = call("track", "run=run", "tracking.uri=elsewhere://x", cwd=place, check=False)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert done.stderr.startswith("tracking.uri=elsewhere://x does not take it: ")
    away = "tracking.uri=http://user:canary@127.0.0.1:9"
    done = call("track", "run=run", away, cwd=place, check=False)
    assert (done.returncode, "canary" in done.stderr) == (2, False)
    assert done.stderr.startswith("tracking.uri=http://user:***@127.0.0.1:9 does not take it: ")
    done = call("track", "run=run", "tracking=none", cwd=place, check=False)
    assert (done.returncode, done.stderr) == (
        2,
        "Expected tracking=mlflow: a finished run is uploaded to MLflow alone.\n",
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk takes root")
@pytest.mark.parametrize("options", ["size=1m", "ro"])
def test_a_full_or_read_only_disk_below_the_store_harms_no_training(tmp_path, options):
    store = tmp_path / "mlruns"
    store.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(store)]
    if subprocess.run(mount, check=False).returncode:
        pytest.skip("this machine mounts no disk")
    try:
        patience = "tracking.patience=20"
        done = call("train", *SMALL, "hydra.run.dir=run", patience, cwd=tmp_path)
    finally:
        subprocess.run(["umount", str(store)], check=True)
    assert "MLflow lacks some of this run (" in done.stderr
    assert "bring it in with: python -m specahd.track run=run\n" in done.stderr
    assert "Traceback" not in done.stderr
    # The journal is whole: everything comes in afterwards.
    call("track", "run=run", cwd=tmp_path)
    _, training, candidates = found(tmp_path)
    assert (training.info.status, len(candidates)) == ("FINISHED", 4)


def test_the_store_of_the_variable_is_used_and_its_address_not_stored(tmp_path):
    env = {"MLFLOW_TRACKING_URI": "sqlite:///canary.db"}
    commands.call("train", *SMALL, "hydra.run.dir=run", cwd=tmp_path, env=env)
    commands.call("track", "run=run", cwd=tmp_path, env=env)
    assert (tmp_path / "canary.db").is_file()
    assert not (tmp_path / "mlruns" / "mlflow.db").exists()
    assert "canary" not in (tmp_path / "run" / "config.yaml").read_text()


@pytest.mark.parametrize("sweep", [(), ("-m", "seed=0,1")])
def test_a_password_in_a_query_is_refused_before_anything_is_kept(tmp_path, sweep):
    away = "tracking.uri='http://127.0.0.1:9/?password=canary'"
    done = call("train", away, *sweep, cwd=tmp_path, check=False)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert done.stderr.startswith("Expected tracking.uri without a password")
    assert "canary" not in done.stderr
    assert list(tmp_path.iterdir()) == []
