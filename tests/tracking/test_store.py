"""A store is made whole or not at all."""

import subprocess
import sys
import time

from mlflow import MlflowClient

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
