"""A store is made whole or not at all, and its UI shows the runs; test_ui.py has a browser."""

import json
import re
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from mlflow import MlflowClient
from omegaconf import OmegaConf

import copied_stores
from specahd.config import CONF_DIR
from specahd.tracking.store import (
    ARTIFACTS,
    EXPERIMENT,
    PORT,
    URI,
    VIEW,
    VIEW_TAG,
    Store,
    ui_address,
)
from specahd.tracking.ui import main, prepare_store
from specahd.tracking.upload import SyncCursor, run_directions

ROOT = Path(__file__).parent.parent.parent

OPEN = """
from pathlib import Path
from specahd.tracking.store import Store
Store("sqlite:///m/mlflow.db", Path("m/artifacts"), "trial").connect()
"""


@pytest.mark.integration
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


@pytest.mark.integration
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


def test_an_experiment_gets_the_view_once_and_keeps_what_its_user_made_of_it(tmp_path):
    store = Store(f"sqlite:///{tmp_path / 'mlflow.db'}", tmp_path / "artifacts", "specahd")
    client, experiment = store.connect()
    envelope = json.loads(client.get_experiment(experiment).tags[VIEW_TAG])
    assert envelope["name"] == VIEW
    state = json.loads(envelope["state"])
    columns = state["selectedColumns"]
    assert "improvement_percent/selection" in columns[1]
    assert state["orderByKey"] == columns[1]
    groups = [key["groupByData"] for key in state["groupBy"]["groupByKeys"]]
    assert groups == ["problem", "problem.repair"]
    # The UI passes over the width of a column that has no place in the order.
    assert state["columnWidths"].keys() == set(state["columnOrder"])
    assert {chart["metricSectionId"] for chart in state["compareRunCharts"]} == {
        section["uuid"] for section in state["compareRunSections"]
    }
    client.set_experiment_tag(experiment, VIEW_TAG, "mine")
    store.connect()
    assert client.get_experiment(experiment).tags[VIEW_TAG] == "mine"
    # As an experiment of an earlier version is.
    client.delete_experiment_tag(experiment, VIEW_TAG)
    store.connect()
    assert VIEW_TAG in client.get_experiment(experiment).tags


@pytest.mark.parametrize("name", ["tutorials/first-run", "how-to/look-at-runs", "how-to/scale"])
def test_what_we_print_leads_to_the_runs(name):
    text = (ROOT / "docs" / f"{name}.md").read_text()
    found = re.findall(r"http://127\.0\.0\.1:5000[^\s\"|)`]*", text)
    assert set(found) == {ui_address(URI, "1")}


def test_the_store_of_the_configuration_is_the_one_that_make_ui_serves():
    conf = OmegaConf.load(CONF_DIR / "tracking" / "mlflow.yaml")
    served = (URI, ARTIFACTS, EXPERIMENT)
    assert (conf.uri, conf.artifacts, conf.experiment) == served
    # Not ?=, since a variable of the environment would make the printed address wrong.
    assert f"\nPORT = {PORT}\n" in (ROOT / "Makefile").read_text()


def test_a_server_without_a_store_makes_one_and_says_that_no_run_is_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = ui_address(URI, "1", 5001)
    assert "127.0.0.1:5001/#/experiments/1/runs?" in place
    said = prepare_store(5001)
    assert "no run in mlruns" in said
    assert said.endswith(f"\n{place}\n")
    assert prepare_store(5001) == f"{place}\n"
    store = Store(URI, ARTIFACTS, EXPERIMENT)
    assert store.connect()[1] == "1"


def refusal(capsys, port):
    """Return the one sentence with which the command refuses a port."""
    assert main([str(port)]) == 2
    output, errors = capsys.readouterr()
    assert output == ""
    [sentence] = errors.splitlines()
    return sentence


def test_a_store_that_cannot_be_made_is_one_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mlruns").write_text("a file where the folder should be")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert "mlruns/mlflow.db" in refusal(capsys, port)


def test_a_port_that_is_taken_is_refused_before_the_server_starts(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = refusal(capsys, port)
    assert f"Port {port} " in said
    assert f"make ui PORT={port + 1 if port < 65535 else 5000}." in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("port", ["", "0", "x", "-1", "65536", "005000123", "5 000", "٥٠٠٠"])
def test_what_is_no_port_is_refused(port, capsys):
    assert f"PORT from 1 to 65535, got {port!r}" in refusal(capsys, port)


@pytest.mark.parametrize(
    ("store", "line"),
    [
        (URI, "MLflow UI:  make ui, then http://127.0.0.1:5000/#/experiments/7/runs?"),
        ("http://host:80/", "MLflow UI:  http://host:80/#/experiments/7/runs?"),
        ("sqlite:///x.db", "MLflow UI:  mlflow server --backend-store-uri sqlite:///x.db, then "),
    ],
)
def test_a_run_is_said_to_be_where_it_is(tmp_path, store, line):
    assert run_directions(tmp_path) == ""
    mark = SyncCursor("0" * 32, store, "specahd", "7")
    mark.write(tmp_path)
    assert run_directions(tmp_path).startswith(line)
    assert run_directions(tmp_path).endswith(f"viewStateShareKey={VIEW}")


def test_a_mark_of_an_earlier_version_is_used_and_leads_nowhere(tmp_path):
    earlier = {"key": "0" * 32, "store": "x", "experiment": "e", "run_id": "1", "records": 3}
    (tmp_path / "mlflow.json").write_text(json.dumps(earlier))
    assert SyncCursor.read(tmp_path) == SyncCursor(**earlier)
    assert run_directions(tmp_path) == ""
