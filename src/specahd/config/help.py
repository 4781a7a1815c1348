"""The text of ``--help``: every option of a command in one line, with its current value."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, OmegaConf, open_dict

from specahd.config import CONF_DIR
from specahd.config.descriptions import GROUPS, describe
from specahd.config.files import choices, command_purpose, search_folders
from specahd.config.messages import without_sweeps
from specahd.routing.formats.kinds import STOP_COLUMNS

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


def flat_options(config: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the dotted names of a composed configuration's options, with formatted values."""
    for key in config:
        if str(key).startswith("_"):
            continue
        name = f"{prefix}{key}"
        if OmegaConf.is_missing(config, key):
            yield name, _NEEDED
        elif isinstance(config[key], DictConfig) and config[key]:
            yield from flat_options(config[key], f"{name}.")
        else:
            yield name, _format_value(config[key])


def help_text(command: str, arguments: Sequence[str] = ()) -> str:
    """Return the help of a command, for the groups that its arguments choose.

    Raises
    ------
    HydraException or OmegaConfBaseException
        The arguments cannot be composed.
    """
    overrides = without_sweeps(arguments)
    with initialize_config_dir(str(CONF_DIR), version_base="1.3"):
        config = compose(command, overrides, return_hydra_config=True)
    search_folders(config.hydra.searchpath)
    chosen = config.hydra.runtime.choices
    with open_dict(config):
        del config["hydra"]
    groups = {group: chosen[group] for group in GROUPS if group in chosen}
    lines = [f"specahd {command} [option=value …]", "", command_purpose(command), ""]
    if groups:
        lines.append("Groups of options, each a file in conf/:")
        lines += [
            _line(
                f"{group}={_format_value(choice)}", f"{GROUPS[group]}: {', '.join(choices(group))}"
            )
            for group, choice in groups.items()
        ]
        lines.append("")
    lines.append("Options, with the values in force:")
    # Required options come first.
    ordered = sorted(flat_options(config), key=lambda option: option[1] != _NEEDED)
    lines += [
        _line(f"{name}={value}", _description(command, name, groups))
        for name, value in ordered
        if name not in groups
    ]
    if command == "solve":
        lines += ["", "Columns of a table of stops (CSV), in any order:"]
        lines += [_line(column, words) for column, words in STOP_COLUMNS.items()]
    lines += ["", "Of every command:", *(_line(*flag) for flag in _FLAGS)]
    return "\n".join(lines) + "\n"


def _description(command: str, option: str, groups: Mapping[str, Any]) -> str:
    """Return an option's description; one of a user's own class is told by its group."""
    try:
        return describe(command, option)
    except KeyError:
        group = option.partition(".")[0]
        return f"an option of {group}={groups.get(group)}"


def _line(option: str, words: str) -> str:
    return f"  {option:{_COLUMN - 4}}  {words}"


def _format_value(value: Any) -> str:
    plain = OmegaConf.to_container(value, resolve=True) if OmegaConf.is_config(value) else value
    text = plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)
    if isinstance(plain, list):
        text = f"[{','.join(map(str, plain))}]"
    text = " ".join(text.split())
    return text if len(text) <= _VALUE else f"{text[: _VALUE - 1]}…"
