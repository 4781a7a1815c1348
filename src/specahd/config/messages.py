"""Messages for the errors of Hydra and OmegaConf: one sentence that names the option."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from typing import Any

from hydra import compose, initialize_config_dir
from hydra._internal.utils import get_args_parser
from hydra.core.config_store import ConfigStore
from hydra.errors import (
    ConfigCompositionException,
    HydraException,
    MissingConfigException,
    OverrideParseException,
)
from omegaconf import (
    BooleanNode,
    DictConfig,
    FloatNode,
    IntegerNode,
    ListConfig,
    OmegaConf,
    StringNode,
    UnionNode,
)
from omegaconf.errors import (
    ConfigAttributeError,
    ConfigKeyError,
    InterpolationKeyError,
    OmegaConfBaseException,
    ValidationError,
)

from specahd.config import CONF_DIR
from specahd.config.files import choices, groups_of
from specahd.core.errors import ConfigError
from specahd.runs.configuration import SEARCHPATH

# Hydra raises a bare ValueError for a group's choice that is not a name (budget=3).
REFUSALS = (HydraException, OmegaConfBaseException, ValueError)

_NEAR = 0.65
"""Least similarity to an unknown word (difflib's ratio) at which a word is suggested."""
_KINDS: dict[type, str] = {
    IntegerNode: "an integer",
    FloatNode: "a number",
    BooleanNode: "true or false",
    StringNode: "text",
    UnionNode: "a number or text",
    ListConfig: "a list",
}


def message_for(error: Exception, command: str | None = None, words: Sequence[str] = ()) -> str:
    """Return a sentence with the user's input, why it is refused, and what is accepted.

    Parameters
    ----------
    command
        The command whose groups of options are listed as well.
    words
        The command line, from which an override is quoted that the error does not name.
    """
    match error:
        case ConfigCompositionException(__cause__=OmegaConfBaseException() as cause):
            # Hydra wraps OmegaConf's error about the option.
            return message_for(cause, command)
        case ConfigCompositionException(__context__=ConfigKeyError() as cause):
            return message_for(cause, command)
        case MissingConfigException(missing_cfg_file=str(missing)) if "/" in missing:
            group, choice = _divided(missing, words)
            available = ", ".join(error.options or ()) or "none"
            hint = suggestion(choice, error.options or ())
            return (
                f"{group}={choice} is not a choice; available: {available} (and those of a folder "
                f"of your own: {SEARCHPATH}=[file:///FOLDER]).{hint}"
            )
        case OverrideParseException():
            form = "\"option='value'\"" if "=" in str(error.override) else "option=value"
            return f"{error.override!r} cannot be read; write {form}."
        case ConfigAttributeError() | ConfigKeyError():
            return _unknown_option(error, command)
        case InterpolationKeyError() if found := re.search("runtime.choices.([^']+)'", str(error)):
            return f"Expected one choice of {found[1]}; write {found[1]}=NAME."
        case InterpolationKeyError() if (deleted := _deleted(str(error), words)) is not None:
            return f"~{deleted} takes away what other options refer to, expected a value."
        case ValidationError(full_key=str(key)) if key and error.child_node is not None:
            return _wrong_type(key, error.value, error.child_node)
    if (override := _ambiguous_override(error)) is not None:
        return f"{override} names several values; add -m to run them all."
    return _hydra_sentence(str(error), command, words) or _first_line(error)


def _hydra_sentence(text: str, command: str | None, words: Sequence[str]) -> str | None:
    """Return a sentence for an error that Hydra describes in words only."""
    if command is None:
        return None
    if found := re.match("Could not override '([^'@]*)", text):
        return no_such_option(found[1], options_of(command), command)
    if found := re.match(r"Multiple values for ([^@\s]+?)\.\s", text):
        return f"{found[1]} is chosen once; write {found[1]}=NAME without +."
    if found := re.match("Could not append to config. An item is already at '([^']*)'", text):
        return f"{found[1]} has a value already; write {found[1]}=VALUE without +."
    if text.startswith("Config group override must be"):
        for word in words:
            group, _, choice = word.lstrip("+").partition("=")
            if group in groups_of(command) and not _is_name(choice):
                listed = ", ".join(choices(group))
                return f"{word} is not a choice; available: {listed}."
    return None


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    first = lines[0] if lines else type(error).__name__
    return first if first.endswith(".") else f"{first}."


def _is_name(choice: str) -> bool:
    """Return whether Hydra reads a choice as text."""
    return choice.strip("'\"") != choice or re.fullmatch("null|true|false|[0-9.]+", choice) is None


def _divided(missing: str, words: Sequence[str]) -> tuple[str, str]:
    """Return the group and the choice of a file; the choice may contain a slash."""
    for word in words:
        group, given, choice = word.lstrip("+").partition("=")
        if given and f"{group}/{choice}" == missing:
            return group, choice
    group, _, choice = missing.rpartition("/")
    return group, choice


def _deleted(text: str, words: Sequence[str]) -> str | None:
    """Return the option that is deleted on the command line and that an error names."""
    deleted = [word[1:] for word in words if word.startswith("~")]
    return next((word for word in deleted if f"'{word}'" in text), None)


def check_flags(command: str, words: Sequence[str]) -> None:
    """Refuse an option that is written like a flag: ``--time_limit 3``."""
    flags = [flag for action in get_args_parser()._actions for flag in action.option_strings]
    for word, following in zip(words, [*words[1:], "-"], strict=False):
        flag, given, value = word.partition("=")
        known = any(each.startswith(flag) for each in flags) or word[:2] in flags
        if word[:1] != "-" or known:
            continue
        if not given:
            value = "VALUE" if following[:1] == "-" or "=" in following else following
        name = flag.lstrip("-").replace("-", "_")
        accepted = options_of(command)
        if name in accepted:
            raise ConfigError(f"{word}: options have no dashes; write {name}={value}.")
        hint = suggestion(name, accepted, f"{{}}={value}")
        raise ConfigError(f"{word}: no such flag; options are written option=value.{hint}")


def options_of(command: str) -> list[str]:
    """Return the names at the top of a command's configuration, groups of options included."""
    schema = ConfigStore.instance().load(f"{command}_schema.yaml").node
    return sorted({*map(str, schema), *groups_of(command)})


def no_such_option(name: str, accepted: Sequence[str], command: str | None = None) -> str:
    """Return the sentence for an option that does not exist, with the most similar one.

    Parameters
    ----------
    name
        The option's full name.
    accepted
        The names that are accepted in its place, without the part before the last dot.
    command
        The command, if the name stands at the top of its configuration.
    """
    last = name.rpartition(".")[2]
    groups = [] if command is None else groups_of(command)
    if last in groups:
        return f"{name} is a group; write {name}=NAME with one of {', '.join(choices(last))}."
    hint = suggestion(last, accepted)
    near = hint.removeprefix(" Did you mean ").rstrip("?")
    if near in groups:
        hint += f" It may be {', '.join(choices(near))}."
    return f"{name}: no such option; accepted: {', '.join(accepted) or 'none'}.{hint}"


def find_unknown(config: DictConfig, prefix: str = "") -> tuple[str, list[str]] | None:
    """Return the first key that a schema does not have, with the keys that it has.

    Hydra adds any key that is written with ``+``. Groups without a schema are not looked at.
    """
    kind = OmegaConf.get_type(config)
    accepted = sorted(each.name for each in fields(kind)) if is_dataclass(kind) else None
    for key in config:
        name = f"{prefix}{key!s}"
        if accepted is not None and key not in accepted:
            return name, accepted
        node = None if OmegaConf.is_missing(config, key) else config[key]
        found = find_unknown(node, f"{name}.") if isinstance(node, DictConfig) else None
        if found is not None:
            return found
    return None


def simpler_error(error: Exception, config_name: str, words: Sequence[str]) -> Exception:
    """Return the error that remains with the first of an option's values, else ``error``."""
    override = _ambiguous_override(error)
    if override is None:
        return error
    single = without_sweeps(words)
    try:
        with initialize_config_dir(str(CONF_DIR), version_base="1.3"):
            compose(config_name, [*single, override.partition(",")[0]])
    except REFUSALS as other:
        return other
    return error


def without_sweeps(words: Sequence[str]) -> list[str]:
    """Return the options of a command line that have one value, or name folders of one's own."""
    return [
        word
        for word in words
        if "=" in word and ("," not in word or word.startswith(f"{SEARCHPATH}="))
    ]


def _ambiguous_override(error: Exception) -> str | None:
    """Return the override that has several values outside a sweep, None for other errors."""
    found = re.match("Ambiguous value for argument '(.*)'", str(error))
    return found and found[1]


def suggestion(word: str, known: Iterable[str], form: str = "{}") -> str:
    """Return a sentence with the known word that is most similar, empty if none is similar enough.

    ``form`` is the text that the user should write, with ``{}`` in place of the word.
    """
    folded = {each.casefold(): each for each in known}
    close = get_close_matches(word.casefold(), folded, n=1, cutoff=_NEAR)
    return f" Did you mean {form.format(folded[close[0]])}?" if close else ""


def _unknown_option(error: ConfigAttributeError | ConfigKeyError, command: str | None) -> str:
    node, full = error.parent_node, str(error.full_key)
    if "." not in full and command is not None:
        return no_such_option(full, options_of(command), command)
    accepted = []
    if isinstance(node, DictConfig):
        if not node and not is_dataclass(OmegaConf.get_type(node)):
            return f"{full} has no value yet; add it: +{full}=VALUE."
        # A leading underscore marks a key of Hydra's instantiate.
        accepted = sorted(key for key in map(str, node) if not key.startswith("_"))
    if not accepted:
        return f"{full}: no such option; {full.rpartition('.')[0]} as it is chosen has none."
    return no_such_option(full, accepted)


def _wrong_type(key: str, value: Any, node: Any) -> str:
    given = "null" if value is None else repr(value)
    if isinstance(node, DictConfig):
        options = ", ".join(f"{key}.{name!s}" for name in node)
        return f"{key} is a group of options; set one of {options}, got {given}."
    kind = _KINDS.get(type(node), "of another type")
    return f"Expected {key} to be {kind}, got {given}."
