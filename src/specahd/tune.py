"""``python -m specahd.tune``: tune the constants of a program of a checkpoint; no model is asked.

The directory (``hydra.run.dir``) receives ``trials.jsonl``, ``tuning.json`` and, if the tuned
program is better on the selection pool, ``checkpoint/``. The same command with the same directory
goes on where it broke off.
"""

import sys
from statistics import fmean

from omegaconf import DictConfig, OmegaConf

from specahd.config.cli import resumable, run_command, run_directory
from specahd.config.process import write_lines
from specahd.config.schemas import TuneConfig
from specahd.config.targets import instantiate_group
from specahd.core.folders import display_path
from specahd.repair.execution import Execution
from specahd.reporting.document import format_percent
from specahd.tracking.observers import ProgressObserver


def tune(config: DictConfig) -> None:
    """Tune one program, and print what it gave."""
    from specahd.api.tuning import tune as tune_checkpoint

    options: TuneConfig = OmegaConf.to_object(config)  # type: ignore[assignment]  # its schema
    executor = instantiate_group(config.executor, "executor")
    with resumable():
        found = tune_checkpoint(
            options.checkpoint,
            options.program,
            options.evaluations,
            options.instances,
            options.seed,
            run_directory(),
            options.pools,
            execution=Execution(executor, options.limits, require=options.sandbox.require),
            observer=ProgressObserver(),
        )
    changed = [
        f"{before:g} to {after:g}"
        for before, after in zip(found.before, found.after, strict=True)
        if before != after
    ]
    lines = [
        f"{found.program}: {len(found.before)} constants, {found.evaluations} evaluations, "
        f"of which {found.stopped} ended early and {found.failed} failed"
    ]
    if found.checkpoint is None:
        lines.append("No proposal is better on the selection pool: nothing is written.")
    else:
        for pool in found.tuned:
            gain, error = found.gain(pool)
            shares = found.untuned[pool], found.tuned[pool]
            before, tuned = (format_percent(fmean(each)) for each in shares)
            lines.append(
                f"{pool} ({len(found.tuned[pool])}): {before} before, {tuned} tuned: "
                f"{100 * gain:+.2f} ± {100 * error:.2f} points"
            )
        gain, error = found.gain("validation")
        if gain < -error:
            lines.append("On validation the tuned program is worse: keep the one before.")
        elif gain < error:
            lines.append("On validation this is no more than chance: give it more instances.")
        target = display_path(found.checkpoint)
        lines += [
            f"constants:  {', '.join(changed)}",
            f"checkpoint: {target}",
            f"evaluate:   python -m specahd.evaluate checkpoint={target} pool=validation",
        ]
    write_lines(*lines)


def main() -> int:
    """Run the command; return its exit status."""
    return run_command(tune, "tune", extra="optuna")


if __name__ == "__main__":
    sys.exit(main())
