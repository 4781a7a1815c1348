"""``python -m specahd.track run=DIR``: upload a run directory to MLflow after the run.

The run may be finished or interrupted. Its files are logged as they would have been during
the run; entries that MLflow has already are not changed.
"""

import sys
from pathlib import Path

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig
from rich.console import Console
from rich.progress import Progress

from specahd.config.cli import run_command
from specahd.config.process import write_lines
from specahd.config.resume import command_line_keys, overlay
from specahd.config.targets import instantiate_group
from specahd.core.errors import ConfigError, FileError
from specahd.core.services import without_password
from specahd.runs.configuration import RunConfiguration, is_covered_by
from specahd.runs.files import CONFIG
from specahd.runs.reading import read_run
from specahd.tracking.follower import check_records
from specahd.tracking.mlflow import MLflowObserver
from specahd.tracking.upload import RunUpload, UploadFailed, run_directions, upload_lock


def track(config: DictConfig) -> None:
    """Upload a run directory to the MLflow store of the run, or to the given one."""
    directory = Path(config.run)
    if not (directory / CONFIG).is_file():
        raise FileError(f"{directory} holds no run: it has no {CONFIG}.")
    saved = RunConfiguration.read(directory)
    check_records(directory)
    tracker = instantiate_group(_tracking(config, saved, directory / CONFIG), "tracking")
    if not isinstance(tracker, MLflowObserver):
        raise ConfigError("Expected tracking=mlflow: a finished run is uploaded to MLflow alone.")
    run = read_run(directory)
    upload = RunUpload(tracker.options, directory)
    console = Console(stderr=True)
    progress = Progress(console=console, transient=True, disable=not console.is_terminal)
    try:
        with upload_lock(directory), progress:
            bar = progress.add_task("into MLflow", total=run.programs)
            for _ in upload.close(run.status):
                progress.update(bar, completed=upload.samples)
    except UploadFailed as error:
        store = without_password(tracker.options.uri)
        raise ConfigError(f"tracking.uri={store} does not take it: {error}") from None
    write_lines(f"{directory}: {upload.samples} programs, {run.status}", run_directions(directory))


def _tracking(config: DictConfig, saved: RunConfiguration, path: Path) -> DictConfig:
    """Return the tracking options of the run, overridden by those of the command line."""
    keys = command_line_keys()
    chosen = HydraConfig.get().runtime.choices["tracking"]
    if "tracking" in keys or saved.choices.get("tracking") != chosen:
        return DictConfig(config.tracking)
    had = saved.values.get("tracking")
    if not isinstance(had, dict):
        raise FileError(f"{path} is not the configuration of a run (tracking).")
    anew = [key for key in keys if is_covered_by(key, ["tracking"])]
    return DictConfig(overlay(config, {"tracking": had}, path, anew).tracking)


def main() -> int:
    """Run the command; return its exit status."""
    return run_command(track, "track", extra="train")


if __name__ == "__main__":
    sys.exit(main())
