"""``python -m specahd.evaluate``: repair instances with a frozen checkpoint.

The checkpoint is a directory or one in the MLflow store: ``models:/specahd-cvrp@champion``. The
instances are those of a generated pool, of a public set, or of files and folders. The evaluation
directory (``hydra.run.dir``) receives ``rows.jsonl`` and other files (docs/reference/files.md),
instance by instance. The same command with the same directory resumes an interrupted evaluation.
Equal evaluations give equal files, except for the seconds. ``study=routing`` also replays the whole
repertoire on every exposed region. The archive is not changed, and no language model is needed.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from omegaconf import DictConfig, OmegaConf

from specahd.api.checkpoints import LoadedCheckpoint, load
from specahd.api.evaluation import Evaluation
from specahd.api.evaluation import evaluate as evaluate_checkpoint
from specahd.api.instance_files import instance_files, public_set
from specahd.api.own_pools import pool_folder, read_pool
from specahd.api.problems import Source
from specahd.config.cli import remembered_folders, resumable, run_command, run_directory
from specahd.config.files import search_folders
from specahd.config.schemas import EvaluateConfig
from specahd.config.targets import check_targets, instantiate_group
from specahd.repair.execution import Execution
from specahd.tracking.observers import ProgressObserver
from specahd.tracking.registry import fetched_checkpoint
from specahd.tracking.tables import cheaper_references, print_study, print_summaries


def evaluate(config: DictConfig) -> None:
    """Evaluate one checkpoint on a pool, a public set, or files."""
    progress = ProgressObserver()
    options: EvaluateConfig = OmegaConf.to_object(config)  # type: ignore[assignment]  # its schema
    check_targets(config.tracking, "tracking")
    executor = instantiate_group(config.executor, "executor")
    execution = Execution(executor, options.limits, require=options.sandbox.require)
    with fetched_checkpoint(config.checkpoint, config.tracking.get("uri")) as place:
        search_folders(remembered_folders(Path(place)))
        loaded = load(place, baseline=config.baseline, execution=execution, observer=progress)
    title = _title(options)
    with resumable():
        evaluation = evaluate_checkpoint(
            loaded,
            _instances(options, loaded),
            incumbent=config.incumbent,
            accept=config.accept,
            passes=config.passes,
            tries=config.tries,
            study=config.study,
            out=run_directory(),
            baselines=config.baselines,
            title=title,
            observer=progress,
        )
    print_summaries(
        [evaluation.summary],
        f"{loaded.problem.name}: {evaluation.summary.baseline}, repaired by {config.checkpoint}",
        [
            *_gap(evaluation),
            *cheaper_references(evaluation.summary),
            f"{_passes(evaluation)} took {evaluation.seconds:.3f} s per instance on average, "
            "compilation left out",
            f"rows: {run_directory()}",
        ],
    )
    if evaluation.study is not None:
        print_study(evaluation.study, f"{evaluation.study.regions} regions of {title}")


def _gap(evaluation: Evaluation) -> list[str]:
    """Return the mean gap to best known values in words, if there are any."""
    gaps = evaluation.gaps
    if not gaps:
        return []
    where = f"{len(gaps)} of {len(evaluation.rows)} instances"
    return [f"{fmean(gaps):+.2%} to the best known values on average, on {where}"]


def _passes(evaluation: Evaluation) -> str:
    """Return the number of passes over each instance, in words."""
    counts = {row.get("passes", 1) for row in evaluation.rows}
    if counts == {1}:
        return "one pass"
    return f"{min(counts)} to {max(counts)} passes" if len(counts) > 1 else f"{min(counts)} passes"


def _title(options: EvaluateConfig) -> str:
    """Return a title for the instances."""
    if options.pool is not None and options.pools.files is not None:
        return f"{options.pool} of {', '.join(options.pools.places)}"
    if options.pool is not None or options.set is not None:
        return str(options.pool or options.set)
    names = [Path(one).name for one in options.instances]
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _instances(options: EvaluateConfig, loaded: LoadedCheckpoint) -> Sequence[Source]:
    if options.pool is not None:
        folder = pool_folder(loaded.problem, options.pools)
        return read_pool(loaded.problem, options.pool, folder, count=options.count)
    if options.set is not None:
        return public_set(loaded.problem, options.set, Path(options.public))
    return instance_files(loaded.problem, options.instances)


def main() -> int:
    """Run the command; return its exit status."""
    return run_command(evaluate, "evaluate")


if __name__ == "__main__":
    sys.exit(main())
