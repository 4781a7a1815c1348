"""Many jobs at once, and their store counted against their journals."""

import json
from collections import Counter
from pathlib import Path
from statistics import fmean, stdev

import pytest
from trial_store import candidates_of

from commands import call

SWEEP = [
    "problem=cvrp", "llm=offline", "-m",
    "budget=smoke", "budget.programs=4", "budget.rounds=1", "budget.lower_train=2",
    "budget.upper_train=2", "budget.selection=2", "budget.validation=2",
    "executor.workers=1", "hydra/launcher=joblib",
    "hydra.sweep.dir=s",
    # However slow the machine is.
    "tracking.patience=300", "hydra.callbacks.sweep.patience=300",
]  # fmt: skip


def sweep(place: Path, jobs: int, *options: str) -> str:
    """Train some seeds at once in a place; return what it said."""
    seeds = [f"seed=range(0,{jobs})", f"hydra.launcher.n_jobs={jobs}"]
    done = call("train", *SWEEP, *seeds, *options, cwd=place)
    for warning in ("MLflow lacks", "The sweep "):
        assert warning not in done.stderr, done.stderr
    return done.stdout


def count_against_journals(place: Path, jobs: int, uri: str) -> None:
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
    trained = below[parent.info.run_id]
    assert Counter(run.data.params["seed"] for run in trained) == dict.fromkeys(
        map(str, range(jobs)), 1
    )
    measured = {pool: [] for pool in ("selection", "validation")}
    for run in trained:
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
        scores = candidates_of(client, run)["score"].astype(object)
        scores = scores.where(scores.notna(), None).to_dict()
        assert scores == {record["sample"]: record["score"] for record in samples}
        for pool, values in measured.items():
            rows = lines(directory / f"{pool}.jsonl")
            values.append(fmean(row["improvement"] for row in rows))
            assert run.data.metrics[f"{pool}/improvement"] == pytest.approx(values[-1])
    for pool, values in measured.items():
        metrics = parent.data.metrics
        percent = f"improvement_percent/{pool}"
        assert metrics[f"{percent}/mean"] == round(100 * fmean(values), 2)
        assert metrics[f"{percent}/sd"] == round(100 * stdev(values), 2)
    assert next(iter(parent.data.metrics)) == "improvement_percent/selection/mean"
    counts = {f"jobs/{name}": 0 for name in ("partial", "failed")} | {"jobs/complete": jobs}
    assert counts.items() <= parent.data.metrics.items()
    assert parent.data.tags["kind"] == "sweep"
    assert (
        parent.data.params.items()
        >= {"problem": "cvrp", "llm": "offline", "jobs": str(jobs)}.items()
    )
    assert [file.path for file in client.list_artifacts(parent.info.run_id)] == [
        "figures",
        "jobs.csv",
        "pages",
    ]
    figures = client.list_artifacts(parent.info.run_id, "figures")
    assert {"figures/convergence.png", "figures/convergence.svg"} <= {each.path for each in figures}


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]
