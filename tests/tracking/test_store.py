"""A store is made whole or not at all."""

import re
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest
from mlflow import MlflowClient

import copied_stores

pytestmark = pytest.mark.integration

OPEN = """
from pathlib import Path
from specahd.tracking.store import Store
Store("sqlite:///m/mlflow.db", Path("m/artifacts"), "trial").connect()
"""


def test_a_store_whose_maker_was_killed_is_made_by_the_next(tmp_path):
    command = [sys.executable, "-c", OPEN]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
    draft = tmp_path / "m" / ".mlflow.db.draft"
    until = time.monotonic() + 120
    # Once tables are there, and long before the last migration.
    while not draft.exists() or draft.stat().st_size < 100_000:
        assert time.monotonic() < until
        assert process.poll() is None
        time.sleep(0.002)
    process.kill()
    process.wait()
    assert not (tmp_path / "m" / "mlflow.db").exists()
    subprocess.run(command, cwd=tmp_path, stderr=subprocess.DEVNULL, check=True)
    client = MlflowClient(f"sqlite:///{tmp_path}/m/mlflow.db")
    assert client.get_experiment_by_name("trial") is not None
    left = sorted(path.name for path in (tmp_path / "m").iterdir())
    assert not [name for name in left if "draft" in name]


def test_the_stores_of_most_tests_hold_what_the_maker_leaves(tmp_path):
    made, copied = tmp_path / "made.db", tmp_path / "copied.db"
    copied_stores._make(made, "file:///artifacts")
    copied_stores._copy(copied, "file:///artifacts")
    assert rows(copied) == rows(made) != []


def rows(database):
    """Return the rows of all tables, without times; how MLflow orders constraints varies."""
    with closing(sqlite3.connect(database)) as connection:
        lines = [line for line in connection.iterdump() if line.startswith("INSERT")]
    return sorted(re.sub(r"\b\d{13}\b", "TIME", line) for line in lines)
