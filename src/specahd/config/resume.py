"""Going on with a run: its own configuration, and what may be different this time."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf, open_dict

from specahd.config.cli import resolved
from specahd.config.messages import REFUSALS, message_for
from specahd.config.saved import overlaid, saved_config
from specahd.config.schemas import validate
from specahd.core.errors import ConfigError, FileError
from specahd.core.plain import told
from specahd.runs.configuration import WITHOUT_EFFECT, flat, is_among
from specahd.runs.files import CONFIG
from specahd.runs.reading import require_current

CHANGEABLE = (*WITHOUT_EFFECT, "llm")
"""What may be different: replies that were paid for are not asked again."""


def with_choices(arguments: Sequence[str]) -> list[str]:
    """Return a command line that chooses the groups which the run to resume had chosen.

    Single options of those groups can then be overridden, as for a new run.
    """
    words = list(arguments)
    for word in arguments:
        if word.startswith("resume="):
            saved = _own(Path(word.removeprefix("resume=")))
            given = {other.partition("=")[0] for other in arguments}
            words += [
                f"{group}={choice}"
                for group, choice in saved["choices"].items()
                if choice is not None and group not in given
            ]
    return words


def resumed(config: DictConfig) -> DictConfig:
    """Return the configuration of the run to resume, with what may change as asked for now.

    Parameters
    ----------
    config
        As composed from the command line, with the groups that :func:`with_choices` adds; its
        ``resume`` names the run's directory.

    Raises
    ------
    FileError
        The directory holds no run, or one that another version wrote.
    ConfigError
        An option contradicts the run.
    """
    directory = Path(config.resume)
    saved = _own(directory)
    choices = saved.pop("choices")
    chosen: Mapping[str, Any] = HydraConfig.get().runtime.choices
    ours = plain(config)
    changed = []
    for key in _asked():
        if key in choices and chosen[key] == choices[key]:
            # That is what `with_choices` added.
            continue
        if not is_among(key, CHANGEABLE):
            wanted, had = (
                (chosen[key], choices[key]) if key in choices else (_at(ours, key), _at(saved, key))
            )
            if wanted != had:
                raise ConfigError(
                    f"{key} contradicts the run in {directory}, which has {told(str(had))}; "
                    f"only {', '.join(CHANGEABLE)} may change."
                )
        elif key in choices:
            saved.pop(key, None)
        else:
            _drop(saved, key)
            changed.append(key)
    made = overlay(config, saved, directory / CONFIG)
    for key in changed:
        OmegaConf.update(made, key, OmegaConf.select(config, key), force_add=True)
    validate(made)
    return made


def overlay(config: DictConfig, saved: Mapping[str, Any], path: Path) -> DictConfig:
    """Return a composed configuration with the values of a saved one, each of its own type.

    Raises
    ------
    FileError
        The saved one is not of such a run.
    ConfigError
        It leads elsewhere.
    """
    ours = plain(config)
    strange = saved.keys() - ours.keys()
    if strange:
        raise FileError(f"{path} is not the configuration of a run ({told(str(min(strange)))}).")
    made = copy.deepcopy(config)
    try:
        with open_dict(made):
            for key, value in saved.items():
                typed = is_dataclass(OmegaConf.get_type(config, key))
                values = overlaid(ours[key], value, key, path, closed=typed)
                made[key] = OmegaConf.merge(made[key], values) if typed else values
    except REFUSALS as error:
        raise FileError(f"{path}: {message_for(error)}") from None
    return made


def plain(config: DictConfig) -> dict[str, Any]:
    """Return a composed configuration as plain values."""
    values: dict[str, Any] = OmegaConf.to_container(config, resolve=True)  # type: ignore[assignment]  # a mapping at the top
    return values


def check_same(config: DictConfig, directory: Path) -> None:
    """Refuse to go on with a sweep's job in a directory that holds another run.

    Parameters
    ----------
    config
        As composed for the job.

    Raises
    ------
    ConfigError
        An option contradicts that run.
    FileError
        The configuration in the directory is torn, or another version wrote it.
    """
    wanted = flat(plain(OmegaConf.create(resolved(config))))
    had = flat(_own(directory))
    for key in sorted(wanted.keys() | had.keys()):
        option = key.removeprefix("choices.")
        if not is_among(option, CHANGEABLE) and wanted.get(key) != had.get(key):
            raise ConfigError(
                f"{option} contradicts the run in {directory}, which has {had.get(key)}; "
                "name another hydra.sweep.dir."
            )


def _own(directory: Path) -> dict[str, Any]:
    """Return the configuration of a run that this version can go on with."""
    # First, since options of another version may have other names.
    require_current(directory)
    return saved_config(directory)


def _drop(values: dict[str, Any], key: str) -> None:
    """Remove what a dotted name stands for, if it is there."""
    group, _, name = key.rpartition(".")
    part = _at(values, group) if group else values
    if isinstance(part, dict):
        part.pop(name, None)


def _asked() -> Sequence[str]:
    """Return the keys of the command line, ``resume`` left out."""
    overrides = HydraConfig.get().overrides.task
    keys = [override.lstrip("+~").partition("=")[0].partition("@")[0] for override in overrides]
    return [key for key in keys if key != "resume"]


def _at(values: Mapping[str, Any], key: str) -> Any:
    """Return the value of a dotted name, None if there is none."""
    part: Any = values
    for name in key.split("."):
        part = part.get(name) if isinstance(part, Mapping) else None
    return part
