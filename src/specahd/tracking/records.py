"""What the files of a run directory must hold before any of it is brought into MLflow."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from specahd.core import journal
from specahd.core.plain import NAME, Shape
from specahd.core.program import Level, Outcome

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
        ("journal.jsonl", _of_journal),
        ("responses.jsonl", _of_responses),
        ("wal.jsonl", {"sample": NAME, "prompt_tokens": int, "completion_tokens": int}),
        ("timings.jsonl", _of_timings),
        ("prompts.jsonl", {"sample": NAME, "prompt": str}),
        ("selection.jsonl", row_shape),
        ("validation.jsonl", row_shape),
        ("routes.json", _ROUTES),
    ):
        for _ in journal.read(directory / name, shape):
            pass


def row_shape(record: Mapping[str, Any]) -> Shape:
    """Return what a row of a pool must be; of a failed instance only that it failed."""
    measures = ("improvement", "baseline_cost", "cost") if record.get("status") == "ok" else ()
    return {"status": str, **dict.fromkeys(measures, float)}


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
