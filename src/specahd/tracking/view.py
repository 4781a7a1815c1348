"""What the MLflow UI shows of the runs: columns and charts, as a saved view.

The UI keeps the saved views of an experiment in its tags, and lists them under
*Views* on the runs page; ``viewStateShareKey=specahd`` in the address opens this one.
"""

import json
import time
from typing import Any

KEY = "specahd"
TAG = f"mlflow.sharedViewState.{KEY}"

_PARAMETERS = ("problem", "method", "llm", "seed")
_RESULTS = ("validation/improvement", "selection/improvement")
_CURVES = ("lower/best", "upper/best")
_SECTION = "results"
_COLUMN_PIXELS = 180


def saved_view() -> str:
    """Return the value of the tag :data:`TAG`."""
    results = [f"metrics.`{name}`" for name in _RESULTS]
    columns = [f"params.`{name}`" for name in _PARAMETERS] + results
    state = {
        # Trainings alone: in order of creation the UI would fold them into their sweeps.
        "searchFilter": "tags.kind = 'training'",
        "orderByKey": results[1],
        "orderByAsc": False,
        "selectedColumns": columns,
        "columnOrder": columns,
        "columnWidths": dict.fromkeys(results, _COLUMN_PIXELS),
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
