"""The report's command: real processes, and a real MLflow store."""

from pathlib import Path

import pytest

import commands
from commands import tree
from run_directories import write_run
from specahd.tracking.store import Store

pytestmark = pytest.mark.integration


def call(*arguments, cwd, check=True, cold=False):
    return commands.call("report", *arguments, cwd=cwd, check=check, cold=cold)


def test_the_same_rows_anywhere_give_the_same_files(tmp_path):
    reports = []
    for place in (tmp_path / "here", tmp_path / "there"):
        write_run(place / "runs" / "a")
        said = call("hydra.run.dir=report", cwd=place, cold=place.name == "here")
        assert said.stdout.startswith("1 runs of runs: ")
        assert said.stderr == ""
        reports.append(tree(place / "report"))
        # No store was there, and none is made.
        assert sorted(path.name for path in place.iterdir()) == ["report", "runs"]
    assert reports[0] == reports[1]
    assert sorted(map(str, reports[0])) == [
        "convergence.png",
        "convergence.svg",
        "convergence/cvrp-lower.csv",
        "convergence/cvrp-upper.csv",
        "metrics/cvrp.json",
        "pages/a-lineage.html",
        "pages/a-search.html",
        "report.html",
        "report.md",
        "report.tex",
        "tables/checkpoints.csv",
        "tables/programs-by-outcome.csv",
        "tables/validation-by-size.csv",
    ]


def test_a_second_report_leaves_nothing_of_the_first(tmp_path):
    write_run(tmp_path / "old" / "a", problem="tsp")
    write_run(tmp_path / "new" / "a")
    for runs in ("old", "new"):
        call(f"runs={runs}", "hydra.run.dir=report", cwd=tmp_path)
    assert not [path for path in tree(tmp_path / "report") if "tsp" in path.name]


LOCK = """\
schema: '2.0'
stages:
  train:
    outs:
    - path: runs/a/checkpoint
      md5: 0123.dir
"""


def test_the_newest_mlflow_run_learns_the_hash_of_its_checkpoint(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    directory = write_run(tmp_path / "runs" / "a")
    (tmp_path / "dvc.lock").write_text(LOCK)
    client, experiment = Store(
        "sqlite:///mlruns/mlflow.db", tmp_path / "artifacts", "specahd"
    ).connect()
    older, newer, other = (
        client.create_run(experiment, start_time=start, tags={"directory": str(place)}).info.run_id
        for start, place in ((1, directory), (2, directory), (3, tmp_path / "runs" / "b"))
    )
    call("hydra.run.dir=report", cwd=tmp_path)
    tags = [client.get_run(run).data.tags.get("dvc.checkpoint") for run in (older, newer, other)]
    assert tags == [None, "0123.dir", None]


def test_a_report_is_one_run_of_mlflow_however_often_it_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_run(tmp_path / "runs" / "a")
    client, experiment = Store(
        "sqlite:///mlruns/mlflow.db", tmp_path / "artifacts", "specahd"
    ).connect()
    for name in ("it's", "it's", "other"):
        call(f'hydra.run.dir="{name}"', cwd=tmp_path)
    reports = client.search_runs([experiment], "tags.kind = 'report'")
    assert {run.info.run_name: run.info.status for run in reports} == dict.fromkeys(
        ("it's", "other"), "FINISHED"
    )
    for run in reports:
        page = client.download_artifacts(run.info.run_id, "report.html", str(tmp_path))
        assert (
            Path(page).read_bytes() == (tmp_path / run.info.run_name / "report.html").read_bytes()
        )


def test_a_store_that_is_none_is_told_and_harms_nothing(tmp_path):
    write_run(tmp_path / "runs" / "a")
    (tmp_path / "dvc.lock").write_text(LOCK)
    (tmp_path / "mlruns").mkdir()
    (tmp_path / "mlruns" / "mlflow.db").write_text("no database" * 100)
    done = call("hydra.run.dir=report", cwd=tmp_path)
    assert "The report is not in MLflow: The MLflow store sqlite:///mlruns/mlflow.db" in done.stderr
    assert (tmp_path / "report" / "report.html").is_file()
