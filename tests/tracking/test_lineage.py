"""A run says on which machine and at which commit it was made, and what DVC calls its files."""

import json
import subprocess

import pytest

from specahd.core.errors import FileError
from specahd.tracking.provenance import dvc_hashes, save_machine
from specahd.tracking.reports import log_report
from specahd.tracking.store import Store

LOCK = """\
schema: '2.0'
stages:
  train@cvrp-0:
    cmd: python -m specahd.train
    deps:
    - path: pipeline/pools/cvrp
      hash: md5
      md5: aa.dir
    outs:
    - path: pipeline/runs/cvrp-seed0/checkpoint
      hash: md5
      md5: 0123456789abcdef0123456789abcdef.dir
      size: 12
      nfiles: 3
    - path: elsewhere
  report:
    cmd: python -m specahd.report
"""
DATA = """\
outs:
- md5: fedcba9876543210fedcba9876543210.dir
  size: 1
  nfiles: 1
  hash: md5
  path: data
"""


def test_outs_of_the_pipeline_and_of_pinned_data_are_given_by_path(tmp_path):
    (tmp_path / "dvc.lock").write_text(LOCK)
    (tmp_path / "data.dvc").write_text(DATA)
    (tmp_path / "more.dvc").write_text("wdir: below\n" + DATA)
    data = "fedcba9876543210fedcba9876543210.dir"
    assert dvc_hashes(tmp_path) == {
        "pipeline/runs/cvrp-seed0/checkpoint": "0123456789abcdef0123456789abcdef.dir",
        "data": data,
        "below/data": data,
    }


def test_a_store_that_is_away_is_one_line_without_its_password(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    (tmp_path / "dvc.lock").write_text(LOCK)
    checkpoint = tmp_path / "pipeline/runs/cvrp-seed0/checkpoint"
    away = Store("http://user:canary@127.0.0.1:9", tmp_path, "trial")
    said = log_report(away, tmp_path, tmp_path, [checkpoint])
    assert said.startswith("The report is not in MLflow: ")
    assert "http://user:***@127.0.0.1:9" in said
    assert "canary" not in said


def test_a_folder_without_dvc_has_no_hashes(tmp_path):
    assert dvc_hashes(tmp_path) == {}


@pytest.mark.parametrize("name", ["dvc.lock", "data.dvc"])
@pytest.mark.parametrize("text", ["", "[1, 2]", "stages: 3\nouts: 3", "<<<<<<< HEAD\na: [", "\x00"])
def test_a_torn_file_is_refused_by_its_name(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(FileError, match=name):
        dvc_hashes(tmp_path)


def facts(folder):
    save_machine(folder)
    return json.loads((folder / "machine.json").read_text())


def test_the_commit_is_that_of_the_working_directory_if_it_has_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    alone = facts(tmp_path)
    assert "commit" not in alone
    assert {"machine.cpus", "machine.simd", "version.numpy", "version.specahd"} <= alone.keys()
    git = ["git", "-c", "user.name=x", "-c", "user.email=x", "-c", "commit.gpgsign=false"]
    (tmp_path / "file").write_text("1")
    for words in (["init", "-q"], ["add", "file"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    inside = facts(tmp_path)
    assert (len(inside["commit"]), inside["commit.clean"]) == (40, "yes")
    (tmp_path / "file").write_text("2")
    assert facts(tmp_path)["commit.clean"] == "no"


def test_a_stage_of_the_pipeline_is_told_from_a_user(tmp_path, monkeypatch):
    monkeypatch.delenv("DVC_STAGE", raising=False)
    assert "dvc.stage" not in facts(tmp_path)
    monkeypatch.setenv("DVC_STAGE", "train@cvrp-0")
    assert facts(tmp_path)["dvc.stage"] == "train@cvrp-0"
