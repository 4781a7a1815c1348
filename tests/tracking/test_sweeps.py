"""The parent run of a sweep, and what is read from the directories of its jobs."""

import json
import time

import pytest
from counted_sweep import SWEEP, count_against_journals, sweep
from mlflow import MlflowClient
from omegaconf import OmegaConf

from commands import call
from run_directories import row, sample, write_run
from specahd.tracking.store import NOTE
from specahd.tracking.sweep import SweepCallback, SweepResults

pytestmark = pytest.mark.integration


def write_job(sweep, name, improvements=None, **options):
    """Write what a job leaves; without improvements it broke off."""
    rows = [row(str(n), 10, 100 * (1 - value)) for n, value in enumerate(improvements or ())]
    # A failed instance has no numbers, and none is made up.
    rows = [*rows, row("t", 10, 0.0, status="T")] if rows else ()
    return write_run(sweep / name, selection=rows, validation=rows, **options)


def test_means_and_sample_deviations_are_those_of_the_complete_jobs(tmp_path):
    write_job(tmp_path, "a", [0.1, 0.3], seed=0)
    write_job(tmp_path, "b", [0.4], seed=10)
    write_job(tmp_path, "c", seed=2)
    (tmp_path / "refused").mkdir()
    results = SweepResults.read(tmp_path, jobs=4)
    [found] = results.configurations()
    assert (found.label, found.seeds) == ("", [0, 2, 10])
    assert (found.complete, found.partial) == (2, ["c"])
    assert results.counts == {"complete": 2, "partial": 1, "failed": 1}
    # Those that a sweep did not come to have no directory; a launcher keeps its own there.
    (tmp_path / ".submitit").mkdir()
    results = SweepResults.read(tmp_path, jobs=6)
    assert results.counts == {"complete": 2, "partial": 1, "failed": 1, "not started": 2}
    assert found.means["validation/improvement"] == pytest.approx(0.3)
    # Two values that are 0.2 apart.
    assert found.deviations["validation/improvement"] == pytest.approx(0.2 / 2**0.5)
    assert found.deviations["validation/baseline_cost"] == 0


def test_a_sweep_whose_jobs_were_stopped_has_no_complete_one(tmp_path):
    write_job(tmp_path, "a", [0.5], seed=0, samples=[])
    write_job(tmp_path, "b", [0.5], seed=1, samples=[sample("lower", 1, 0.1)])
    results = SweepResults.read(tmp_path, jobs=2)
    assert results.counts == {"complete": 0, "partial": 2, "failed": 0}
    [found] = results.configurations()
    assert (found.partial, found.means, found.deviations) == (["a", "b"], {}, {})
    assert results.table() == "job,status,seed\na,partial,0\nb,partial,1\n"


def test_jobs_of_several_configurations_are_not_mixed(tmp_path):
    for budget, programs in (("smoke", 4), ("table", 3)):
        for seed in (0, 1):
            write_job(
                tmp_path, f"{budget}{seed}", [seed / 10], seed=seed, programs=programs,
                choices={"budget": budget}, options={"record": f"{seed}.jsonl"},
            )  # fmt: skip
    write_job(tmp_path, "other", [0.5], seed=0, programs=2, choices={"budget": "table"})
    found = SweepResults.read(tmp_path, 5).configurations()
    # The choice stands for all that it brings.
    assert [each.label for each in found] == [
        "budget=smoke budget.programs=4",
        "budget=table budget.programs=2",
        "budget=table budget.programs=3",
    ]
    (tmp_path / "other" / "config.yaml").unlink()
    results = SweepResults.read(tmp_path, 5)
    found = results.configurations()
    assert [each.label for each in found] == ["budget=smoke", "budget=table"]
    assert found[0].means["selection/improvement"] == pytest.approx(0.05)
    head, *rows = results.table().splitlines()
    assert head.startswith("job,status,seed,budget,selection/baseline_cost,")
    assert rows[0].startswith("smoke0,complete,0,smoke,100.0,100.0,")


def test_a_job_that_was_numbered_anew_counts_once(tmp_path):
    low, high = {"search": {"beta": 0.2}}, {"search": {"beta": 0.5}}
    write_job(tmp_path, "cvrp-0-seed0", [0.1], seed=0, options=low)
    write_job(tmp_path, "cvrp-1-seed0", [0.3], seed=0, options=high, recorded=2.0)
    write_job(tmp_path, "cvrp-1-seed1", [0.2], seed=1, options=low)
    write_job(tmp_path, "cvrp-0-seed1", seed=1, options=low)
    write_job(tmp_path, "cvrp-2-seed0", [0.3], seed=0, options=high, recorded=1.0)
    results = SweepResults.read(tmp_path, 5)
    assert [job.name for job in results.jobs] == ["cvrp-0-seed0", "cvrp-1-seed0", "cvrp-1-seed1"]
    found = [(each.seeds, each.complete, each.partial) for each in results.configurations()]
    assert found == [([0, 1], 2, []), ([0], 1, [])]
    # One job has no deviation.
    assert results.configurations()[1].deviations == {}


@pytest.mark.parametrize("jobs", [3, pytest.param(8, marks=pytest.mark.slow)])
def test_jobs_at_once_lose_nothing_in_a_fresh_sqlite_store(tmp_path, jobs):
    said = sweep(tmp_path, jobs)
    assert f"sweep: {jobs} complete, 0 partial, 0 failed" in said
    count_against_journals(tmp_path, jobs, f"sqlite:///{tmp_path}/mlruns/mlflow.db")


def train(place, *options):
    small = [word for word in SWEEP if "seed" not in word and "launcher" not in word]
    return call("train", *small, *options, cwd=place, check=False)


