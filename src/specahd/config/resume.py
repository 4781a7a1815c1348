"""Going on with a run: its own configuration, and what may be different this time."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf

from specahd.config.door import CONFIG
from specahd.core.errors import ConfigError, FileError

CHANGEABLE = ("executor", "tracking", "sandbox")
"""What does not enter into any result."""


def resumed(config: DictConfig) -> DictConfig:
    """Return the configuration of the run to resume, with what may change as asked for now.

    Parameters
    ----------
    config
        As composed from the command line; its ``resume`` names the run's directory.

    Raises
    ------
    FileError
        The directory holds no run.
    ConfigError
        An option contradicts the run.
    """
    directory = Path(config.resume)
    path = directory / CONFIG
    if not path.is_file():
        raise FileError(f"{directory} holds no run to resume: it has no {CONFIG}.")
    saved = OmegaConf.load(path)
    if not isinstance(saved, DictConfig):
        raise FileError(f"{path} is not the configuration of a run.")
    for key in _asked():
        if key.split(".")[0] in CHANGEABLE:
            continue
        wanted, had = (_plain(OmegaConf.select(source, key)) for source in (config, saved))
        if wanted != had:
            raise ConfigError(
                f"{key} contradicts the run in {directory}, which has {_short(had)}; "
                f"only {', '.join(CHANGEABLE)} may change."
            )
    for group in CHANGEABLE:
        if any(key.split(".")[0] == group for key in _asked()):
            saved[group] = config[group]
    return saved


def _asked() -> Sequence[str]:
    """Return the keys of the command line, ``resume`` left out."""
    overrides = HydraConfig.get().overrides.task
    keys = [override.lstrip("+~").partition("=")[0].partition("@")[0] for override in overrides]
    return [key for key in keys if key != "resume"]


def _plain(value: Any) -> Any:
    return OmegaConf.to_container(value) if OmegaConf.is_config(value) else value


def _short(value: Any) -> str:
    target = value.get("_target_") if isinstance(value, dict) else None
    return str(target or value)
