"""Eight jobs at once, and their store counted against their journals."""

import json
from collections import Counter
from pathlib import Path
from statistics import fmean, stdev

import pytest

from commands import call

SEEDS = 8
SWEEP = [
    "problem=cvrp", "llm=offline", "-m", f"seed=range(0,{SEEDS})",
    "budget=smoke", "budget.programs=4", "budget.rounds=1", "budget.lower_train=2",
    "budget.upper_train=2", "budget.selection=2", "budget.validation=2",
    "executor.workers=1", "hydra/launcher=joblib", f"hydra.launcher.n_jobs={SEEDS}",
    "hydra.sweep.dir=s",
    # However slow the machine is.
    "tracking.patience=300", "hydra.callbacks.sweep.patience=300",
]  # fmt: skip


def sweep(place: Path, *options: str) -> str:
    """Train eight seeds at once in a place; return what it said."""
    done = call("train", *SWEEP, *options, cwd=place)
    for warning in ("MLflow lacks", "The sweep "):
        assert warning not in done.stderr, done.stderr
    return done.stdout


def count_against_journals(place: Path, uri: str) -> None:
    """Compare every run, metric and parameter of the store with what the jobs wrote."""
    from mlflow import MlflowClient

    client = MlflowClient(uri)
    experiment = client.get_experiment_by_name("specahd").experiment_id
    runs = client.search_runs([experiment], max_results=1000)
    assert {run.info.status for run in runs} == {"FINISHED"}
    below = {}
    for run in runs:
        below.setdefault(run.data.tags.get("mlflow.parentRunId"), []).append(run)
    [parent] = below[None]
    assert parent.info.run_id == json.loads((place / "s" / "sweep.json").read_text())["run_id"]
    jobs = below[parent.info.run_id]
    assert Counter(run.data.params["seed"] for run in jobs) == dict.fromkeys(
        map(str, range(SEEDS)), 1
    )
    measured = {pool: [] for pool in ("selection", "validation")}
    for run in jobs:
        directory = Path(run.data.tags["directory"])
        samples = [record for record in lines(directory / "journal.jsonl") if "sample" in record]
        assert run.data.params["budget.programs"] == "4" == str(len(samples))
        tickets = client.get_metric_history(run.info.run_id, "spent/tickets")
        assert [(metric.step, metric.value) for metric in tickets] == [(n, n) for n in range(1, 5)]
        outcomes = Counter(record["outcome"] for record in samples)
        assert outcomes == {
            name.removeprefix("outcome/"): value
            for name, value in run.data.metrics.items()
            if name.startswith("outcome/")
        }
        nested = {each.info.run_name: each for each in below[run.info.run_id]}
        assert nested.keys() == {record["sample"] for record in samples}
        for record in samples:
            assert nested[record["sample"]].data.metrics.get("score") == record["score"]
        for pool, values in measured.items():
            rows = lines(directory / f"{pool}.jsonl")
            values.append(fmean(row["improvement"] for row in rows))
            assert run.data.metrics[f"{pool}/improvement"] == pytest.approx(values[-1])
    for pool, values in measured.items():
        metrics = parent.data.metrics
        assert metrics[f"mean/{pool}/improvement"] == pytest.approx(fmean(values))
        assert metrics[f"sd/{pool}/improvement"] == pytest.approx(stdev(values))
    counts = {f"jobs/{name}": 0 for name in ("partial", "failed")} | {"jobs/complete": SEEDS}
    assert counts.items() <= parent.data.metrics.items()
    assert parent.data.tags["kind"] == "sweep"
    assert parent.data.params.items() >= {"problem": "cvrp", "llm": "offline", "jobs": "8"}.items()
    assert [file.path for file in client.list_artifacts(parent.info.run_id)] == ["jobs.csv"]


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]
