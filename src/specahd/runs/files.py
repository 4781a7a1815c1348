"""The files of a run directory; those of its evaluations are in :mod:`specahd.evaluation.files`."""

from pathlib import Path

from specahd.evaluation.files import rows_file

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
TRAINING_TIMINGS = "training-timings.json"
"""The CPU seconds of a training that no other process went on with."""
CURSOR = "mlflow.json"
"""Progress of the upload of the directory to MLflow."""
CHECKPOINT = "checkpoint"
"""The directory of the checkpoint."""
SWEEP = "sweep.json"
"""Id of a sweep's run in MLflow. The file is in the directory above, if that is a sweep's."""
POOLS = ("selection", "validation")
"""The pools on which a finished run's checkpoint is evaluated."""


def unfinished_run(checkpoint: Path) -> Path | None:
    """Return the run that froze a checkpoint and may replace it; None if that run has ended."""
    run = checkpoint.resolve().parent
    ended = not (run / JOURNAL).is_file() or (run / rows_file("validation")).is_file()
    return None if ended else run
