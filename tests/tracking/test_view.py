"""The saved view that an experiment gets; test_ui.py looks at it in a browser."""

import json
import re
import socket
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from specahd.config import CONF_DIR
from specahd.tracking import store as ui
from specahd.tracking.store import Store
from specahd.tracking.upload import SyncCursor, run_directions

ROOT = Path(__file__).parent.parent.parent


def test_an_experiment_gets_the_view_once_and_keeps_what_its_user_made_of_it(tmp_path):
    store = Store(f"sqlite:///{tmp_path / 'mlflow.db'}", tmp_path / "artifacts", "specahd")
    client, experiment = store.connect()
    envelope = json.loads(client.get_experiment(experiment).tags[ui.VIEW_TAG])
    assert envelope["name"] == ui.VIEW
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
    client.set_experiment_tag(experiment, ui.VIEW_TAG, "mine")
    store.connect()
    assert client.get_experiment(experiment).tags[ui.VIEW_TAG] == "mine"
    # As an experiment of an earlier version is.
    client.delete_experiment_tag(experiment, ui.VIEW_TAG)
    store.connect()
    assert ui.VIEW_TAG in client.get_experiment(experiment).tags


@pytest.mark.parametrize("name", ["tutorials/first-run", "how-to/look-at-runs", "how-to/scale"])
def test_what_we_print_leads_to_the_runs(name):
    text = (ROOT / "docs" / f"{name}.md").read_text()
    found = re.findall(r"http://127\.0\.0\.1:5000[^\s\"|)`]*", text)
    assert set(found) == {ui.ui_address(ui.URI, "1")}


def test_the_store_of_the_configuration_is_the_one_that_make_ui_serves():
    conf = OmegaConf.load(CONF_DIR / "tracking" / "mlflow.yaml")
    served = (ui.URI, ui.ARTIFACTS, ui.EXPERIMENT)
    assert (conf.uri, conf.artifacts, conf.experiment) == served
    # Not ?=, since a variable of the environment would make the printed address wrong.
    assert f"\nPORT = {ui.PORT}\n" in (ROOT / "Makefile").read_text()


def test_a_server_without_a_store_makes_one_and_says_that_no_run_is_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = ui.ui_address(ui.URI, "1", 5001)
    assert "127.0.0.1:5001/#/experiments/1/runs?" in place
    said = ui.prepare_store(5001)
    assert "no run in mlruns" in said
    assert said.endswith(f"\n{place}\n")
    assert ui.prepare_store(5001) == f"{place}\n"
    store = Store(ui.URI, ui.ARTIFACTS, ui.EXPERIMENT)
    assert store.connect()[1] == "1"


def refusal(capsys, port):
    """Return the one sentence with which the command refuses a port."""
    assert ui.main([str(port)]) == 2
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
        (ui.URI, "MLflow UI:  make ui, then http://127.0.0.1:5000/#/experiments/7/runs?"),
        ("http://host:80/", "MLflow UI:  http://host:80/#/experiments/7/runs?"),
        ("sqlite:///x.db", "MLflow UI:  mlflow server --backend-store-uri sqlite:///x.db, then "),
    ],
)
def test_a_run_is_said_to_be_where_it_is(tmp_path, store, line):
    assert run_directions(tmp_path) == ""
    mark = SyncCursor("0" * 32, store, "specahd", "7")
    mark.write(tmp_path)
    assert run_directions(tmp_path).startswith(line)
    assert run_directions(tmp_path).endswith(f"viewStateShareKey={ui.VIEW}")


def test_a_mark_of_an_earlier_version_is_used_and_leads_nowhere(tmp_path):
    earlier = {"key": "0" * 32, "store": "x", "experiment": "e", "run_id": "1", "records": 3}
    (tmp_path / "mlflow.json").write_text(json.dumps(earlier))
    assert SyncCursor.read(tmp_path) == SyncCursor(**earlier)
    assert run_directions(tmp_path) == ""
