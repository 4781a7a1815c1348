"""Sweeps as a user meets them: with every launcher, broken off, and called again."""

import json
import os
import signal
import time
from pathlib import Path
from statistics import fmean

import psutil
import pytest
from mlflow import MlflowClient
from omegaconf import OmegaConf

import commands
from commands import call, tree

pytestmark = pytest.mark.integration

TINY = [*commands.TINY, "executor.workers=1"]
LONG = [*TINY, "budget.programs=4000"]
LAUNCHERS = {
    "basic": [],
    "joblib": ["hydra/launcher=joblib", "hydra.launcher.n_jobs=2"],
    "submitit": ["hydra/launcher=submitit_local"],
}
# What varies between equal runs, or says when and where.
VARIES = ("timings", "wal.jsonl", "train.log", "mlflow.json")


@pytest.fixture(scope="module")
def pools(tmp_path_factory):
    place = tmp_path_factory.mktemp("pools")
    call("prepare", "problem=cvrp", cwd=place)
    return f"pools.dir={place / 'pools'}"


@pytest.fixture(scope="module")
def alone(tmp_path_factory, pools):
    """The run of seed 1 by itself."""
    place = tmp_path_factory.mktemp("alone")
    call("train", *TINY, pools, "tracking=none", "seed=1", "hydra.run.dir=run", cwd=place)
    return outcome(place / "run")


def outcome(directory):
    content = tree(directory)
    return {n: b for n, b in content.items() if not any(word in str(n) for word in VARIES)}


def start(place, *arguments):
    """Start a sweep in a process group of its own, as a terminal does."""
    return commands.start("specahd.train", *arguments, cwd=place, session=True)


def wait_for_journals(process, sweep, jobs, records=5):
    def begun():
        return [
            path
            for path in sweep.glob("*/journal.jsonl")
            if len(path.read_bytes().splitlines()) >= records
        ]

    while len(begun()) < jobs:
        time.sleep(0.05)
        assert process.poll() is None, process.communicate()[1]


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_the_literal_sweep_with_every_launcher(tmp_path, pools, alone, launcher):
    # As the issue has it: -m between the options, and budget options after it.
    done = call(
        "train", "problem=cvrp", "llm=offline", "-m", "seed=0,1", *TINY, pools,
        "tracking=none", *LAUNCHERS[launcher], cwd=tmp_path,
    )  # fmt: skip
    [sweep] = (tmp_path / "runs").iterdir()
    assert outcome(sweep / "cvrp-1-seed1").keys() == alone.keys()
    for name in ("journal.jsonl", "validation.jsonl", "checkpoint/SHA256SUMS"):
        assert outcome(sweep / "cvrp-1-seed1").get(Path(name)) == alone.get(Path(name))
    assert len(list(sweep.glob("*/checkpoint/manifest.json"))) == 2
    assert "sweep: 2 complete, 0 partial, 0 failed" in done.stdout
    assert "0 1" in done.stdout
    assert "2/2" in done.stdout
    if launcher == "joblib":
        assert "cvrp-1-seed1: 4 programs" in done.stderr


