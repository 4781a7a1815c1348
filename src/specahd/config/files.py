"""Read the files of ``conf/`` without Hydra."""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import yaml

from specahd.config import CONF_DIR
from specahd.core.errors import ConfigError
from specahd.core.ranges import check_choice
from specahd.runs.configuration import RENAMED_METHODS

_PUT_TOGETHER = "{} is put together by the commands only; make it in code."

OWN_FOLDERS: ContextVar[tuple[Path, ...]] = ContextVar("own_folders", default=())
"""Folders of the user's own files beside ``conf/``, for the running command."""


@dataclass(frozen=True)
class MethodChoice:
    """What a file of ``conf/method`` chooses.

    Parameters
    ----------
    rounds
        Factory of what makes the rounds of a run.
    memory
        The choice of ``memory`` that comes with it; None if it leaves the default.
    options
        Options of other groups that it sets, by group: ``search``, ``problem``.
    """

    rounds: "partial[Any]"
    memory: str | None = None
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def search_folders(addresses: Iterable[str]) -> None:
    """Look for files in these folders too, which ``hydra.searchpath`` names (``file://FOLDER``)."""
    folders = [Path(each.removeprefix("file://")).absolute() for each in addresses]
    OWN_FOLDERS.set((*OWN_FOLDERS.get(), *filter(Path.is_dir, folders)))


def choices(group: str) -> list[str]:
    """Return the choices of a group, one for each file of its folders."""
    found = (
        path
        for folder in (CONF_DIR, *OWN_FOLDERS.get())
        for path in (folder / group).glob("*.yaml")
    )
    return sorted({path.stem for path in found})


def groups_of(command: str) -> list[str]:
    """Return the groups that a command's options choose from, in the order of its file."""
    read = yaml.safe_load((CONF_DIR / f"{command}.yaml").read_bytes())
    named = [key for entry in read["defaults"] if isinstance(entry, dict) for key in entry]
    return [key for key in named if key != "hydra" and not key.startswith("override ")]


def command_purpose(command: str) -> str:
    """Return a command's purpose, from the first line of its configuration."""
    first = (CONF_DIR / f"{command}.yaml").read_text(encoding="utf-8").partition("\n")[0]
    return first.partition(": ")[2].rstrip(".")


def declared_options(group: str, name: str) -> dict[str, Any]:
    """Return the options that a file declares, without Hydra's own keys."""
    return {key: value for key, value in _read(group, name).items() if not key.startswith("_")}


