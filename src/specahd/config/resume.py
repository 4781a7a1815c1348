"""Going on with a run: its own configuration, and what may be different this time.

Somebody else may have written the configuration in a run's directory. It is plain data. What is
made of it is composed from ``conf/`` again, with the choices that it names; then it may say
values of options that are there, and nothing of what is called.
"""

import copy
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from inspect import signature
from pathlib import Path
from typing import Any, get_args

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf, open_dict

from specahd.config import CONF_DIR
from specahd.config.cli import resolved, save_config
from specahd.config.messages import REFUSALS, message_for
from specahd.config.schemas import validate
from specahd.config.targets import locate
from specahd.core.errors import ConfigError, FileError
from specahd.core.folders import oddity
from specahd.core.plain import misfit, told
from specahd.runs.configuration import WITHOUT_EFFECT, flat, is_among, read_configuration
from specahd.runs.files import CONFIG
from specahd.runs.reading import require_current

CHANGEABLE = (*WITHOUT_EFFECT, "llm")
"""What may be different: replies that were paid for are not asked again."""
RAISABLE = ("budget.max_cost", "budget.max_tokens")
"""What may be larger: nothing that is measured depends on it."""
# No longer than the name of a file may be.
_CHOICE = re.compile(r"(?=.{1,100}\Z)\w[\w.-]*(/\w[\w.-]*)*", re.ASCII)
_HERE = re.compile(
    r"auto|sqlite:///.*|https?://(127\.0\.0\.1|localhost|\[::1\])(:[0-9]+)?(/[A-Za-z0-9._/-]*)?"
)
_SCALARS = (str, int, float, bool, type(None))
_HINT = "if the run is yours, repeat that option on the command line."


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
                less = "the run has no such bound" if had is None else f"it has {told(str(had))}"
                raise ConfigError(
                    f"{key} may only be raised for the run in {directory}: {less}, got {wanted}."
                )
            anew.append(key)
        elif wanted != had and key != "resume":
            raise ConfigError(
                f"{key} contradicts the run in {directory}, which has {told(str(had))}; "
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
        There is none, or it is not what a run writes; or the directory holds a link, through
        which going on would write elsewhere.
    """
    path = directory / CONFIG
    if not path.is_file():
        raise FileError(f"{directory} holds no run to resume: it has no {CONFIG}.")
    odd = oddity(directory)
    if odd is not None:
        raise FileError(f"{directory} holds {told(odd)}, which is neither a file nor a directory.")
    saved = read_configuration(path, {"choices": dict[str, str | None]})
    for group, choice in saved["choices"].items():
        known = group.isidentifier() and group != "hydra" and (CONF_DIR / group).is_dir()
        if not known or not (choice is None or _CHOICE.fullmatch(choice)):
            raise FileError(f"{path} is not the configuration of a run (choices.{told(group)}).")
    return saved


def overlay(
    config: DictConfig, saved: dict[str, Any], path: Path, anew: Sequence[str]
) -> DictConfig:
    """Return a composed configuration with the values of a saved one, each of its own type.

    Parameters
    ----------
    saved
        Of it, what ``anew`` names is removed.
    path
        Where it was found.
    anew
        Options and groups that stay as they are composed.

    Raises
    ------
    FileError
        The saved one has an option that ``conf/`` does not have, another class, or a value of
        another kind.
    ConfigError
        It leads to another machine, or names another key, than ``conf/`` does.
    """
    ours = resolved(config)
    for key in anew:
        group, _, name = key.rpartition(".")
        part = _at(saved, group) if group else saved
        if isinstance(part, dict):
            part.pop(name, None)
    strange = saved.keys() - ours.keys()
    if strange:
        raise FileError(f"{path} is not the configuration of a run ({told(str(min(strange)))}).")
    made = copy.deepcopy(config)
    try:
        with open_dict(made):
            for key, value in saved.items():
                closed = is_dataclass(OmegaConf.get_type(config, key))
                values = _overlaid(ours[key], value, key, path, closed=closed)
                made[key] = OmegaConf.merge(made[key], values) if closed else values
    except REFUSALS as error:
        raise FileError(f"{path}: {message_for(error)}") from None
    for key in anew:
        OmegaConf.update(made, key, OmegaConf.select(config, key), force_add=True)
    return made


def _overlaid(ours: Any, saved: Any, name: str, path: Path, *, closed: bool) -> Any:
    """Return what ``conf/`` composes, with the values that a saved configuration has.

    Parameters
    ----------
    ours, saved
        Plain values: as composed now, and as found.
    name
        Of the option or group.
    closed
        Whether a schema says which options there are; else those that the saved
        configuration lacks are left out, and a group that no class is made of may have more.
    """
    if isinstance(ours, dict) and isinstance(saved, dict):
        return _group(ours, saved, name, path, closed=closed)
    if isinstance(ours, dict) or not _is_plain(saved):
        fits = saved == ours
    else:
        fits = ours is None or saved is None or _kind(ours) is _kind(saved)
    if not fits:
        raise _strange(name, path)
    return saved


def _group(
    ours: Mapping[str, Any], saved: Mapping[Any, Any], name: str, path: Path, *, closed: bool
) -> dict[str, Any]:
    """Return :func:`_overlaid` of a group of options."""
    made = {key: value for key, value in ours.items() if closed or str(key).startswith("_")}
    for key, value in saved.items():
        where = f"{name}.{key}"
        if str(key).startswith("_"):
            if key not in ours or ours[key] != value:
                raise _strange(where, path)
        elif key in ours:
            made[key] = _overlaid(ours[key], value, where, path, closed=closed)
        elif closed or "_target_" in ours or _calls(value):
            raise _strange(where, path)
        else:
            made[key] = value
    if "_target_" in ours:
        _check_arguments(made, name, path)
    _check_places(ours, made, name, path)
    return made


def _check_arguments(made: Mapping[str, Any], name: str, path: Path) -> None:
    """Refuse values of another type than the class says that will be called with them."""
    arguments = signature(locate(f"{name}._target_", made["_target_"])).parameters
    for key, value in made.items():
        kind = arguments[key].annotation if key in arguments else None
        # Of others, the class itself says what it takes.
        known = all(part in _SCALARS for part in get_args(kind) or (kind,))
        if kind is not None and known and misfit(value, kind) is not None:
            raise _strange(f"{name}.{key}", path)


def _check_places(ours: Mapping[str, Any], made: Mapping[str, Any], name: str, path: Path) -> None:
    """Refuse to send anything where only a saved configuration says so, least of all a key."""
    keys = ["address", "uri"]
    if not _here(made.get("base_url")):
        keys += ["base_url", "api_key_env"]
    for key in keys:
        if made.get(key) != ours.get(key) and (key == "api_key_env" or not _here(made.get(key))):
            raise ConfigError(f"{name}.{key} in {path} leads elsewhere; {_HINT}")


def _here(place: Any) -> bool:
    """Say whether an address is one of this machine."""
    return place is None or (isinstance(place, str) and _HERE.fullmatch(place) is not None)


def _strange(name: str, path: Path) -> FileError:
    return FileError(f"{path}: {told(name)} is not what conf/ has for such a run; {_HINT}")


def _calls(value: Any) -> bool:
    """Say whether anything in plain values could be meant for Hydra."""
    if isinstance(value, dict):
        return any(str(key).startswith("_") or _calls(item) for key, item in value.items())
    return isinstance(value, list) and any(map(_calls, value))


def _is_plain(value: Any) -> bool:
    """Say whether a value is a scalar or a list of scalars."""
    items = value if isinstance(value, list) else [value]
    return all(isinstance(item, _SCALARS) for item in items)


def _kind(value: Any) -> type:
    kind = type(value)
    return float if kind is int else kind


def _at(values: Mapping[str, Any], key: str) -> Any:
    """Return the value of a dotted name, None if there is none."""
    part: Any = values
    for name in key.split("."):
        part = part.get(name) if isinstance(part, Mapping) else None
    return part
