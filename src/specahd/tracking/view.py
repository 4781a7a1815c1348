"""The saved view of the MLflow UI (columns and charts), and its address.

The UI stores the saved views of an experiment in its tags, and lists them under *Views* on the
runs page; ``viewStateShareKey`` in the address opens one. The server's own address opens a
page without runs. An address without ``workflowType`` opens the UI's pages for chats.
"""

import json
import time
from typing import Any

from specahd.runs.files import POOLS

KEY = "by-problem"
TAG = f"mlflow.sharedViewState.{KEY}"
STORE = "sqlite:///mlruns/mlflow.db"
"""The store that ``make ui`` serves."""
PORT = 5000
"""The port of ``make ui``."""

_WORKFLOW = "?workflowType=machine_learning"


def percent_metric(pool: str) -> str:
    """Return the name of the metric with a pool's mean improvement in percent, to hundredths."""
    return f"improvement_percent/{pool}"


# Selection first: trainings may be selected by this pool only.
_RESULTS = tuple(percent_metric(pool) for pool in POOLS)
_CURVES = ("lower/best", "upper/best")
_SECTION = "results"
# An improvement has no meaning without these parameters.
_TASK = ("problem", "problem.repair")
# Widths: usual names are not cut, and a page of 1600 pixels shows the columns up to the status.
_PIXELS = {
    "attributes.`Run Name`": 340,
    **{f"metrics.`{name}`": 205 for name in _RESULTS},
    "params.`problem.repair`": 110,
    "params.`problem.baseline`": 120,
    "params.`budget`": 65,
    "tags.`status`": 90,
    "tags.`sweep`": 190,
    "params.`method`": 85,
    "params.`llm`": 80,
    "params.`seed`": 60,
    # Stage of the pipeline that made the run; empty if a user started it.
    "tags.`dvc.stage`": 125,
}


def ui_address(store: str, experiment: str, port: int = PORT) -> str:
    """Return the address of the runs of an experiment in the UI.

    Parameters
    ----------
    store
        The tracking store: the address of a server, or any other store, which a server on this
        machine shows.
    experiment
        Id of the experiment; 1 if it was the first in a store that specahd created.
    port
        The port of the server on this machine.
    """
    server = store.rstrip("/") if store.startswith("http") else f"http://127.0.0.1:{port}"
    return f"{server}/#/experiments/{experiment}/runs{_WORKFLOW}&viewStateShareKey={KEY}"


def run_link(experiment: str, run_id: str, name: str) -> str:
    """Return a link to the page of a run, for notes of other runs; it contains no server."""
    return f"[{name}](#/experiments/{experiment}/runs/{run_id}{_WORKFLOW})"


def artifact_link(experiment: str, run_id: str, path: str, name: str) -> str:
    """Return a link to the UI's page of a run's file, for the note of the run."""
    return f"[{name}](#/experiments/{experiment}/runs/{run_id}/artifacts/{path})"


def ui_directions(store: str, experiment: str) -> str:
    """Return one line on how to see the runs of an experiment."""
    if store.startswith("http"):
        begin = ""
    elif store == STORE:
        begin = "make ui, then "
    else:
        begin = f"mlflow server --backend-store-uri {store}, then "
    return f"MLflow UI:  {begin}{ui_address(store, experiment)}"


def saved_view() -> str:
    """Return the value of the tag :data:`TAG`."""
    columns = list(_PIXELS)
    state = {
        # Only trainings; sorted by creation the UI would fold them into their sweeps.
        "searchFilter": "tags.kind = 'training'",
        "orderByKey": f"metrics.`{_RESULTS[0]}`",
        "orderByAsc": False,
        "groupBy": {
            "aggregateFunction": "max",
            "groupByKeys": [{"mode": "param", "groupByData": name} for name in _TASK],
        },
        # Charts compare single runs.
        "useGroupedValuesInCharts": False,
        "selectedColumns": columns,
        "columnOrder": columns,
        "columnWidths": _PIXELS,
        "isAccordionReordered": True,  # else sections are sorted by name
        "compareRunSections": [
            {
                "uuid": _SECTION,
                "name": _SECTION,
                "display": True,
                "isReordered": True,
                "deleted": False,
                "isGenerated": False,
            }
        ],
        "compareRunCharts": [
            *(_chart("BAR", name) for name in _RESULTS),
            *(
                _chart("LINE", name, selectedMetricKeys=[name], lineSmoothness=0)
                for name in _CURVES
            ),
        ],
    }
    milliseconds = time.time_ns() // 1_000_000
    return json.dumps({"name": KEY, "createdAt": milliseconds, "state": json.dumps(state)})


def _chart(kind: str, metric: str, **more: Any) -> dict[str, Any]:
    return {
        "uuid": f"{_SECTION}-{metric}",
        "type": kind,
        "metricKey": metric,
        "metricSectionId": _SECTION,
        "runsCountToCompare": 20,
        "deleted": False,
        "isGenerated": False,
        **more,
    }
