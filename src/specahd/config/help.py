"""The text of ``--help``: every option of a command in one line, with its current value."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import is_dataclass
from typing import Any, get_args, get_type_hints

from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, OmegaConf, open_dict

from specahd.config import CONF_DIR
from specahd.config.files import choices, command_purpose, groups_of, search_folders
from specahd.config.messages import without_sweeps
from specahd.config.schemas import SCHEMAS
from specahd.config.targets import locate, taker
from specahd.core.errors import ConfigError
from specahd.core.options import Option, stated_options
from specahd.core.settings import RunOptions
from specahd.routing.formats.kinds import STOP_COLUMNS

_SETS = {
    "ablation": "the memory without one of its parts",
    "control": "a smaller system beside which a gain is stated",
    "experiment": "options that belong together",
}
"""Groups that are no option themselves, but set options of others."""
_COLUMN = 42
"""The column where descriptions begin."""
_NEEDED = "…"
_VALUE = 24
"""Most characters of a value that are shown."""
_FLAGS = (
    ("hydra.run.dir=DIR", "where the files of a run go"),
    ("hydra.sweep.dir=DIR", "where the jobs of a sweep go"),
    ("-m, --multirun", "a job for each combination of values: seed=0,1,2"),
    ("--cfg job", "print the configuration in force, and do nothing"),
    ("--version, --help", "print the version, or this"),
)


def flat_options(config: Any, above: Sequence[str] = ()) -> Iterator[tuple[list[str], str]]:
    """Yield the keys that lead to each option of a composed configuration, and its value."""
    for key in config:
        if str(key).startswith("_"):
            continue
        keys = [*above, str(key)]
        if OmegaConf.is_missing(config, key):
            yield keys, _NEEDED
        elif isinstance(config[key], DictConfig) and config[key]:
            yield from flat_options(config[key], keys)
        else:
            yield keys, _format_value(config[key])


def help_text(command: str, arguments: Sequence[str] = ()) -> str:
    """Return the help of a command, for the groups that its arguments choose."""
    overrides = without_sweeps(arguments)
    with initialize_config_dir(str(CONF_DIR), version_base="1.3"):
        config = compose(command, overrides, return_hydra_config=True)
    search_folders(config.hydra.searchpath)
    chosen = config.hydra.runtime.choices
    with open_dict(config):
        del config["hydra"]
    groups = {group: chosen[group] for group in groups_of(command) if group in chosen}
    lines = [f"specahd {command} [option=value …]", "", command_purpose(command), ""]
    if groups:
        lines.append("Groups of options, each a file in conf/:")
        lines += [
            _line(
                f"{group}={_format_value(choice)}",
                f"{_of_group(group)}: {', '.join(choices(group))}",
            )
            for group, choice in groups.items()
        ]
        lines.append("")
    lines.append("Options, with the values in force:")
    # Required options come first.
    ordered = sorted(flat_options(config), key=lambda option: option[1] != _NEEDED)
    lines += [
        _line(f"{'.'.join(keys)}={value}", describe(command, config, keys, groups))
        for keys, value in ordered
        if keys[0] not in groups or len(keys) > 1
    ]
    if command in ("solve", "learn"):
        lines += ["", "Columns of a table of stops (CSV), in any order:"]
        lines += [_line(column, words) for column, words in STOP_COLUMNS.items()]
    lines += ["", "Of every command:", *(_line(*flag) for flag in _FLAGS)]
    return "\n".join(lines) + "\n"


def _of_group(group: str) -> str:
    stated = stated_options(RunOptions).get(group)
    return _SETS[group] if stated is None else stated.words


def describe(
    command: str, config: DictConfig, keys: Sequence[str], groups: Mapping[str, Any]
) -> str:
    """Return the line of an option, as the class that takes it states it.

    Parameters
    ----------
    config
        The composed configuration of the command, with the classes of its groups.
    keys
        What leads to the option in the configuration.
    groups
        The choices, for an option that a user's own class does not describe.
    """
    group, stated = keys[0], None
    # A class of the user's own need not be there for its options to be listed.
    with suppress(ConfigError):
        stated = _stated_option(SCHEMAS[command], config, keys)
    if stated is None:
        return f"an option of {group}={groups.get(group)}"
    return stated.words.replace("{group}", group)


def _stated_option(taker_of: Any, node: Any, names: Sequence[str]) -> Option | None:
    """Return the statement of the option of these names below a node; None if there is none.

    Parameters
    ----------
    taker_of
        The class or function that takes the options of the node.
    """
    kinds = get_type_hints(taker_of) if is_dataclass(taker_of) else {}
    # A group without a type may have one in a training, such as the budget.
    kind = kinds.get(names[0]) or Any
    kind = get_type_hints(RunOptions).get(names[0], Any) if kind is Any and kinds else kind
    if len(names) > 1 and is_dataclass(kind):
        return _stated_option(kind, node[names[0]], names[1:])
    below = node
    for count, name in enumerate(names[:-1], 1):
        below = below[name]
        if "_target_" in below:
            found = locate(f"{'.'.join(names[:count])}._target_", below["_target_"])
            partial = below.get("_partial_", False)
            return _stated_option(taker(found, partial=partial), below, names[count:])
    element = (get_args(kind) or (None,))[-1]
    if len(names) > 2 and is_dataclass(element):
        return _stated_option(element, below, names[2:])
    return stated_options(taker_of).get(names[0])


def _line(option: str, words: str) -> str:
    return f"  {option:{_COLUMN - 4}}  {words}"


def _format_value(value: Any) -> str:
    plain = OmegaConf.to_container(value, resolve=True) if OmegaConf.is_config(value) else value
    text = plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)
    if isinstance(plain, list):
        text = f"[{','.join(map(str, plain))}]"
    text = " ".join(text.split())
    return text if len(text) <= _VALUE else f"{text[: _VALUE - 1]}…"
