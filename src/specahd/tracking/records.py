"""What the files of a run directory must hold before any of it is brought into MLflow."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from specahd.core import journal
from specahd.core.plain import NAME, Shape
from specahd.core.program import Level, Outcome
from specahd.runs.files import (
    JOURNAL,
    POOLS,
    PROMPTS,
    REPLIES,
    RESPONSES,
    ROUTES,
    TIMINGS,
    rows_file,
)
from specahd.runs.rows import row_shape

_SAMPLE: Shape = {
    "sample": NAME,
    "level": Level,
    "round": int,
    "operator": str,
    "parents": [str],
    "outcome": Outcome,
    "detail": str,
    "score": float | None,
    "best": float | None,
    "idea": str | None,
    "source": str | None,
    "reply": str,
}
_ROUTES: Shape = {
    "instance": str,
    "coords": [[float]],
    "before": [[int]],
    "after": [[int]],
    "cost_before": float,
    "cost_after": float,
}


def check_records(directory: Path) -> None:
    """Read every record that is told to MLflow, and compare it with what a run writes.

    Raises
    ------
    FileError
        A line is something else.
    """
    for name, shape in (
        (JOURNAL, _of_journal),
        (RESPONSES, _of_responses),
        (REPLIES, {"sample": NAME, "prompt_tokens": int, "completion_tokens": int}),
        (TIMINGS, _of_timings),
        (PROMPTS, {"sample": NAME, "prompt": str}),
        *((rows_file(pool), row_shape) for pool in POOLS),
        (ROUTES, _ROUTES),
    ):
        for _ in journal.read(directory / name, shape):
            pass


def _of_journal(record: Mapping[str, Any]) -> Shape:
    if "record" not in record:
        return _SAMPLE
    return {"round": int, "upper": str} if record["record"] == "round" else {"record": str}


def _of_responses(record: Mapping[str, Any]) -> Shape:
    if "utilities" not in record:
        return {}
    who = "sample" if "sample" in record else "carried"
    return {who: NAME, "utilities": [float], "penalties": [float]}


def _of_timings(record: Mapping[str, Any]) -> Shape:
    return {"sample": NAME, **{name: float for name in ("at", "commit", "reply") if name in record}}
