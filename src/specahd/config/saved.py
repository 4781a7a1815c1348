"""The configuration in a run's directory, which somebody else may have written.

It is plain data. What is made of it is composed from ``conf/`` again, with the choices that it
names; then it may say values of options that are there, and nothing of what is called.
"""

import re
from collections.abc import Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any, get_args

from hydra.utils import get_object

from specahd.config import CONF_DIR
from specahd.core.errors import ConfigError, FileError
from specahd.core.folders import oddity
from specahd.core.plain import misfit, told
from specahd.runs.configuration import read_configuration
from specahd.runs.files import CONFIG

# No longer than the name of a file may be.
_CHOICE = re.compile(r"(?=.{1,100}\Z)\w[\w.-]*(/\w[\w.-]*)*", re.ASCII)
_HERE = re.compile(
    r"auto|sqlite:///.*|https?://(127\.0\.0\.1|localhost|\[::1\])(:[0-9]+)?(/[A-Za-z0-9._/-]*)?"
)
_SCALARS = (str, int, float, bool, type(None))
_HINT = "if the run is yours, repeat that option on the command line."


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
        if not _is_group(group) or not (choice is None or _CHOICE.fullmatch(choice)):
            raise FileError(f"{path} is not the configuration of a run (choices.{told(group)}).")
    return saved


def _is_group(name: str) -> bool:
    return name.isidentifier() and name != "hydra" and (CONF_DIR / name).is_dir()


def overlaid(ours: Any, saved: Any, name: str, path: Path, *, closed: bool = False) -> Any:
    """Return what ``conf/`` composes, with the values that a saved configuration has.

    Parameters
    ----------
    ours, saved
        Plain values: as composed now, and as found.
    name
        Of the option or group.
    path
        Where the saved ones were found.
    closed
        Whether a schema says which options there are; else those that the saved
        configuration lacks are left out, and a group that no class is made of may have more.

    Raises
    ------
    FileError
        The saved configuration has an option that ``conf/`` does not have, another class, or
        a value of another kind.
    ConfigError
        It leads to another machine, or names another key, than ``conf/`` does.
    """
    if isinstance(ours, dict):
        if not isinstance(saved, dict):
            raise _strange(name, path)
        return _group(ours, saved, name, path, closed=closed)
    if isinstance(saved, dict) or (isinstance(saved, list) and not _plain(saved)):
        if saved != ours:
            raise _strange(name, path)
        return ours
    if isinstance(ours, list) != isinstance(saved, list) and None not in (ours, saved):
        raise _strange(name, path)
    if not (isinstance(ours, list) or ours is None or saved is None) and _kind(ours) != _kind(
        saved
    ):
        raise _strange(name, path)
    return saved


def _group(
    ours: Mapping[str, Any], saved: Mapping[Any, Any], name: str, path: Path, *, closed: bool
) -> dict[str, Any]:
    """Return :func:`overlaid` of a group of options."""
    made = {key: value for key, value in ours.items() if closed or str(key).startswith("_")}
    for key, value in saved.items():
        where = f"{name}.{key}" if name else str(key)
        if str(key).startswith("_"):
            if key not in ours or ours[key] != value:
                raise _strange(where, path)
        elif key in ours:
            made[key] = overlaid(ours[key], value, where, path, closed=closed)
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
    arguments = signature(get_object(made["_target_"])).parameters
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


def _plain(values: Sequence[Any]) -> bool:
    return all(isinstance(value, _SCALARS) for value in values)


def _kind(value: Any) -> type:
    kind = type(value)
    return float if kind is int else kind
