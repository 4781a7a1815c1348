"""The saved view that an experiment gets; test_ui.py looks at it in a browser."""

import json

from specahd.tracking import view
from specahd.tracking.store import Store


def test_an_experiment_gets_the_view_once_and_keeps_what_its_user_made_of_it(tmp_path):
    store = Store(f"sqlite:///{tmp_path / 'mlflow.db'}", tmp_path / "artifacts", "specahd")
    client, experiment = store.connect()
    envelope = json.loads(client.get_experiment(experiment).tags[view.TAG])
    assert envelope["name"] == view.KEY
    state = json.loads(envelope["state"])
    assert "params.`seed`" in state["selectedColumns"]
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
