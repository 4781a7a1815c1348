"""Look up and instantiate the ``_target_`` classes of a configuration.

A target may be a user's own class. One sentence reports a misspelt name or an error in the class.
"""

import pkgutil
import re
import traceback
from collections.abc import Iterable, Iterator
from importlib import import_module
from inspect import getattr_static
from pathlib import Path
from typing import Any

from hydra.errors import InstantiationException
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

import specahd
from specahd.config.messages import suggestion
from specahd.core.errors import ConfigError, UserError
from specahd.core.options import accepted_arguments

_OURS = Path(specahd.__file__).parent
_HINT = "HYDRA_FULL_ERROR=1 shows the traceback."


def instantiate_group(config: DictConfig, group: str, **overrides: Any) -> Any:
    """Instantiate the class that a group of options describes.

    Parameters
    ----------
    group
        Name of the group.
    overrides
        Values in place of the group's own.
    """
    check_targets(config, group)
    try:
        return instantiate(config, **overrides)
    except InstantiationException as error:
        cause = error.__cause__
        if isinstance(cause, UserError):
            raise cause from None
        if cause is None:
            words = " ".join(str(error).partition("\nfull_key:")[0].split())
            raise ConfigError(f"{group}: {words.rstrip('.')}.") from None
        unexpected = re.search(r"unexpected keyword argument '(\w+)'", str(cause))
        if isinstance(cause, TypeError) and unexpected and unexpected[1] in config:
            raise ConfigError(f"{group}.{unexpected[1]}: no such option.") from None
        place = _raised_at(cause)
        if place is None or place.startswith(f"{_OURS}/"):
            raise
        raise ConfigError(f"{group} cannot be made: {_describe_error(cause)}; {_HINT}") from cause


def check_targets(config: DictConfig, group: str = "") -> None:
    """Refuse a ``_target_`` that does not exist, cannot be imported, or lacks an argument.

    Parameters
    ----------
    group
        The name of the configuration's group; empty for all of it.
    """
    for key, node in _groups_with_target(config, group):
        path = node["_target_"]
        target = locate(f"{key}._target_", path)
        if "_args_" not in node:
            partial = node.get("_partial_", False)
            _check_arguments(key, path, target, {str(name) for name in node}, partial=partial)


def locate(option: str, path: Any) -> Any:
    """Return the class or function of a dotted name."""
    parts = str(path).split(".")
    if len(parts) < 2 or not all(part.isidentifier() for part in parts):
        raise ConfigError(f"Expected {option} to be MODULE.NAME, got {path!r}.")
    setting = f"{option}={path}"
    found: Any = None
    for count, part in enumerate(parts, 1):
        inner = getattr(found, part, None)
        if inner is None:
            inner = _import_or_none(setting, ".".join(parts[:count]))
        if inner is None:
            raise ConfigError(f"{setting}: {_missing_name(found, parts, count)}")
        found = inner
    if not callable(found):
        raise ConfigError(
            f"{setting}: expected a class or a function, got a {type(found).__name__}."
        )
    return found


def _groups_with_target(config: DictConfig, name: str) -> Iterator[tuple[str, DictConfig]]:
    """Yield the groups that have a target, at any depth, by their dotted names."""
    if config.get("_target_") is not None:
        yield name, config
    for key in config:
        if not OmegaConf.is_missing(config, key) and isinstance(config[key], DictConfig):
            yield from _groups_with_target(config[key], ".".join(filter(None, (name, str(key)))))


def _import_or_none(setting: str, name: str) -> Any:
    """Import a module; return None if it does not exist."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            return None
        raise _import_error(setting, error) from error
    except Exception as error:  # a user's own module may raise anything
        raise _import_error(setting, error) from error


def _import_error(setting: str, error: Exception) -> ConfigError:
    return ConfigError(f"{setting} cannot be imported: {_describe_error(error)}; {_HINT}")


def _missing_name(holder: Any, parts: list[str], count: int) -> str:
    """Name the missing part of a dotted name, and suggest a similar one."""
    if holder is None:
        known: Iterable[str] = (module.name for module in pkgutil.iter_modules())
    else:
        folders = getattr(holder, "__path__", ())
        known = {*dir(holder), *(module.name for module in pkgutil.iter_modules(folders))}
    before, part, after = parts[: count - 1], parts[count - 1], parts[count:]
    public = (name for name in known if not name.startswith("_"))
    hint = suggestion(part, public, ".".join([*before, "{}", *after]))
    if before and not hasattr(holder, "__path__"):
        return f"{'.'.join(before)} has no {part}.{hint}"
    what = "module" if after else "module or name"
    return f"there is no {what} {'.'.join([*before, part])}.{hint}"


def _check_arguments(key: str, path: str, target: Any, keys: set[str], *, partial: bool) -> None:
    """Refuse unknown arguments, and missing ones unless ``partial``."""
    try:
        parameters, is_open = accepted_arguments(taker(target, partial=partial))
    except (TypeError, ValueError):
        # Some functions in C have no signature.
        return
    given = {name for name in keys if not name.startswith("_")}
    unknown = sorted(given - parameters.keys())
    if unknown and not is_open:
        hint = suggestion(unknown[0], parameters)
        accepted = "" if partial else f"; accepted: {', '.join(parameters) or 'none'}"
        raise ConfigError(f"{key}.{unknown[0]}: {path} takes no such argument{accepted}.{hint}")
    needed = [name for name, each in parameters.items() if each.default is each.empty]
    missing = [name for name in needed if name not in given]
    if missing and not partial:
        raise ConfigError(f"{key}: {path} needs {missing[0]}; write +{key}.{missing[0]}=VALUE.")


def taker(target: Any, *, partial: bool) -> Any:
    """Return what takes the options of a target.

    A class that makes rounds also receives the parts of a run; its ``check`` takes only options.

    Parameters
    ----------
    partial
        Whether the group makes a factory of the target.
    """
    has_check = isinstance(getattr_static(target, "check", None), staticmethod)
    return target.check if partial and has_check else target


def _describe_error(error: BaseException) -> str:
    """Describe an error of user code in one line, with the place where it was raised."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}, line {error.lineno}: {type(error).__name__}: {error.msg}"
    words = " ".join(str(error).split())
    place = _raised_at(error)
    message = f"{type(error).__name__}: {words}" if words else type(error).__name__
    return message if place is None else f"{place}: {message}"


def _raised_at(error: BaseException) -> str | None:
    """Return the file and line of user code in which an error was raised."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(("<frozen", import_module.__code__.co_filename, __file__))
        and "/hydra/" not in frame.filename
    ]
    if not frames:
        return None
    # The innermost frame may be in a library that the user's code calls.
    folder = Path(frames[0].filename).parent
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(folder)]
    return f"{own[-1].filename}, line {own[-1].lineno}"
