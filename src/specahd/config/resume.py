"""Going on with a run: its own configuration, and what may be different this time.

The run's directory is the user's own (``docs/sandbox.md``), so what it says is taken as it is,
as far as ``conf/`` has such options.
"""

import copy
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from msgspec import Struct
from omegaconf import DictConfig, OmegaConf, open_dict

from specahd.config.cli import resolved, save_config
from specahd.config.messages import REFUSALS, message_for
from specahd.config.schemas import validate
from specahd.core.errors import ConfigError, FileError
from specahd.core.plain import printable
from specahd.runs.configuration import WITHOUT_EFFECT, flat, is_among, read_configuration
from specahd.runs.files import CONFIG
from specahd.runs.reading import require_current

CHANGEABLE = (*WITHOUT_EFFECT, "llm")
"""What may be different: replies that were paid for are not asked again."""
RAISABLE = ("budget.max_cost", "budget.max_tokens")
"""What may be larger: nothing that is measured depends on it."""


class _Saved(Struct):
    """What a run's configuration must say to be composed again."""

    choices: dict[str, str | None]


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
    ours, saved = resolved(config), _own(directory)
    anew = []
    for key in asked():
        is_group = key in saved["choices"]
        where = f"choices.{key}" if is_group else key
        wanted, had = _at(ours, where), _at(saved, where)
        if is_among(key, CHANGEABLE):
            # An equal choice is what `with_choices` added.
            if not is_group or wanted != had:
                anew.append(key)
        elif key in RAISABLE:
            if not _reaches(wanted, had):
                less = (
                    "the run has no such bound" if had is None else f"it has {printable(str(had))}"
                )
                raise ConfigError(
                    f"{key} may only be raised for the run in {directory}: {less}, got {wanted}."
                )
            anew.append(key)
        elif wanted != had and key != "resume":
            raise ConfigError(
                f"{key} contradicts the run in {directory}, which has {printable(str(had))}; "
                f"only {', '.join(CHANGEABLE)} may change, and {' and '.join(RAISABLE)} grow."
            )
    del saved["choices"]
    made = overlay(config, saved, directory / CONFIG, anew)
    validate(made)
    return made


def is_raised(config: DictConfig, directory: Path) -> bool:
    """Say whether a run may pay for more now than its own configuration says."""
    ours, saved = resolved(config), saved_config(directory)
    return any(_at(ours, key) != _at(saved, key) for key in RAISABLE)


def save_raised(config: DictConfig, folder: Path, before: Path) -> None:
    """Write the configuration of a run that goes on with more.

    Parameters
    ----------
    before
        The run's directory: the file there is as old as the run, and so is the new one.
    """
    shutil.copystat(before / CONFIG, save_config(config, folder))


def _reaches(wanted: float | None, had: float | None) -> bool:
    """Say whether one bound is not less than another; None is no bound."""
    return wanted is None or (had is not None and wanted >= had)


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
    wanted, had = flat(resolved(config)), flat(_own(directory))
    for key in sorted(wanted.keys() | had.keys()):
        option = key.removeprefix("choices.")
        if option in RAISABLE and _reaches(wanted.get(key), had.get(key)):
            continue
        if not is_among(option, CHANGEABLE) and wanted.get(key) != had.get(key):
            raise ConfigError(
                f"{option} contradicts the run in {directory}, which has {had.get(key)}; "
                "name another hydra.sweep.dir."
            )


def asked() -> list[str]:
    """Return the keys of the command line."""
    overrides = HydraConfig.get().overrides.task
    return [override.lstrip("+~").partition("=")[0].partition("@")[0] for override in overrides]


def _own(directory: Path) -> dict[str, Any]:
    """Return the configuration of a run that this version can go on with."""
    # First, since options of another version may have other names.
    require_current(directory)
    return saved_config(directory)


def saved_config(directory: Path) -> dict[str, Any]:
    """Return the configuration that a run left in its directory, as plain data.

    Raises
    ------
    FileError
        There is none, or it is not what a run writes.
    """
    path = directory / CONFIG
    if not path.is_file():
        raise FileError(f"{directory} holds no run to resume: it has no {CONFIG}.")
    return read_configuration(path, _Saved)


def overlay(
    config: DictConfig, saved: dict[str, Any], path: Path, anew: Sequence[str]
) -> DictConfig:
    """Return a composed configuration with the values of a saved one.

    Parameters
    ----------
    path
        Where it was found.
    anew
        Options and groups that stay as they are composed.

    Raises
    ------
    FileError
        The saved one has an option that ``conf/`` does not have, or a value of another type.
    """
    made = copy.deepcopy(config)
    strange = sorted(saved.keys() - set(map(str, config)))
    if strange:
        raise FileError(f"{path} is not the configuration of a run ({printable(strange[0])}).")
    try:
        with open_dict(made):
            for key, value in saved.items():
                # Where a choice brings its options, the run's are all that it has.
                closed = is_dataclass(OmegaConf.get_type(config, key))
                made[key] = OmegaConf.merge(made[key], value) if closed else value
            for key in anew:
                value = OmegaConf.select(config, key)
                OmegaConf.update(made, key, value, merge=False, force_add=True)
    except REFUSALS as error:
        raise FileError(f"{path}: {message_for(error)}") from None
    return made


def _at(values: Mapping[str, Any], key: str) -> Any:
    """Return the value of a dotted name, None if there is none."""
    part: Any = values
    for name in key.split("."):
        part = part.get(name) if isinstance(part, Mapping) else None
    return part
