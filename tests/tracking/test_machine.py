"""A run says on which machine and at which commit it was made."""

import json
import subprocess

from specahd.tracking.provenance import save_machine


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