def test_jobs_that_start_at_once_without_pools_prepare_them_once(tmp_path, pools, alone):
    done = call(
        "train", *TINY, "tracking=none", "hydra/launcher=joblib", "hydra.launcher.n_jobs=2",
        "-m", "seed=0,1", "hydra.sweep.dir=s", cwd=tmp_path,
    )  # fmt: skip
    assert "sweep: 2 complete" in done.stdout
    assert (
        outcome(tmp_path / "s" / "cvrp-1-seed1")[Path("journal.jsonl")]
        == alone[Path("journal.jsonl")]
    )
    folder = Path(pools.partition("=")[2])
    prepared = tree(folder)
    # No training reads this pool.
    used = {path: data for path, data in prepared.items() if "confirmation" not in path.parts}
    assert tree(tmp_path / "pools") == used
    assert len(used) < len(prepared)


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_a_refusal_is_the_same_sentence_and_status_with_every_launcher(tmp_path, pools, launcher):
    done = call(
        "train", *TINY, pools, "tracking=none", "problem.baseline=nearest,nope", "-m",
        *LAUNCHERS[launcher], "hydra.sweep.dir=s", cwd=tmp_path, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert done.stderr == "Expected a baseline in nearest, savings, pyvrp, got 'nope'.\n"
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("launcher", ["basic", "joblib"])
def test_jobs_beside_a_refused_one_go_on_and_are_told_of(tmp_path, pools, launcher):
    # The first job's directory holds another run.
    call("train", *TINY, pools, "tracking=none", "hydra.run.dir=s/cvrp-0-seed0", cwd=tmp_path)
    done = call(
        "train", *TINY, pools, "tracking=none", "budget.programs=5", "-m", "seed=0,1",
        *LAUNCHERS[launcher], "hydra.sweep.dir=s", cwd=tmp_path, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    count, sentence, _ = done.stderr.splitlines()[-3:]
    assert count == "Jobs of the sweep that failed: 1 of 2."
    assert sentence.startswith("s/cvrp-0-seed0: budget.programs contradicts the run in")
    assert done.stderr.endswith("Go on with the sweep: the same command and hydra.sweep.dir=s\n")
    assert "sweep: 2 complete" in done.stdout
    assert "budget.programs=5" in done.stdout


@pytest.mark.parametrize(
    ("launcher", "blow"),
    [("joblib", signal.SIGINT), ("joblib", signal.SIGKILL), ("submitit", signal.SIGINT)],
)
def test_a_sweep_that_broke_off_leaves_no_process_and_goes_on(tmp_path, pools, launcher, blow):
    options = [*LONG, pools, "tracking=none", *LAUNCHERS[launcher], "-m", "seed=0,1"]
    process = start(tmp_path, *options, "hydra.sweep.dir=s")
    wait_for_journals(process, tmp_path / "s", 2)
    family = psutil.Process(process.pid).children(recursive=True)
    # A terminal's Ctrl-C reaches the whole group.
    (os.killpg if blow == signal.SIGINT else os.kill)(process.pid, blow)
    said = process.communicate(timeout=60)
    _, alive = psutil.wait_procs(family, timeout=20)
    assert not alive
    if blow == signal.SIGINT:
        assert process.returncode == 130
        assert "Interrupted." in said[1]
        assert "Go on with the sweep: the same command and hydra.sweep.dir=s" in said[1]
        assert "sweep: 0 complete, 2 partial, 0 failed" in said[0]
    # A job goes on by itself too.
    before = {path: path.read_bytes() for path in (tmp_path / "s").glob("*/journal.jsonl")}
    again = start(tmp_path, "resume=s/cvrp-0-seed0")
    first = tmp_path / "s" / "cvrp-0-seed0" / "journal.jsonl"
    while len(first.read_bytes()) <= len(before[first]):
        time.sleep(0.05)
        assert again.poll() is None, again.communicate()[1]
    os.killpg(again.pid, signal.SIGINT)
    again.communicate(timeout=60)
    for path, content in before.items():
        # But for a line that the blow tore.
        assert path.read_bytes().startswith(content[: content.rfind(b"\n") + 1])


def test_a_sweep_called_again_skips_what_is_complete_and_resumes_the_rest(tmp_path, pools):
    options = [*TINY, "budget.programs=40", pools, "tracking=none", "hydra.sweep.dir=s", "-m"]
    call("train", *options, "seed=0", cwd=tmp_path)
    whole = tree(tmp_path / "s" / "cvrp-0-seed0")
    process = start(tmp_path, *options, "seed=0,1")
    wait_for_journals(process, tmp_path / "s", 2, records=3)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    done = call("train", *options, "seed=0,1", "executor.workers=2", cwd=tmp_path)
    assert done.stdout.startswith("s/cvrp-0-seed0 is complete already\n")
    assert "sweep: 2 complete, 0 partial, 0 failed" in done.stdout
    assert tree(tmp_path / "s" / "cvrp-0-seed0") == whole
    asked = (tmp_path / "s" / "cvrp-1-seed1" / "wal.jsonl").read_text().splitlines()
    assert len({json.loads(line)["sample"] for line in asked}) == len(asked) == 40


def test_optuna_chooses_what_improves_most_on_selection_and_goes_on(tmp_path, pools, optuna):
    options = [
        "experiment=quick", "budget.lower_train=4", "budget.upper_train=3", "budget.selection=4",
        "budget.validation=2", pools, "-m", "hydra/sweeper=optuna", "hydra.sweeper.n_trials=3",
        "hydra.sweep.dir=s", "budget.programs=int(interval(2,9))",
        "problem.baseline=nearest,savings",
    ]  # fmt: skip
    done = call("train", *options, cwd=tmp_path)
    assert "sweep: 3 complete, 0 partial, 0 failed" in done.stdout
    found = OmegaConf.load(tmp_path / "s" / "optimization_results.yaml")
    rows = {
        path.parent: [json.loads(line)["improvement"] for line in path.read_text().splitlines()]
        for path in (tmp_path / "s").glob("*/selection.jsonl")
    }
    means = {place: fmean(values) for place, values in rows.items()}
    assert found.best_value == pytest.approx(max(means.values()))
    # Else it would not matter which way Optuna looks.
    assert max(means.values()) > min(means.values())
    best = OmegaConf.load(max(means, key=means.get) / "config.yaml")
    assert best.budget.programs == found.best_params["budget.programs"]
    assert f"budget.programs={best.budget.programs}" in done.stdout.partition("best on ")[2]
    uri = f"sqlite:///{tmp_path / 'mlruns' / 'mlflow.db'}"
    [above] = MlflowClient(uri).search_runs(["1"], "tags.kind = 'sweep'")
    below = f"tags.`mlflow.parentRunId` = '{above.info.run_id}' and tags.kind = 'training'"
    assert len(MlflowClient(uri).search_runs(["1"], below)) == 3
    assert (above.data.params["jobs"], above.info.status) == ("3", "FINISHED")
    # The same command knows the values of the trials that it made.
    again = call("train", *options, "hydra.sweeper.n_trials=4", cwd=tmp_path)
    assert again.stdout.count("is complete already") == 3
    assert "sweep: 4 complete, 0 partial, 0 failed" in again.stdout
    assert OmegaConf.load(tmp_path / "s" / "optimization_results.yaml").best_value >= (
        found.best_value
    )
