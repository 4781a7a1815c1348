"""What the MLflow UI shows of the runs: columns and charts as a saved view, and its address.

The UI keeps the saved views of an experiment in its tags, and lists them under *Views* on the
runs page; ``viewStateShareKey`` in the address opens one. The server's own address opens a
page on which no run is.
"""

import json
import time
from typing import Any

KEY = "trainings"
TAG = f"mlflow.sharedViewState.{KEY}"
PERCENT = "percent"
"""Of a pool, the metric that is the mean improvement in percent, to hundredths."""
STORE = "sqlite:///mlruns/mlflow.db"
"""The store that ``make ui`` serves."""

_LOCAL = "http://127.0.0.1:5000"
# Selection first: it alone may choose among trainings.
_RESULTS = (f"selection/{PERCENT}", f"validation/{PERCENT}")
_CURVES = ("lower/best", "upper/best")
_SECTION = "results"
# Names of usual length are not cut, and a page of 1600 shows all columns.
_PIXELS = {
    "attributes.`Run Name`": 250,
    "params.`problem`": 80,
    "params.`budget`": 75,
    "params.`method`": 85,
    "params.`llm`": 80,
    "params.`seed`": 60,
    **{f"metrics.`{name}`": 155 for name in _RESULTS},
    # Which stage of the pipeline made a run; nothing if a user did.
    "tags.`dvc.stage`": 125,
}


def address(store: str, experiment: str) -> str:
    """Return where the runs of an experiment can be looked at.

    Parameters
    ----------
    store
        The tracking store: a server's address; or any other, which a server on this machine
        shows.
    experiment
        Its id; 1 if it was the first in a store that specahd made.
    """
    server = store.rstrip("/") if store.startswith("http") else _LOCAL
    return (
        f"{server}/#/experiments/{experiment}/runs"
        f"?workflowType=machine_learning&viewStateShareKey={KEY}"
    )


def directions(store: str, experiment: str) -> str:
    """Return one line on how to look at the runs of an experiment."""
    if store.startswith("http"):
        begin = ""
    elif store == STORE:
        begin = "make ui, then "
    else:
        begin = f"mlflow server --backend-store-uri {store}, then "
    return f"MLflow UI:  {begin}{address(store, experiment)}"


def saved_view() -> str:
    """Return the value of the tag :data:`TAG`."""
    columns = list(_PIXELS)
    state = {
        # Trainings alone: in order of creation the UI would fold them into their sweeps.
        "searchFilter": "tags.kind = 'training'",
        "orderByKey": f"metrics.`{_RESULTS[0]}`",
        "orderByAsc": False,
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
