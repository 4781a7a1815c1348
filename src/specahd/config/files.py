"""Read the files of ``conf/`` without Hydra."""

from collections.abc import Mapping
from functools import partial
from pkgutil import resolve_name
from typing import Any

import yaml

from specahd.config import CONF_DIR
from specahd.core.errors import ConfigError
from specahd.core.ranges import check_choice

_PUT_TOGETHER = "{} is put together by the commands only; make it in code."


def choices(group: str) -> list[str]:
    """Return the choices of a group, one for each file of its folder."""
    return sorted(path.stem for path in (CONF_DIR / group).glob("*.yaml"))


def command_purpose(command: str) -> str:
    """Return a command's purpose, from the first line of its configuration."""
    first = (CONF_DIR / f"{command}.yaml").read_text(encoding="utf-8").partition("\n")[0]
    return first.partition(": ")[2].rstrip(".")


def declared_options(group: str, name: str) -> dict[str, Any]:
    """Return the options that a file declares, without Hydra's own keys.

    Raises
    ------
    ConfigError
        The group has no such file.
    """
    return {key: value for key, value in _read(group, name).items() if not key.startswith("_")}


def target_of(group: str, name: str) -> Any:
    """Return the class or function that a file names as its ``_target_``.

    Raises
    ------
    ConfigError
        The group has no such file, or only Hydra can compose it.
    """
    read = _read(group, name)
    path = read.get("_target_")
    if not isinstance(path, str) or "defaults" in read:
        raise ConfigError(_PUT_TOGETHER.format(f"{group}={name}"))
    return resolve_name(path)


def make_from(group: str, name: str, **given: Any) -> Any:
    """Create the object that a file describes, with some options overridden.

    Raises
    ------
    ConfigError
        There is no such file or option, or a value is out of range.
    """
    declared = declared_options(group, name)
    for option in given:
        check_choice(f"an option of {group} {name}", option, declared)
    return target_of(group, name)(**{**declared, **given})


def factory_of(group: str, name: str) -> "partial[Any]":
    """Return a factory of the object that a file describes; its parts are factories too.

    Raises
    ------
    ConfigError
        The group has no such file, or only Hydra can compose it.
    """
    read = _read(group, name)
    if "_target_" not in read:
        raise ConfigError(_PUT_TOGETHER.format(f"{group}={name}"))
    return _factory(read)


def _factory(read: Mapping[str, Any]) -> "partial[Any]":
    given = {
        key: _factory(value) if isinstance(value, Mapping) and "_target_" in value else value
        for key, value in read.items()
        if key != "defaults" and not key.startswith("_")
    }
    return partial(resolve_name(read["_target_"]), **given)


def override_of(group: str, name: str, other: str) -> str | None:
    """Return a file's override of another group, None if it has none.

    Raises
    ------
    ConfigError
        The group has no such file.
    """
    for entry in _read(group, name).get("defaults", []):
        for key, choice in entry.items():
            if key.startswith(f"override /{other}@"):
                return str(choice)
    return None


def _read(group: str, name: str) -> Mapping[str, Any]:
    check_choice(group, name, choices(group))
    read: Mapping[str, Any] = yaml.safe_load((CONF_DIR / group / f"{name}.yaml").read_bytes())
    return read
