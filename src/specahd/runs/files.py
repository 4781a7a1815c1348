"""The files of a run directory, and atomic writes of them."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from specahd.core.folders import write_atomically
from specahd.core.journal import Record, dumps

CONFIG = "config.yaml"
"""The configuration, without secrets."""
JOURNAL = "journal.jsonl"
"""One record per sample in index order; equal runs write equal bytes."""
RESPONSES = "responses.jsonl"
"""Score vectors, and the tasks of each round."""
REPLIES = "wal.jsonl"
"""Replies in order of arrival, written to disk before they have any effect."""
TIMINGS = "timings.jsonl"
"""Times at which samples were committed, and their durations."""
PROMPTS = "prompts.jsonl"
"""The prompts as they were sent; what those of a level have in common stands in its first."""
SANDBOX = "sandbox.json"
"""The layers of the sandbox on this host."""
MACHINE = "machine.json"
"""Machine, versions and commit."""
CURSOR = "mlflow.json"
"""Progress of the upload of the directory to MLflow."""
ROUTES = "routes.json"
"""One validation instance before and after repair."""
EVALUATION = "evaluation.json"
"""Settings that determine the rows of an evaluation, besides its instances."""
STUDY = "study.jsonl"
"""Results of every member of a repertoire on every region, and those of a routing study."""
CHECKPOINT = "checkpoint"
"""The directory of the checkpoint."""
SWEEP = "sweep.json"
"""Id of a sweep's run in MLflow. The file is in the directory above, if that is a sweep's."""
POOLS = ("selection", "validation")
"""The pools on which a finished run's checkpoint is evaluated."""


def rows_file(pool: str) -> str:
    """Return the name of the file with a pool's rows."""
    return f"{pool}.jsonl"


def row_timings_file(pool: str) -> str:
    """Return the name of the file with the seconds of a pool's rows."""
    return f"{pool}-timings.jsonl"


def row_steps_file(pool: str) -> str:
    """Return the name of the file with the descriptors and estimates of a pool's steps."""
    return f"{pool}-steps.jsonl"


def unfinished_run(checkpoint: Path) -> Path | None:
    """Return the run that froze a checkpoint and may replace it; None if that run has ended."""
    run = checkpoint.resolve().parent
    ended = not (run / JOURNAL).is_file() or (run / rows_file("validation")).is_file()
    return None if ended else run


def write_json(path: Path, values: Mapping[str, Any]) -> None:
    """Write a JSON file, the same bytes for the same values.

    Raises
    ------
    WriteError
        The disk is full or read-only.
    """
    write_atomically(path, json.dumps(values, indent=2, sort_keys=True) + "\n")


def write_records(path: Path, records: Iterable[Record]) -> None:
    """Write a file of records, one per line.

    Raises
    ------
    WriteError
        The disk is full or read-only.
    """
    write_atomically(path, "".join(f"{dumps(record)}\n" for record in records))
