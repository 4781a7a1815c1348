"""The parent run of a sweep, and what is read from the directories of its jobs."""

import json
import subprocess
import sys
import time

import pytest
import yaml
from counted import SWEEP, count_against_journals, sweep
from omegaconf import OmegaConf

from specahd.tracking.standing import configurations, is_complete, read_jobs, table


def write_job(sweep, name, improvements=None, **options):
    """Write what a job leaves; without improvements it broke off."""
    directory = sweep / name
    directory.mkdir(parents=True)
    choices = {"problem": "cvrp", "budget": options.pop("budget_choice", "smoke")}
    (directory / "config.yaml").write_text(yaml.safe_dump({**options, "choices": choices}))
    if improvements is not None:
        rows = [
            {"status": "ok", "improvement": value, "baseline_cost": 2.0, "cost": 1.0}
            for value in improvements
        ]
        # A failed instance has no numbers, and none is made up.
        rows.append({"status": "crashed", "improvement": None, "baseline_cost": 2.0, "cost": None})
        for pool in ("selection", "validation"):
            text = "".join(json.dumps(row) + "\n" for row in rows)
            (directory / f"{pool}.jsonl").write_text(text)
    return directory


def test_a_job_is_complete_when_it_has_the_rows_of_both_pools(tmp_path):
    directory = write_job(tmp_path, "a", [0.1], seed=0)
    assert is_complete(directory)
    (directory / "validation.jsonl").unlink()
    assert not is_complete(directory)


def test_means_and_sample_deviations_are_those_of_the_complete_jobs(tmp_path):
    write_job(tmp_path, "a", [0.1, 0.3], seed=0)
    write_job(tmp_path, "b", [0.4], seed=10)
    write_job(tmp_path, "c", seed=2)
    (tmp_path / "refused").mkdir()
    [found] = configurations(read_jobs(tmp_path))
    assert (found.label, found.seeds) == ("", ["0", "2", "10"])
    assert (found.complete, found.partial) == (2, 1)
    assert found.means["validation/improvement"] == pytest.approx(0.3)
    # Two values that are 0.2 apart.
    assert found.deviations["validation/improvement"] == pytest.approx(0.2 / 2**0.5)
    assert found.deviations["validation/cost"] == 0


def test_jobs_of_several_configurations_are_not_mixed(tmp_path):
    budgets = {"smoke": {"programs": 40}, "table": {"programs": 60}}
    for budget, values in budgets.items():
        for seed in (0, 1):
            write_job(
                tmp_path, f"{budget}{seed}", [seed / 10], seed=seed, budget=values,
                budget_choice=budget, record=f"{seed}.jsonl",
            )  # fmt: skip
    write_job(tmp_path, "other", [0.5], seed=0, budget={"programs": 7}, budget_choice="table")
    found = configurations(read_jobs(tmp_path))
    # The choice stands for all that it brings.
    assert [each.label for each in found] == [
        "budget=smoke budget.programs=40",
        "budget=table budget.programs=60",
        "budget=table budget.programs=7",
    ]
    (tmp_path / "other" / "config.yaml").unlink()
    found = configurations(read_jobs(tmp_path))
    assert [each.label for each in found] == ["budget=smoke", "budget=table"]
    assert found[0].means["selection/improvement"] == pytest.approx(0.05)
    assert "sd" not in found[0].deviations
    head, *rows = table(read_jobs(tmp_path)).splitlines()
    assert head.startswith("job,status,seed,budget,selection/baseline_cost,")
    assert rows[0].startswith("smoke0,complete,0,smoke,")


def test_what_enters_into_no_result_tells_no_jobs_apart(tmp_path):
    for seed in (0, 1):
        write_job(
            tmp_path, str(seed), [0.1], seed=seed, executor={"workers": seed + 1},
            tracking={"uri": str(seed)}, sandbox={"require": str(seed)},
            search={"samplers": seed, "beta": 0.5},
        )  # fmt: skip
    [found] = configurations(read_jobs(tmp_path))
    assert (found.label, found.seeds) == ("", ["0", "1"])


