"""What a file of ``conf/`` says, for those who do without Hydra."""

from collections.abc import Mapping
from functools import partial
from pkgutil import resolve_name
from typing import Any

import yaml

from specahd.config import CONF_DIR
from specahd.core.errors import ConfigError
from specahd.core.ranges import check_choice

_PUT_TOGETHER = "{} is put together by the commands only; make it in code."


def names(group: str) -> list[str]:
    """Return the choices of a group, one for each file of its folder."""
    return sorted(path.stem for path in (CONF_DIR / group).glob("*.yaml"))


def purpose(command: str) -> str:
    """Return what a command does, as the first line of its configuration says."""
    first = (CONF_DIR / f"{command}.yaml").read_text(encoding="utf-8").partition("\n")[0]
    return first.partition(": ")[2].rstrip(".")


def options(group: str, name: str) -> dict[str, Any]:
    """Return the options that a file declares, without what says whose they are.

    Raises
    ------
    ConfigError
        The group has no such file.
    """
    return {key: value for key, value in _read(group, name).items() if not key.startswith("_")}


def target(group: str, name: str) -> Any:
    """Return the class or function that a file names as its ``_target_``.

    Raises
    ------
    ConfigError
        The group has no such file, or only Hydra can put it together.
    """
    read = _read(group, name)
    path = read.get("_target_")
    if not isinstance(path, str) or "defaults" in read:
        raise ConfigError(_PUT_TOGETHER.format(f"{group}={name}"))
    return resolve_name(path)


def make(group: str, name: str, **given: Any) -> Any:
    """Return what a file describes, with other values for some of its options.

    Raises
    ------
    ConfigError
        There is no such file or option, or a value is out of range.
    """
    declared = options(group, name)
    for option in given:
        check_choice(f"an option of {group} {name}", option, declared)
    return target(group, name)(**{**declared, **given})


def maker(group: str, name: str) -> "partial[Any]":
    """Return what makes what a file describes, whose parts are makers too (``_partial_``).

    Raises
    ------
    ConfigError
        The group has no such file, or only Hydra can put it together.
    """
    read = _read(group, name)
    if "_target_" not in read:
        raise ConfigError(_PUT_TOGETHER.format(f"{group}={name}"))
    return _maker(read)


def _maker(read: Mapping[str, Any]) -> "partial[Any]":
    given = {
        key: _maker(value) if isinstance(value, Mapping) and "_target_" in value else value
        for key, value in read.items()
        if key != "defaults" and not key.startswith("_")
    }
    return partial(resolve_name(read["_target_"]), **given)


def chosen_by(group: str, name: str, other: str) -> str | None:
    """Return the choice that a file makes in another group, by an override; None if it makes none.

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
    check_choice(group, name, names(group))
    read: Mapping[str, Any] = yaml.safe_load((CONF_DIR / group / f"{name}.yaml").read_bytes())
    return read
