import pytest

from specahd.core.errors import FileError
from specahd.tracking.provenance import dvc_hashes
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
