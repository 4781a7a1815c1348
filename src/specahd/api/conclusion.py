"""The closing lines of a training, below its table."""

from specahd.api.plans import Training
from specahd.core.folders import display_path
from specahd.tracking.upload import run_directions


def describe_end(run: Training) -> list[str]:
    """Return the last lines of a training: why it ended early, its price, the next commands."""
    target = display_path(run.checkpoint)
    lines = []
    if run.stopped is not None:
        bound = run.stopped.partition("=")[0]
        command = f"python -m specahd.train resume={display_path(run.directory)} {bound}=…"
        lines += [f"ended early: {run.stopped}", f"go on with: {command}"]
    if run.spent.bill:
        lines.append(f"paid:       {run.spent.bill}")
    return [
        *lines,
        "selection chose the checkpoint; validation was never seen.",
        f"checkpoint: {target}",
        f"evaluate:   python -m specahd.evaluate checkpoint={target} pool=validation",
        *filter(None, [run_directions(run.directory)]),
    ]
