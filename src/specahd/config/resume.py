"""Resume a run: its saved configuration, with the options that may change.

The run's directory belongs to the user (``docs/explanation/threat-model.md``), so its values are
accepted, but only for options that ``conf/`` has.
"""

import copy
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf, open_dict

from specahd.config.cli import resolve_config, save_config
from specahd.config.messages import REFUSALS, message_for
from specahd.config.schemas import validate
from specahd.core.errors import ConfigError, FileError
from specahd.core.options import Effect
from specahd.core.plain import printable
from specahd.runs.configuration import (
    RunConfiguration,
    flatten,
    is_covered_by,
    options_with,
)
from specahd.runs.files import CONFIG
from specahd.runs.reading import require_current

_MAY_CHANGE = options_with(Effect.SPEED, Effect.ACCESS, Effect.REPLIES)
CHANGEABLE = tuple(
    name
    for name in _MAY_CHANGE
    if name != "resume" and not is_covered_by(name, {*_MAY_CHANGE} - {name})
)
"""Options that may change in a resumed run; replies are never requested, or paid, twice."""
RAISABLE = options_with(Effect.BOUND)
"""Options that may be raised in a resumed run; no measurement depends on them."""


def with_choices(arguments: Sequence[str]) -> list[str]:
    """Add the group choices of the run to resume to a command line.

    Single options of those groups can then be overridden, as for a new run.
    """
    words = list(arguments)
    for word in arguments:
        if word.startswith("resume="):
            saved = _resumable_config(Path(word.removeprefix("resume=")))
            given = {other.partition("=")[0] for other in arguments}
            words += [
                f"{group}={choice}"
                for group, choice in saved.choices.items()
                if choice is not None and group not in given
            ]
    return words


def check_alone(config: DictConfig, directory: Path | None = None) -> None:
    """Refuse ``resume=`` in another directory than that of the run, or in none, as in a sweep."""
    run = None if config.resume is None else Path(config.resume).resolve()
    if run is not None and (directory is None or run != directory.resolve()):
        raise ConfigError("Expected resume=RUN by itself: without -m, + or hydra.run.dir.")


def resume_configuration(config: DictConfig) -> DictConfig:
    """Return the configuration of the run to resume, with the changes of the command line.

    Parameters
    ----------
    config
        Configuration composed from the command line, with the groups that :func:`with_choices`
        adds; its option ``resume`` is the run's directory.
    """
    directory = Path(config.resume)
    composed, saved = resolve_config(config), dict(_resumable_config(directory).values)
    anew = []
    for key in command_line_keys():
        is_group = key in saved["choices"]
        where = f"choices.{key}" if is_group else key
        wanted, had = _value_at(composed, where), _value_at(saved, where)
        if is_covered_by(key, CHANGEABLE):
            # `with_choices` adds the choices that are equal.
            if not is_group or wanted != had:
                anew.append(key)
        elif key in RAISABLE:
            if not _is_at_least(wanted, had):
                bound = f"it has {printable(str(had))}"
                bound = "the run has no such bound" if had is None else bound
                raise ConfigError(
                    f"{key} may only be raised for the run in {directory}: {bound}, got {wanted}."
                )
            anew.append(key)
        elif wanted != had and key != "resume":
            raise ConfigError(
                f"{key} contradicts the run in {directory}, which has {printable(str(had))}; "
                f"only {', '.join(CHANGEABLE)} may change, and {' and '.join(RAISABLE)} grow."
            )
    del saved["choices"]
    overlaid = overlay(config, saved, directory / CONFIG, anew)
    validate(overlaid)
    return overlaid


def is_raised(config: DictConfig, directory: Path) -> bool:
    """Return whether the budget of a run was raised since its configuration was saved."""
    composed, saved = resolve_config(config), read_saved(directory).values
    return any(_value_at(composed, key) != _value_at(saved, key) for key in RAISABLE)


def save_raised(config: DictConfig, folder: Path, before: Path) -> None:
    """Write the configuration of a run that resumes with a larger budget.

    Parameters
    ----------
    before
        The run's directory. The new file gets the times of the old one, which date the run.
    """
    shutil.copystat(before / CONFIG, save_config(config, folder))


def _is_at_least(wanted: float | None, had: float | None) -> bool:
    """Return whether one bound is not less than another; None is no bound."""
    return wanted is None or (had is not None and wanted >= had)


def check_same(config: DictConfig, directory: Path, other: str = "hydra.sweep.dir") -> None:
    """Refuse to resume a run in a directory that contains another run.

    Parameters
    ----------
    config
        Configuration composed for the run.
    other
        The option that names another directory, for the message.
    """
    wanted, had = flatten(resolve_config(config)), flatten(_resumable_config(directory).values)
    for key in sorted(wanted.keys() | had.keys()):
        option = key.removeprefix("choices.")
        if option in RAISABLE and _is_at_least(wanted.get(key), had.get(key)):
            continue
        if not is_covered_by(option, CHANGEABLE) and wanted.get(key) != had.get(key):
            raise ConfigError(
                f"{option} contradicts the run in {directory}, which has {had.get(key)}; "
                f"name another {other}."
            )


def command_line_keys() -> list[str]:
    """Return the keys of the overrides on the command line."""
    overrides = HydraConfig.get().overrides.task
    return [override.lstrip("+~").partition("=")[0].partition("@")[0] for override in overrides]


def _resumable_config(directory: Path) -> RunConfiguration:
    """Return the saved configuration of a run that this version can resume."""
    # Checked first: options of another version may have other names.
    require_current(directory)
    return read_saved(directory)


def read_saved(directory: Path) -> RunConfiguration:
    """Return the configuration of the run to resume in a directory."""
    if not (directory / CONFIG).is_file():
        raise FileError(f"{directory} holds no run to resume: it has no {CONFIG}.")
    return RunConfiguration.read(directory)


def overlay(
    config: DictConfig, saved: dict[str, Any], path: Path, anew: Sequence[str]
) -> DictConfig:
    """Return a composed configuration with the values of a saved one.

    Parameters
    ----------
    path
        File of the saved configuration, for error messages.
    anew
        Options and groups that keep their composed values.
    """
    copied = copy.deepcopy(config)
    strange = sorted(saved.keys() - set(map(str, config)))
    if strange:
        raise FileError(f"{path} is not the configuration of a run ({printable(strange[0])}).")
    try:
        with open_dict(copied):
            for key, value in saved.items():
                # A group without a schema is replaced as a whole.
                closed = is_dataclass(OmegaConf.get_type(config, key))
                copied[key] = OmegaConf.merge(copied[key], value) if closed else value
            for key in anew:
                value = OmegaConf.select(config, key)
                OmegaConf.update(copied, key, value, merge=False, force_add=True)
    except REFUSALS as error:
        raise FileError(f"{path}: {message_for(error)}") from None
    return copied


def _value_at(values: Mapping[str, Any], key: str) -> Any:
    """Return the value of a dotted name, None if there is none."""
    part: Any = values
    for name in key.split("."):
        part = part.get(name) if isinstance(part, Mapping) else None
    return part
