"""Read a run's saved configuration; list the options by what they change."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from specahd.core.errors import FileError
from specahd.core.options import Effect, effects
from specahd.core.plain import convert, parse_yaml, read_bytes
from specahd.core.services import EncoderOptions, ModelOptions
from specahd.core.settings import RunOptions

_LIMIT = 1 << 18
_RETIRED = ("tiers",)
"""Groups of options that earlier versions had; what they chose is no choice any more."""

SEARCHPATH = "hydra.searchpath"
"""The option that names folders of the user's own files; a run's ``choices`` keep it."""

_EFFECTS = {
    **effects(RunOptions),
    **effects(ModelOptions, "llm."),
    **effects(EncoderOptions, "memory."),
    SEARCHPATH: Effect.ACCESS,
}


def options_with(*wanted: Effect) -> tuple[str, ...]:
    """Return the options, and groups of options, that have one of some effects."""
    return tuple(name for name, effect in _EFFECTS.items() if effect in wanted)


def read_configuration(path: Path, kind: Any) -> dict[str, Any]:
    """Return a run's configuration as plain values.

    Parameters
    ----------
    kind
        The type of the required fields (:mod:`specahd.core.plain`); the file may have more.

    Raises
    ------
    FileError
        The file cannot be read, or is not a run's configuration.
    """
    try:
        found: dict[str, Any] = parse_yaml(read_bytes(path, _LIMIT), dict[str, Any])
        convert(found, kind)
    except ValueError as error:
        raise FileError(f"{path} is not the configuration of a run ({error}).") from None
    return {key: value for key, value in found.items() if key not in _RETIRED}


def flatten(values: Mapping[str, Any]) -> dict[str, Any]:
    """Flatten nested groups to options with dotted names."""
    options = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            options.update({f"{key}.{name}": item for name, item in flatten(value).items()})
        else:
            options[str(key)] = value
    return options


def is_covered_by(key: str, options: Iterable[str]) -> bool:
    """Return whether a dotted name is one of the options or lies in one of the groups."""
    return any(key == option or key.startswith(f"{option}.") for option in options)
