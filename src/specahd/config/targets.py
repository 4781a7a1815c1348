"""What each ``_target_`` of a configuration names: looked up, then made, or refused in a sentence.

It may be a user's own class, misspelt or broken, so a sentence tells which of both.
"""

import pkgutil
import traceback
from collections.abc import Iterable, Iterator
from importlib import import_module
from inspect import Parameter, getattr_static, signature
from pathlib import Path
from typing import Any

from hydra.errors import InstantiationException
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

import specahd
from specahd.config.messages import near
from specahd.core.errors import ConfigError, UserError

_OURS = Path(specahd.__file__).parent
_HINT = "HYDRA_FULL_ERROR=1 shows the traceback."


def made(config: DictConfig, group: str, **given: Any) -> Any:
    """Return what a group of options describes.

    Parameters
    ----------
    group
        Its name.
    given
        Values in place of the group's own.

    Raises
    ------
    UserError
        As :func:`check_targets`, or what is made refuses an option.
    """
    check_targets(config, group)
    try:
        return instantiate(config, **given)
    except InstantiationException as error:
        cause = error.__cause__
        if isinstance(cause, UserError):
            raise cause from None
        if cause is None:
            words = " ".join(str(error).partition("\nfull_key:")[0].split())
            raise ConfigError(f"{group}: {words.rstrip('.')}.") from None
        place = _place(cause)
        if place is None or place.startswith(f"{_OURS}/"):
            raise
        raise ConfigError(f"{group} cannot be made: {_told(cause)}; {_HINT}") from cause


def check_targets(config: DictConfig, group: str = "") -> None:
    """Refuse a ``_target_`` that is not there, cannot be imported, or lacks an argument.

    Parameters
    ----------
    group
        The name of the configuration's group; empty for all of it.

    Raises
    ------
    ConfigError
        With one sentence that names the option.
    """
    for key, node in _described(config, group):
        path = node["_target_"]
        target = locate(f"{key}._target_", path)
        if "_args_" not in node:
            partial = node.get("_partial_", False)
            _check_arguments(key, path, target, {str(name) for name in node}, partial=partial)


def locate(option: str, path: Any) -> Any:
    """Return the class or function of a dotted name.

    Raises
    ------
    ConfigError
        There is none, or a module cannot be imported.
    """
    parts = str(path).split(".")
    if len(parts) < 2 or not all(part.isidentifier() for part in parts):
        raise ConfigError(f"Expected {option} to be MODULE.NAME, got {path!r}.")
    said = f"{option}={path}"
    found: Any = None
    for count, part in enumerate(parts, 1):
        inner = getattr(found, part, None)
        if inner is None:
            inner = _imported(said, ".".join(parts[:count]))
        if inner is None:
            raise ConfigError(f"{said}: {_missing(found, parts, count)}")
        found = inner
    if not callable(found):
        raise ConfigError(f"{said}: expected a class or a function, got a {type(found).__name__}.")
    return found


def _described(config: DictConfig, name: str) -> Iterator[tuple[str, DictConfig]]:
    """Yield the groups that have a target, at any depth, by their dotted names."""
    if config.get("_target_") is not None:
        yield name, config
    for key in config:
        if not OmegaConf.is_missing(config, key) and isinstance(config[key], DictConfig):
            yield from _described(config[key], ".".join(filter(None, (name, str(key)))))


def _imported(said: str, name: str) -> Any:
    """Return a module, None if there is none of this name."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            return None
        raise _broken(said, error) from error
    except Exception as error:  # whatever a user's own module raises
        raise _broken(said, error) from error


def _broken(said: str, error: Exception) -> ConfigError:
    return ConfigError(f"{said} cannot be imported: {_told(error)}; {_HINT}")


def _missing(holder: Any, parts: list[str], count: int) -> str:
    """Say what of a dotted name is not there, and which one may be meant."""
    if holder is None:
        known: Iterable[str] = (module.name for module in pkgutil.iter_modules())
    else:
        folders = getattr(holder, "__path__", ())
        known = {*dir(holder), *(module.name for module in pkgutil.iter_modules(folders))}
    before, part, after = parts[: count - 1], parts[count - 1], parts[count:]
    close = near(part, (name for name in known if not name.startswith("_")))
    hint = "" if close is None else f" Did you mean {'.'.join([*before, close, *after])}?"
    if before and not hasattr(holder, "__path__"):
        return f"{'.'.join(before)} has no {part}.{hint}"
    what = "module" if after else "module or name"
    return f"there is no {what} {'.'.join([*before, part])}.{hint}"


def _check_arguments(key: str, path: str, target: Any, keys: set[str], *, partial: bool) -> None:
    """Refuse options that a class or function does not take; in full, also to lack one."""
    # The rounds of a method are given the parts of a run too; what is checked is its options.
    check = getattr_static(target, "check", None)
    try:
        arguments = signature(
            target.check if partial and isinstance(check, staticmethod) else target
        ).parameters.values()
    except (TypeError, ValueError):
        # Some that are written in C do not tell.
        return
    named = {each.name: each for each in arguments if each.kind in _NAMED}
    given = {name for name in keys if not name.startswith("_")}
    unknown = sorted(given - named.keys())
    if unknown and not any(each.kind is Parameter.VAR_KEYWORD for each in arguments):
        close = near(unknown[0], named)
        hint = "" if close is None else f" Did you mean {close}?"
        accepted = "" if partial else f"; accepted: {', '.join(named) or 'none'}"
        raise ConfigError(f"{key}.{unknown[0]}: {path} takes no such argument{accepted}.{hint}")
    needed = [name for name, each in named.items() if each.default is each.empty]
    lacking = [name for name in needed if name not in given]
    if lacking and not partial:
        raise ConfigError(f"{key}: {path} needs {lacking[0]}; write +{key}.{lacking[0]}=VALUE.")


_NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


def _told(error: BaseException) -> str:
    """Return an error of somebody's own code in one line, and where it was raised."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}, line {error.lineno}: {type(error).__name__}: {error.msg}"
    words = " ".join(str(error).split())
    place = _place(error)
    said = f"{type(error).__name__}: {words}" if words else type(error).__name__
    return said if place is None else f"{place}: {said}"


def _place(error: BaseException) -> str | None:
    """Return the file and the line of one's own code in which an error was raised."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(("<frozen", import_module.__code__.co_filename, __file__))
        and "/hydra/" not in frame.filename
    ]
    if not frames:
        return None
    # What it calls may be a library's, which it hands nonsense.
    home = Path(frames[0].filename).parent
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(home)]
    return f"{own[-1].filename}, line {own[-1].lineno}"