def suited_options(group: str, name: str, problem: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that a file declares, with those that it leaves to the problem.

    Parameters
    ----------
    problem
        As in :func:`method_of`.
    """
    return _resolved({group: declared_options(group, name)}, problem)[group]


def _resolved(
    groups: Mapping[str, Mapping[str, Any]], problem: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    # Imported here, since solving reads files too, and does not need it.
    from omegaconf import OmegaConf

    register_resolvers()
    whole: Any = OmegaConf.to_container(OmegaConf.merge({"problem": problem}, groups), resolve=True)
    return {group: {key: whole[group][key] for key in groups[group]} for group in groups}


def target_of(group: str, name: str) -> Any:
    """Return the class or function that a file names as its ``_target_``."""
    read = _read(group, name)
    path = read.get("_target_")
    if not isinstance(path, str) or "defaults" in read:
        raise ConfigError(_PUT_TOGETHER.format(f"{group}={name}"))
    try:
        return resolve_name(path)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(
            f"{group}={name} cannot be used: {error} ({path}, its _target_); "
            "name the folder of its code in PYTHONPATH."
        ) from error


def make_from(group: str, name: str, **given: Any) -> Any:
    """Create the object that a file describes, with some options overridden."""
    declared = declared_options(group, name)
    for option in given:
        check_choice(f"an option of {group} {name}", option, declared)
    return target_of(group, name)(**{**declared, **given})


def factory_of(group: str, name: str) -> "partial[Any]":
    """Return a factory of the object that a file describes; its parts are factories too."""
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


def with_methods_of_today(words: Sequence[str]) -> list[str]:
    """Return the words of a command line with the names that methods have now."""
    parts = [word.partition("=") for word in words]
    return [
        "method=" + ",".join(map(_today, rest.split(","))) if head == "method" else word
        for word, (head, _, rest) in zip(words, parts, strict=True)
    ]


def _today(method: str) -> str:
    if method not in RENAMED_METHODS:
        return method
    name = RENAMED_METHODS[method]
    warnings.warn(f"method={method} is named method={name} now.", FutureWarning, stacklevel=2)
    return name


def method_of(method: Callable[..., Any] | str, problem: Mapping[str, Any]) -> MethodChoice:
    """Return what a method chooses, by its name, its class, or what makes its rounds.

    Parameters
    ----------
    method
        The name of a file of ``conf/method``; the class of its search method, whose options may be
        bound (``partial(EoH, population=5)``); or a class that makes rounds, such as
        ``partial(Coupled, policy=Mine)``.
    problem
        The options of the problem and the dotted name of its class (``_target_``), on which
        options of other groups may depend.
    """
    if isinstance(method, str):
        return _method_of_file(_today(method), problem)
    given = method if isinstance(method, partial) else partial(method)
    if hasattr(given.func, "check"):
        return MethodChoice(given)
    for name in choices("method"):
        choice = _method_of_file(name, problem)
        # The coupled search has the policy of another file.
        if choice.memory is not None and choice.rounds.keywords["policy"].func is given.func:
            policy = partial(choice.rounds.keywords["policy"], *given.args, **given.keywords)
            return replace(choice, rounds=partial(choice.rounds, policy=policy))
    called = getattr(given.func, "__qualname__", repr(given.func))
    raise ConfigError(
        f"Expected method to be one of {', '.join(choices('method'))}, the class of one of these, "
        f"or what makes rounds, as partial(Coupled, policy={called}), got {called}."
    )


def _method_of_file(name: str, problem: Mapping[str, Any]) -> MethodChoice:
    read = _read("method", name)
    base, memory = name, None
    for entry in read.get("defaults", []):
        if isinstance(entry, str):
            base = entry.removesuffix("@method")
        else:
            [(key, choice)] = entry.items()
            memory = str(choice) if key.startswith("override /memory@") else memory
    if base == name and "method" not in read:
        return MethodChoice(factory_of("method", name), memory)
    groups = {key: read[key] for key in read if key not in ("defaults", "method")}
    options = _resolved(groups, problem)
    if base == name:
        return MethodChoice(_factory(read["method"]), memory, options)
    return replace(_method_of_file(base, problem), options=options)


def register_resolvers() -> None:
    """Register what files of ``conf/`` may write in place of a value.

    ``${choose:KEY,{KEY:VALUE},OTHER}`` is the table's value for KEY, or else OTHER.
    ``${suited:CHOICE,OTHER}`` is what the problem's class says in ``suited`` for the option where
    it stands and for a choice, or else OTHER.
    ``${if_repair:OPERATOR,VALUE,OTHER}`` is VALUE where the problem has this repair operator.
    """
    from omegaconf import OmegaConf

    OmegaConf.register_new_resolver(
        "choose", lambda key, table, other: table.get(key, other), replace=True
    )
    OmegaConf.register_new_resolver("suited", _suited, replace=True)
    OmegaConf.register_new_resolver("if_repair", _if_repair, replace=True)


def _suited(choice: str, other: Any, *, _node_: Any, _root_: Any) -> Any:
    kind = None
    # A class that is not there is refused when the problem is made.
    with suppress(ImportError, AttributeError, ValueError, SyntaxError):
        kind = resolve_name(_root_.problem["_target_"])
    stated = vars(kind).get("suited", {}) if isinstance(kind, type) else {}
    return stated.get(choice, {}).get(_node_._get_full_key(None), other)


def _if_repair(operator: str, value: Any, other: Any, *, _root_: Any) -> Any:
    return value if _root_.problem.get("repair", operator) == operator else other


def _read(group: str, name: str) -> Mapping[str, Any]:
    check_choice(group, name, choices(group))
    places = [folder / group / f"{name}.yaml" for folder in (CONF_DIR, *OWN_FOLDERS.get())]
    path = next(place for place in places if place.is_file())
    read: Mapping[str, Any] = yaml.safe_load(path.read_bytes())
    return read
