"""Where the key of a model service comes from; configurations name the place, never the key."""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from specahd.core.errors import ConfigError, FileError

KEY_FILE = "SPECAHD_API_KEY_FILE"
"""Environment variable that names a file with one key, for those who keep keys in files."""

_KEYLESS = {"llm": "llm=offline", "memory": "memory=structural"}
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEY = re.compile(r"[!-~]+")


@dataclass(frozen=True, slots=True)
class Key:
    """A secret that its own ``repr`` does not tell.

    Parameters
    ----------
    value
        The secret.
    source
        The variable or the file that holds it: what a message may name.
    """

    value: str = field(repr=False)
    source: str


def find_key(variable: str, service: str, group: str = "llm") -> Key:
    """Return the key in an environment variable, or else in the file of ``KEY_FILE``.

    Parameters
    ----------
    variable
        Name of the environment variable; it goes first. The file is for the language
        model alone: a key must not go to another service.
    service
        Whose key it is, for messages.
    group
        The conf group that names the variable, for messages.

    Raises
    ------
    ConfigError
        There is no key, or it is not one.
    FileError
        The file cannot be read.
    """
    # A key written where its variable's name belongs must not be told back.
    if not (isinstance(variable, str) and _VARIABLE.fullmatch(variable)):
        raise ConfigError(f"Expected {group}.api_key_env to name an environment variable.")
    value, source = os.environ.get(variable, "").strip(), variable
    path = os.environ.get(KEY_FILE, "").strip() if group == "llm" else ""
    if not value and path:
        try:
            value, source = Path(path).read_text(encoding="utf-8").strip(), path
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text"
            raise FileError(f"Cannot read {path}, which {KEY_FILE} names: {reason}.") from None
    if not value:
        beside = f", or in the file that {KEY_FILE} names" if group == "llm" else ""
        raise ConfigError(
            f"Expected the key of {service} in the environment variable {variable}{beside}; "
            f"{_KEYLESS[group]} needs no key."
        )
    # A header takes no other characters, and would repeat the key in its complaint.
    if not _KEY.fullmatch(value):
        raise ConfigError(
            f"Expected one key of printable ASCII characters without spaces in {source}."
        )
    return Key(value, source)
