"""Messages for the errors of Hydra and OmegaConf: one sentence that names the option."""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.errors import (
    ConfigCompositionException,
    HydraException,
    MissingConfigException,
    OverrideParseException,
)
from omegaconf import BooleanNode, DictConfig, FloatNode, IntegerNode, ListConfig, StringNode
from omegaconf.errors import (
    ConfigAttributeError,
    ConfigKeyError,
    OmegaConfBaseException,
    ValidationError,
)

from specahd.config import CONF_DIR

# Hydra raises a bare ValueError for a group's choice that is not a name (budget=3).
REFUSALS = (HydraException, OmegaConfBaseException, ValueError)

_NEAR = 0.65
"""Least similarity to an unknown word (difflib's ratio) at which a word is suggested."""
_KINDS: dict[type, str] = {
    IntegerNode: "an integer",
    FloatNode: "a number",
    BooleanNode: "true or false",
    StringNode: "text",
    ListConfig: "a list",
}


def message_for(error: Exception) -> str:
    """Return a sentence with the user's input, why it is refused, and what is accepted."""
    match error:
        case ConfigCompositionException(__cause__=OmegaConfBaseException() as cause):
            # Hydra wraps OmegaConf's error about the option.
            return message_for(cause)
        case MissingConfigException(missing_cfg_file=str(missing)) if "/" in missing:
            group, _, choice = missing.rpartition("/")
            available = ", ".join(error.options or ()) or "none"
            hint = suggestion(choice, error.options or ())
            return (
                f"{group}={choice} is not a choice; available: {available} (and those of a folder "
                f"of your own: hydra.searchpath=[file:///FOLDER]).{hint}"
            )
        case OverrideParseException():
            form = "\"option='value'\"" if "=" in str(error.override) else "option=value"
            return f"{error.override!r} cannot be read; write {form}."
        case ConfigAttributeError() | ConfigKeyError():
            return _unknown_option(error)
        case ValidationError(full_key=str(key)) if key and error.child_node is not None:
            return _wrong_type(key, error.value, error.child_node)
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    first = lines[0] if lines else type(error).__name__
    if (override := _ambiguous_override(error)) is not None:
        return f"{override} names several values; add -m to run them all."
    return first if first.endswith(".") else f"{first}."


def simpler_error(error: Exception, config_name: str, words: Sequence[str]) -> Exception:
    """Return the error that remains with the first of an option's values, else ``error``."""
    override = _ambiguous_override(error)
    if override is None:
        return error
    single = [word for word in words if "=" in word and "," not in word]
    try:
        with initialize_config_dir(str(CONF_DIR), version_base="1.3"):
            compose(config_name, [*single, override.partition(",")[0]])
    except REFUSALS as other:
        return other
    return error


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


def _unknown_option(error: ConfigAttributeError | ConfigKeyError) -> str:
    accepted = []
    if isinstance(error.parent_node, DictConfig):
        # A leading underscore marks a key of Hydra's instantiate.
        keys = [str(key) for key in error.parent_node]
        accepted = sorted(key for key in keys if not key.startswith("_") and key != "hydra")
    hint = suggestion(str(error.key), accepted)
    return f"{error.full_key}: no such option; accepted: {', '.join(accepted) or 'none'}.{hint}"


def _wrong_type(key: str, value: Any, node: Any) -> str:
    given = "null" if value is None else repr(value)
    if isinstance(node, DictConfig):
        options = ", ".join(f"{key}.{name!s}" for name in node)
        return f"{key} is a group of options; set one of {options}, got {given}."
    kind = _KINDS.get(type(node), "of another type")
    return f"Expected {key} to be {kind}, got {given}."
