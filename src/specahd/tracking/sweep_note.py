"""The description of a sweep's run in MLflow: its progress, best jobs and resume command."""

import shlex
from pathlib import Path

from omegaconf import DictConfig

from specahd.core.services import without_password
from specahd.runs.files import POOLS
from specahd.tracking.sweep_results import Configuration, SweepResults
from specahd.tracking.upload import SyncCursor
from specahd.tracking.view import run_link

_CHOSEN = {"hydra.mode", "hydra.sweep.dir"}
"""Hydra's options that the resume command sets itself."""


def resume_command(config: DictConfig, directory: Path) -> str:
    """Return the command that resumes a sweep."""
    given = config.hydra.overrides
    options = [word for word in given.get("hydra") or () if word.partition("=")[0] not in _CHOSEN]
    place = f"hydra.sweep.dir={directory.resolve()}"
    words = ["python", "-m", "specahd.train", *options, "-m", *given.task, place]
    return without_password(shlex.join(words))


def write_sweep_note(results: SweepResults, jobs: int, experiment: str, command: str) -> str:
    """Return the description of a sweep, at its start or its end.

    Parameters
    ----------
    jobs
        The number of jobs, 0 if it is unknown.
    experiment
        The id of the experiment of the sweep's run.
    command
        The command that resumes the sweep.
    """
    counts = results.counts
    complete, known = counts["complete"], jobs or sum(counts.values())
    rest = [f"{count} {name}" for name, count in counts.items() if name != "complete" and count]
    summary = ", ".join([f"{complete} of {known} jobs complete", *rest])
    lines = [f"**{summary}**", ""]
    lines += [_configuration_line(each, results, experiment) for each in results.configurations()]
    if complete < known:
        lines += ["", "If it broke off, go on with", "", f"    {command}"]
    return "\n".join(lines) + "\n"


def format_improvement(configuration: Configuration, pool: str) -> str:
    """Format a configuration's mean improvement with its deviation, "-" if there is none."""
    name = f"{pool}/improvement"
    if name not in configuration.means:
        return "-"
    mean = f"{100 * configuration.means[name]:+.2f}%"
    spread = configuration.deviations.get(name)
    return mean if spread is None else f"{mean} ± {100 * spread:.2f}"


def _configuration_line(
    configuration: Configuration, results: SweepResults, experiment: str
) -> str:
    of = f"{configuration.complete}/{len(configuration.seeds)} complete, "
    text = f"- `{configuration.label}`: {of}" if configuration.label else "- "
    pools = ", ".join(f"{pool} {format_improvement(configuration, pool)}" for pool in POOLS)
    parts = []
    if configuration.best is not None:
        best = _job_link(configuration.best, results, experiment)
        parts += [f"improvement on {pools}", f"best on selection: {best}"]
    if configuration.partial:
        rest = (_job_link(name, results, experiment) for name in sorted(configuration.partial))
        parts.append(f"not complete: {', '.join(rest)}")
    return text + "; ".join(parts)


def _job_link(name: str, results: SweepResults, experiment: str) -> str:
    """Return a job's name, as a link if it has a run."""
    place = SyncCursor.read(results.directory / name)
    if place is None or not place.run_id:
        return f"`{name}`"
    return run_link(experiment, place.run_id, name)
