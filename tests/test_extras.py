"""Without an extra, everything else works, and what needs it says so in one sentence."""

import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest

from specahd.config.sweeps import with_sweeper
from specahd.core import extras
from specahd.core.errors import ConfigError

HERE = Path(__file__).parent


@pytest.mark.integration
def test_solving_repairing_and_evaluating_need_no_extra(small_runs, tmp_path):
    done = subprocess.run(
        [sys.executable, HERE / "without_extras.py", small_runs / "run1"],
        cwd=tmp_path, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    names = sorted(path.name for path in tmp_path.glob("solutions/*/*"))
    assert len(list(tmp_path.glob("solutions/*/*.json"))) == 5, names
    said = done.stderr.partition("What follows is refused.\n")[2].splitlines()
    needs = [
        *(("train", f"specahd {command}") for command in ("train", "track", "select")),
        *(("plot", "specahd report"), ("train", "specahd fetch"), ("plot", "A picture")),
        *(("train", "PyVRP"), ("train", "Training"), ("plot", "A picture")),
    ]
    assert [line for line in said if not line.startswith("baseline ")] == [
        f"{what} needs the packages of specahd[{extra}]: pip install 'specahd[{extra}]'."
        for extra, what in needs
    ]
    assert not (tmp_path / "run").exists()
    assert not (tmp_path / "runs").exists()


def test_one_missing_package_of_an_extra_is_enough(monkeypatch):
    extras.require("train", "Training")
    needs = [*requires("specahd"), "is-nowhere<2,>=1; extra == 'train'"]
    monkeypatch.setattr(extras, "requires", lambda name: needs)
    extras.require("plot", "A picture")
    with pytest.raises(ConfigError, match=r"^Training needs .*: pip install 'specahd\[train\]'\.$"):
        extras.require("train", "Training")


def test_sweepers_are_told_of_before_anything_begins(monkeypatch):
    assert with_sweeper(["-m", "seed=0,1"]) == ["-m", "seed=0,1"]
    monkeypatch.setattr(extras, "requires", lambda name: ["is-nowhere<2,>=1; extra == 'optuna'"])
    with pytest.raises(ConfigError, match=r"^hydra/sweeper=optuna needs .*'specahd\[optuna\]'\.$"):
        with_sweeper(["-m", "hydra/sweeper=optuna"])
