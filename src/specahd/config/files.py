"""What a file of ``conf/`` says, for those who do without Hydra."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from specahd.config import CONF_DIR
from specahd.core.errors import ConfigError
from specahd.core.plain import parse_yaml
from specahd.core.ranges import one_of


def names(group: str) -> list[str]:
    """Return the choices of a group, one for each file of its folder."""
    return sorted(path.stem for path in (CONF_DIR / group).glob("*.yaml"))


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
        raise ConfigError(f"{group}={name} is put together by the commands only; make it in code.")
    module, _, attribute = path.rpartition(".")
    return getattr(import_module(module), attribute)


def make(group: str, name: str, **given: Any) -> Any:
    """Return what a file describes, with other values for some of its options.

    Raises
    ------
    ConfigError
        There is no such file or option, or a value is out of range.
    """
    declared = options(group, name)
    for option in given:
        one_of(f"an option of {group} {name}", option, declared)
    maker = target(group, name)
    return maker(**{**declared, **given})


def _read(group: str, name: str) -> Mapping[str, Any]:
    one_of(group, name, names(group))
    read: Mapping[str, Any] = parse_yaml((CONF_DIR / group / f"{name}.yaml").read_bytes())
    return read
