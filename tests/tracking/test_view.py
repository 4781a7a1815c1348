"""The saved view that an experiment gets; test_ui.py looks at it in a browser."""

import json
import re
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from specahd.config import CONF_DIR
from specahd.tracking import view
from specahd.tracking.store import Store
from specahd.tracking.upload import SyncCursor, whereabouts

ROOT = Path(__file__).parent.parent.parent


def test_an_experiment_gets_the_view_once_and_keeps_what_its_user_made_of_it(tmp_path):
    store = Store(f"sqlite:///{tmp_path / 'mlflow.db'}", tmp_path / "artifacts", "specahd")
    client, experiment = store.connect()
    envelope = json.loads(client.get_experiment(experiment).tags[view.TAG])
    assert envelope["name"] == view.KEY
    state = json.loads(envelope["state"])
    columns = state["selectedColumns"]
    assert {"params.`seed`", "params.`budget`", "tags.`dvc.stage`"} <= set(columns)
    results = [name for name in columns if name.startswith("metrics.")]
    assert results == ["metrics.`selection/percent`", "metrics.`validation/percent`"]
    assert state["orderByKey"] == results[0]
    # The UI passes over the width of a column that has no place in the order.
    assert state["columnWidths"].keys() == set(state["columnOrder"])
    assert {chart["metricSectionId"] for chart in state["compareRunCharts"]} == {
        section["uuid"] for section in state["compareRunSections"]
    }
    client.set_experiment_tag(experiment, view.TAG, "mine")
    store.connect()
    assert client.get_experiment(experiment).tags[view.TAG] == "mine"


def test_an_older_experiment_gets_it_too(tmp_path):
    store = Store(f"sqlite:///{tmp_path / 'mlflow.db'}", tmp_path / "artifacts", "specahd")
    client, experiment = store.connect()
    client.delete_experiment_tag(experiment, view.TAG)
    store.connect()
    assert view.TAG in client.get_experiment(experiment).tags


@pytest.mark.parametrize(
    "name", ["README.md", "Makefile", *(f"docs/{n}.md" for n in ("ui", "scale"))]
)
def test_what_we_print_leads_to_the_runs(name):
    found = re.findall(r"http://127\.0\.0\.1:5000[^\s\"|)`]*", (ROOT / name).read_text())
    assert set(found) == {view.address(view.STORE, "1")}


def test_the_store_of_the_configuration_is_the_one_that_make_ui_serves():
    assert OmegaConf.load(CONF_DIR / "tracking" / "mlflow.yaml").uri == view.STORE
    assert view.STORE in (ROOT / "Makefile").read_text()


@pytest.mark.parametrize(
    ("store", "line"),
    [
        (view.STORE, "MLflow UI:  make ui, then http://127.0.0.1:5000/#/experiments/7/runs?"),
        ("http://host:80/", "MLflow UI:  http://host:80/#/experiments/7/runs?"),
        ("sqlite:///x.db", "MLflow UI:  mlflow server --backend-store-uri sqlite:///x.db, then "),
    ],
)
def test_a_run_is_said_to_be_where_it_is(tmp_path, store, line):
    assert whereabouts(tmp_path) == ""
    mark = SyncCursor("0" * 32, store, "specahd", "7")
    mark.write(tmp_path)
    assert whereabouts(tmp_path).startswith(line)
    assert whereabouts(tmp_path).endswith(f"viewStateShareKey={view.KEY}")


def test_a_mark_of_an_earlier_version_is_used_and_leads_nowhere(tmp_path):
    earlier = {"key": "0" * 32, "store": "x", "experiment": "e", "run_id": "1", "records": 3}
    (tmp_path / "mlflow.json").write_text(json.dumps(earlier))
    assert SyncCursor.read(tmp_path) == SyncCursor(**earlier)
    assert whereabouts(tmp_path) == ""
