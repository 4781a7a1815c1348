"""The jobs of a sweep, checked before the first one starts."""

import itertools
from collections.abc import Callable
from pathlib import Path
from shutil import which

from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig, OmegaConf, open_dict

from specahd.config.schemas import validate
from specahd.core.errors import ConfigError


def check_jobs(config: DictConfig, check: Callable[[DictConfig], None]) -> int | None:
    """Compose and validate every job of a sweep, as the job itself does later.

    Parameters
    ----------
    config
        Configuration that Hydra passes to its callbacks when a sweep begins.
    check
        Refuses an invalid configuration of a job before any work.

    Returns
    -------
    int or None
        The number of jobs; None if only a special sweeper knows it.
    """
    launcher = config.hydra.runtime.choices.get("hydra/launcher")
    if launcher == "submitit_slurm" and which("srun") is None:
        raise ConfigError(
            f"hydra/launcher={launcher} needs Slurm's srun, which is not on this machine; expected "
            "basic, joblib or submitit_local here."
        )
    loader = GlobalHydra.instance().config_loader()
    overrides = OverridesParser.create(loader).parse_overrides(_swept_overrides(config))
    if any(each.is_sweep_override() and not each.is_discrete_sweep() for each in overrides):
        # The jobs of an interval are defined only by a special sweeper.
        return None
    # Hydra takes the last value of an option that is given twice.
    values = {
        each.get_key_element(): [
            f"{each.get_key_element()}={value}" for value in each.sweep_string_iterator()
        ]
        if each.is_sweep_override()
        else [str(each.input_line)]
        for each in overrides
    }
    known = HydraConfig.instance().cfg
    number = -1
    try:
        for number, job in enumerate(itertools.product(*values.values())):
            check(_validated_job(loader.load_sweep_config(config, list(job)), number))
        return number + 1
    finally:
        HydraConfig.instance().cfg = known


def _swept_overrides(config: DictConfig) -> list[str]:
    """Return the overrides of a sweep: those of an experiment, then of the command line."""
    # An override may refer to values that exist only in a job.
    words: list[str] = OmegaConf.to_container(config.hydra.overrides.task, resolve=False)  # type: ignore[assignment]  # a list
    params = config.hydra.sweeper.get("params") or {}
    return [*(f"{key}={value}" for key, value in params.items()), *words]


def _validated_job(job: DictConfig, number: int) -> DictConfig:
    """Validate a job's configuration, and return it as it is passed to the task."""
    with open_dict(job):
        job.hydra.job.num = number
        job.hydra.job.id = str(number)
        job.hydra.runtime.output_dir = str(Path(job.hydra.sweep.dir, job.hydra.sweep.subdir))
    # An option may refer to the directory of its job.
    HydraConfig.instance().set_config(job)
    with open_dict(job):
        del job["hydra"]
    validate(job)
    return job


def in_sweep() -> bool:
    """Return whether the running command is a job of a sweep."""
    return not OmegaConf.is_missing(HydraConfig.get().job, "num")
