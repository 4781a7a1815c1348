"""Keys of model services; configurations name their source, never the key itself."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from specahd.core.errors import ConfigError, FileError
from specahd.core.services import check_variable, host_of
from specahd.llm.masking import MASK, mask_secret

KEY_FILE = "SPECAHD_API_KEY_FILE"
"""Environment variable that names a file with one key, for those who keep keys in files."""

_KEYLESS = {"llm": "llm=offline", "memory": "memory=structural"}
# Letters and digits in a row of a key: in a reply, where a word of a program may be one of the
# key's (sk-no-key-required), and in a message.
_OF_REPLY, _OF_MESSAGE = 12, 6
_KEY = re.compile(r"[!-~]+")


@dataclass(frozen=True, slots=True)
class Key:
    """A secret whose ``repr`` does not show it.

    Parameters
    ----------
    value
        The secret.
    source
        The variable or the file that holds it: what a message may name.
    """

    value: str = field(repr=False)
    source: str

    def mask_reply(self, text: str) -> str:
        """Mask the key in a reply of the service, which may repeat it."""
        return mask_secret(text, self.value, _OF_REPLY)

    def mask_message(self, text: str) -> str:
        """Mask the key, and parts of it, in a message of the service."""
        # Here even a short one goes: no program is spoilt by it.
        return mask_secret(text.replace(self.value, MASK), self.value, _OF_MESSAGE)


def find_key(variable: str, service: str, group: str = "llm") -> Key:
    """Return the key in an environment variable, or else in the file of ``KEY_FILE``.

    Parameters
    ----------
    variable
        Name of the environment variable; it goes first. The file is for the language
        model alone: a key must not go to another service.
    service
        The name of the service, for messages.
    group
        The conf group that names the variable, for messages.

    Raises
    ------
    ConfigError
        There is no key, or it is not one.
    FileError
        The file cannot be read.
    """
    check_variable(variable, group)
    value, source = os.environ.get(variable, "").strip(), variable
    path = os.environ.get(KEY_FILE, "").strip() if group == "llm" else ""
    if not value and path:
        try:
            value, source = Path(path).read_text(encoding="utf-8").strip(), path
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text"
            raise FileError(f"Cannot read {path}, which {KEY_FILE} names: {reason}.") from None
    if not value:
        alternative = f", or in the file that {KEY_FILE} names" if group == "llm" else ""
        raise ConfigError(
            f"Expected the key of {service} in the environment variable {variable}{alternative}; "
            f"{_KEYLESS[group]} needs no key."
        )
    # A header takes no other characters, and would repeat the key in its complaint.
    if not _KEY.fullmatch(value):
        raise ConfigError(
            f"Expected one key of printable ASCII characters without spaces in {source}."
        )
    return Key(value, source)


def require_keys(options: object, group: str = "llm") -> None:
    """Refuse a service whose key is missing, in a conf group and the groups below it.

    The classes that are made from the group do so too, but not before all that they import.

    Raises
    ------
    ConfigError, FileError
        As :func:`find_key`.
    """
    if not isinstance(options, Mapping):
        return
    variable, base_url = options.get("api_key_env"), options.get("base_url")
    if variable is not None and base_url is not None:
        find_key(variable, host_of(base_url, group), group)
    for part in options.values():
        require_keys(part, group)
