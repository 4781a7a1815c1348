"""``python -m specahd.evaluate``: repair instances with a frozen checkpoint.

The checkpoint is a directory, or lies in the MLflow store: ``models:/specahd-cvrp@champion``.
The evaluation directory (``hydra.run.dir``) receives ``rows.jsonl`` (one row per
instance; equal evaluations are equal under ``cmp``), ``rows-timings.jsonl``,
``sandbox.json`` (what confined the programs on this host) and one ``.sol`` file per
instance. ``study=routing`` also replays the whole repertoire on every exposed region
and stores the signed costs in ``study.jsonl``. Nothing writes to the archive, and no
language model is needed.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from omegaconf import DictConfig, OmegaConf

from specahd.api.checkpoints import LoadedCheckpoint, load
from specahd.api.evaluation import Evaluation
from specahd.api.evaluation import evaluate as evaluate_checkpoint
from specahd.api.problems import Source, read_pool
from specahd.config.cli import run_command, run_directory
from specahd.config.schemas import EvaluateConfig
from specahd.config.targets import instantiate_group
from specahd.repair.execution import Execution
from specahd.tracking.observers import ProgressObserver
from specahd.tracking.registry import fetched_checkpoint
from specahd.tracking.tables import cheaper_references, print_policies, print_summaries


def evaluate(config: DictConfig) -> None:
    """Evaluate one checkpoint on a pool or on one file; its files appear together at the end."""
    progress = ProgressObserver()
    title = config.pool or Path(config.instance).name
    options: EvaluateConfig = OmegaConf.to_object(config)  # type: ignore[assignment]  # of its schema
    executor = instantiate_group(config.executor, "executor")
    execution = Execution(executor, options.limits, require=options.sandbox.require)
    with fetched_checkpoint(config.checkpoint, config.tracking.get("uri")) as place:
        loaded = load(place, baseline=config.baseline, execution=execution, observer=progress)
    evaluation = evaluate_checkpoint(
        loaded,
        _instances(config, loaded),
        incumbent=config.incumbent,
        accept=config.accept,
        passes=config.passes,
        tries=config.tries,
        study=config.study,
        out=run_directory(),
        title=title,
        observer=progress,
    )
    print_summaries(
        [evaluation.summary],
        f"{loaded.problem.name}: {evaluation.summary.baseline}, repaired by {config.checkpoint}",
        [
            *cheaper_references(evaluation.summary),
            f"{_passes(evaluation)} took {evaluation.seconds:.3f} s per instance on average, "
            "compilation left out",
            f"rows: {run_directory()}",
        ],
    )
    if evaluation.policies:
        print_policies(
            evaluation.policies, f"routing on {len(evaluation.tasks)} regions of {title}"
        )


def _passes(evaluation: Evaluation) -> str:
    """Return how many passes were made over each instance."""
    made = {solution.repair.passes for solution in evaluation.solutions}
    if made == {1}:
        return "one pass"
    return f"{min(made)} to {max(made)} passes" if len(made) > 1 else f"{min(made)} passes"


def _instances(config: DictConfig, loaded: LoadedCheckpoint) -> Sequence[Source]:
    if config.instance is not None:
        return [config.instance]
    return read_pool(loaded.problem, config.pool, config.pools.dir, config.pools.seed)


def main() -> int:
    """Run the command; return its exit status."""
    return run_command(evaluate, "evaluate")


if __name__ == "__main__":
    sys.exit(main())