def test_a_store_that_fails_costs_a_warning(tmp_path):
    (tmp_path / "mlruns").write_text("a file where the folder should be")
    done = train(tmp_path, "seed=0", "tracking.patience=1")
    assert done.returncode == 0, done.stderr
    assert "The sweep has no MLflow run: FileExistsError" in done.stderr
    assert "Traceback" not in done.stderr
    assert "sweep: 1 complete, 0 partial, 0 failed" in done.stdout


def test_a_sweep_that_its_limit_ends_at_once_has_no_complete_job(tmp_path):
    for said in ("partial after", "s/cvrp-0-seed0 is partial already"):
        done = train(tmp_path, "seed=0", "budget.max_tokens=0")
        assert done.returncode == 0, done.stderr
        assert said in done.stdout + done.stderr
        assert "sweep: 0 complete, 1 partial, 0 failed" in done.stdout
        assert "partial, counted in no mean: cvrp-0-seed0" in done.stdout
    client = MlflowClient(f"sqlite:///{tmp_path}/mlruns/mlflow.db")
    [sweep] = client.search_runs(["1"], "tags.kind = 'sweep'")
    told = sweep.data.tags[NOTE]
    assert told.startswith("**0 of 1 jobs complete, 1 partial**\n")
    [words] = [line.strip() for line in told.splitlines() if line.startswith("    python")]
    assert words.endswith(f" seed=0 budget.max_tokens=0 hydra.sweep.dir={tmp_path / 's'}")
    [job] = client.search_runs(["1"], "tags.kind = 'training'")
    assert f"not complete: [cvrp-0-seed0](#/experiments/1/runs/{job.info.run_id}?" in told
    assert (job.info.status, job.data.tags["status"]) == ("FINISHED", "partial")
    assert job.data.tags[NOTE].startswith("**partial**: `budget.max_tokens=0 leaves no room for ")


def test_a_store_that_hangs_is_not_waited_for(tmp_path):
    began = time.monotonic()
    SweepCallback(patience=0.2)._try("has no MLflow run", lambda: time.sleep(5))
    assert time.monotonic() - began < 2


def test_a_sweep_that_is_refused_leaves_nothing(tmp_path):
    done = train(tmp_path, "problem.baseline=nope", "seed=0,1")
    assert done.returncode == 2
    assert list(tmp_path.iterdir()) == []


def test_a_sweep_called_again_goes_on_in_its_run(tmp_path):
    assert train(tmp_path, "seed=0").returncode == 0
    done = train(tmp_path, "seed=0,1")
    assert "s/cvrp-0-seed0 is complete already" in done.stdout
    client = MlflowClient(f"sqlite:///{tmp_path}/mlruns/mlflow.db")
    experiment = client.get_experiment_by_name("specahd").experiment_id
    [parent] = client.search_runs([experiment], "tags.kind = 'sweep'")
    assert parent.data.metrics["jobs/complete"] == 2
    assert parent.info.status == "FINISHED"
    note = parent.data.tags[NOTE]
    assert note.startswith("**2 of 2 jobs complete**\n")
    jobs = client.search_runs([experiment], "tags.kind = 'training'")
    best = max(
        jobs,
        key=lambda job: (job.data.metrics["selection/improvement"], -int(job.data.params["seed"])),
    )
    name = best.info.run_name.removesuffix(" in s")
    page = f"#/experiments/1/runs/{best.info.run_id}?workflowType=machine_learning"
    assert f"best on selection: [{name}]({page})" in note
    assert "go on with" not in note
    assert {job.data.tags["sweep"] for job in jobs} == {"s"}


def called(place, store):
    """A sweep's configuration, as far as its callback reads it."""
    return OmegaConf.create(
        {
            "tracking": {
                "uri": f"sqlite:///{place}/{store}/mlflow.db",
                "artifacts": f"{place}/{store}/artifacts",
                "experiment": "specahd",
            },
            "hydra": {
                "sweep": {"dir": f"{place}/s"},
                "sweeper": {"params": None},
                "overrides": {"task": ["seed=0"]},
                "runtime": {"choices": {"problem": "cvrp"}},
            },
        }
    )


@pytest.mark.parametrize("loss", ["another store", "another experiment", "deleted"])
def test_a_sweep_whose_run_is_not_there_gets_another(tmp_path, capfd, loss):
    def noted():
        return json.loads((tmp_path / "s" / "sweep.json").read_text())["run_id"]

    callback = SweepCallback(patience=120)
    callback.on_multirun_start(called(tmp_path, "one"))
    first = noted()
    # What stays of a sweep that is killed.
    begun = MlflowClient(called(tmp_path, "one").tracking.uri).get_run(first).data.tags[NOTE]
    assert begun.startswith("**0 of 1 jobs complete**\n")
    assert f"    python -m specahd.train -m seed=0 hydra.sweep.dir={tmp_path}/s\n" in begun
    config = called(tmp_path, "other" if loss == "another store" else "one")
    if loss == "another experiment":
        config.tracking.experiment = "else"
    if loss == "deleted":
        MlflowClient(config.tracking.uri).delete_run(first)
    callback.on_multirun_start(config)
    second = noted()
    assert second != first
    callback.on_multirun_start(config)
    assert noted() == second
    write_job(tmp_path / "s", "cvrp-0-seed0", [0.1], seed=0)
    callback.on_multirun_end(config)
    run = MlflowClient(config.tracking.uri).get_run(second)
    assert run.data.metrics["jobs/complete"] == 1
    assert run.info.status == "FINISHED"
    assert capfd.readouterr().err == ""