def test_a_job_that_was_numbered_anew_counts_once(tmp_path):
    write_job(tmp_path, "cvrp-0-seed0", [0.1], seed=0, search={"beta": 0.2})
    write_job(tmp_path, "cvrp-1-seed0", [0.3], seed=0, search={"beta": 0.5})
    write_job(tmp_path, "cvrp-1-seed1", [0.2], seed=1, search={"beta": 0.2})
    write_job(tmp_path, "cvrp-0-seed1", seed=1, search={"beta": 0.2})
    write_job(tmp_path, "cvrp-2-seed0", [0.3], seed=0, search={"beta": 0.5})
    jobs = read_jobs(tmp_path)
    assert [job.name for job in jobs] == ["cvrp-0-seed0", "cvrp-1-seed0", "cvrp-1-seed1"]
    assert [(each.seeds, each.complete, each.partial) for each in configurations(jobs)] == [
        (["0", "1"], 2, 0),
        (["0"], 1, 0),
    ]


def test_one_job_has_no_deviation(tmp_path):
    write_job(tmp_path, "a", [0.1], seed=0)
    [found] = configurations(read_jobs(tmp_path))
    assert found.deviations == {}


def test_eight_jobs_at_once_lose_nothing_in_a_fresh_sqlite_store(tmp_path):
    said = sweep(tmp_path)
    assert "sweep: 8 complete, 0 partial, 0 failed" in said
    count_against_journals(tmp_path, f"sqlite:///{tmp_path}/mlruns/mlflow.db")


def train(place, *options):
    small = [word for word in SWEEP if "seed" not in word and "launcher" not in word]
    return subprocess.run(
        [sys.executable, "-m", "specahd.train", *small, *options],
        cwd=place, capture_output=True, text=True, timeout=600,
    )  # fmt: skip


def test_a_store_that_fails_costs_a_warning(tmp_path):
    (tmp_path / "mlruns").write_text("a file where the folder should be")
    done = train(tmp_path, "seed=0", "tracking.patience=1")
    assert done.returncode == 0, done.stderr
    assert "The sweep has no MLflow run: FileExistsError" in done.stderr
    assert "Traceback" not in done.stderr
    assert "sweep: 1 complete, 0 partial, 0 failed" in done.stdout


def test_a_store_that_hangs_is_not_waited_for(tmp_path):
    from specahd.tracking.sweep import SweepCallback

    began = time.monotonic()
    SweepCallback(patience=0.2)._try("has no MLflow run", lambda: time.sleep(5))
    assert time.monotonic() - began < 2


def test_a_sweep_of_which_no_job_began_leaves_no_run(tmp_path):
    done = train(tmp_path, "problem.baseline=nope", "seed=0,1")
    assert done.returncode == 2
    assert [path.name for path in tmp_path.iterdir()] == ["mlruns"]
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{tmp_path}/mlruns/mlflow.db")
    experiment = client.get_experiment_by_name("specahd")
    assert client.search_runs([experiment.experiment_id]) == []


def test_a_sweep_called_again_goes_on_in_its_run(tmp_path):
    from mlflow import MlflowClient

    assert train(tmp_path, "seed=0").returncode == 0
    done = train(tmp_path, "seed=0,1")
    assert "s/cvrp-0-seed0 is complete already" in done.stdout
    client = MlflowClient(f"sqlite:///{tmp_path}/mlruns/mlflow.db")
    experiment = client.get_experiment_by_name("specahd").experiment_id
    [parent] = client.search_runs([experiment], "tags.kind = 'sweep'")
    assert parent.data.metrics["jobs/complete"] == 2
    assert parent.info.status == "FINISHED"


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
                "overrides": {"task": ["seed=0"]},
                "runtime": {"choices": {"problem": "cvrp"}},
            },
        }
    )


@pytest.mark.parametrize("loss", ["another store", "another experiment", "deleted"])
def test_a_sweep_whose_run_is_not_there_gets_another(tmp_path, capfd, loss):
    from mlflow import MlflowClient

    from specahd.tracking.sweep import SweepCallback

    def noted():
        return json.loads((tmp_path / "s" / "sweep.json").read_text())["run_id"]

    callback = SweepCallback(patience=120)
    callback.on_multirun_start(called(tmp_path, "one"))
    first = noted()
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
