"""The jobs of a sweep, checked before the first one starts."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from shutil import which

from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import IntervalSweep, Override
from omegaconf import DictConfig, OmegaConf, open_dict

from specahd.config.schemas import validate
from specahd.core.errors import ConfigError
from specahd.core.extras import require
from specahd.runs.configuration import swept_overrides

_OPTUNA = "hydra/sweeper=optuna"
_CHOICES = [
    "hydra.sweeper.direction=maximize",
    "hydra.sweeper.n_jobs=1",
    # With it the same command chooses the same trials, and goes on where it broke off.
    "hydra.sweeper.sampler.seed=0",
]


def with_sweeper(arguments: Sequence[str]) -> list[str]:
    """Add what Optuna's sweeper needs for trainings to a command line that chooses it.

    Raises
    ------
    ConfigError
        Its packages are not installed.
    """
    if _OPTUNA not in arguments:
        return list(arguments)
    require("optuna", _OPTUNA)
    choices = _CHOICES[:-1] if "hydra/sweeper/sampler=grid" in arguments else _CHOICES
    # Of an option that is given twice, Hydra takes the last.
    return [*choices, *arguments]


def check_jobs(config: DictConfig, check: Callable[[DictConfig], object]) -> int | None:
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
    sweeper = config.hydra.runtime.choices.get("hydra/sweeper")
    launcher = config.hydra.runtime.choices.get("hydra/launcher")
    if launcher == "submitit_slurm" and which("srun") is None:
        raise ConfigError(
            f"hydra/launcher={launcher} needs Slurm's srun, which is not on this machine; expected "
            "basic, joblib or submitit_local here."
        )
    loader = GlobalHydra.instance().config_loader()
    overrides = OverridesParser.create(loader).parse_overrides(swept_overrides(config))
    # Hydra takes the last value of an option that is given twice.
    values = {each.get_key_element(): _words(each) for each in overrides}
    jobs: Iterable[tuple[str, ...]] = itertools.product(*values.values())
    if sweeper != "basic":
        # Which jobs there are shows as they end: checked are the first and the last values.
        jobs = [tuple(words[end] for words in values.values()) for end in (0, -1)]
    elif any(each.is_interval_sweep() for each in overrides):
        raise ConfigError(
            "An interval is swept only by hydra/sweeper=optuna; expected values, such as "
            "'seed=range(0,5)' or search.beta=0.25,0.5."
        )
    known = HydraConfig.instance().cfg
    number = -1
    try:
        for number, job in enumerate(jobs):
            check(_validated_job(loader.load_sweep_config(config, list(job)), number))
        return number + 1 if sweeper == "basic" else config.hydra.sweeper.get("n_trials")
    finally:
        HydraConfig.instance().cfg = known


def _words(override: Override) -> list[str]:
    """Return an override once for each of its values; for an interval, with both ends."""
    if not override.is_sweep_override():
        return [str(override.input_line)]
    value = override.value()
    if isinstance(value, IntervalSweep):
        values: Iterable[object] = (value.start, value.end)
    else:
        values = override.sweep_string_iterator()
    return [f"{override.get_key_element()}={each}" for each in values]


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
