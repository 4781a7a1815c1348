"""Keys of model services; configurations name their source, never the key itself.

Keys are masked in what a service says. It may repeat a key in capitals, in pieces, or escaped for
an address or a string. A reversed, encrypted or translated key is not found; the service has it
anyway.
"""

import os
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from specahd.core.errors import ConfigError, FileError
from specahd.core.services import check_variable, host_of

MASK = "***"

_SHORTEST = 8
"""Number of letters and digits of the shortest secret; local servers use keys like EMPTY."""
_PASSES = 8
"""Number of times that a text is searched; a secret within a secret takes three."""
_PLAIN = re.compile(r".", re.DOTALL)
# A character escaped by its number, an escaped blank of a string, or any plain character.
_ESCAPED = re.compile(
    r"(?:%(?:25)*|\\+x|\\+u00|&#x0*)([0-9a-f]{2})|&#0*(\d{2,3})|(\\+[abfnrtv])|.",
    re.DOTALL | re.IGNORECASE,
)


def mask_secret(text: str, secret: str, piece: int) -> str:
    """Return a text in which any ``piece`` consecutive letters and digits of a secret are masked.

    Case, escapes and the characters between letters and digits are ignored. A secret of fewer
    than 8 letters and digits is not masked. A text that nests the secret in pieces of itself is
    masked as a whole.
    """
    key = "".join(letter for letter, _ in _alphanumerics(secret, _PLAIN))
    if len(key) < _SHORTEST:
        return text
    size = min(piece, len(key))
    wanted = {key[i : i + size] for i in range(len(key) - size + 1)}
    # What is left around a masked secret may form it again.
    for _ in range(_PASSES):
        hidden = bytearray(len(text))
        for token in (_PLAIN, _ESCAPED):
            for start, end in _find_secret(text, wanted, size, token):
                hidden[start:end] = b"\1" * (end - start)
        if not any(hidden):
            return text
        runs = groupby(range(len(text)), hidden.__getitem__)
        text = "".join(MASK if is_told else "".join(text[i] for i in run) for is_told, run in runs)
    return MASK


def _find_secret(
    text: str, wanted: set[str], size: int, token: re.Pattern[str]
) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each occurrence in one spelling of a text."""
    found = list(_alphanumerics(text, token))
    letters = "".join(letter for letter, _ in found)
    for i in range(len(found) - size + 1):
        if letters[i : i + size] in wanted:
            yield found[i][1][0], found[i + size - 1][1][1]


def _alphanumerics(text: str, token: re.Pattern[str]) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the letters and digits of a text in one spelling, with their positions."""
    for match in token.finditer(text):
        for letter in unicodedata.normalize("NFKC", _read(match)).casefold():
            if letter.isalnum():
                yield letter, match.span()


def _read(match: re.Match[str]) -> str:
    if match.lastindex is None:
        return match[0]
    if match.lastindex == 3:
        return ""
    return chr(int(match[match.lastindex], 16 if match.lastindex == 1 else 10))


KEY_FILE = "SPECAHD_API_KEY_FILE"
"""Environment variable that names a file: one key, or a line NAME=KEY for each variable."""

_KEYLESS = {"llm": "llm=offline", "memory": "memory=structural"}
# Numbers of consecutive letters and digits of a key that are masked, in a reply and in a message.
# A reply needs more, because a program may share a word with the key (sk-no-key-required).
_OF_REPLY, _OF_MESSAGE = 12, 6
_KEY = re.compile(r"[!-~]+")
_LINE = re.compile(r"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)=(.*)")
_OWNERS: dict[str, str] = {}
"""The service of each key that stands in a file without a name."""


@dataclass(frozen=True, slots=True)
class Key:
    """A secret whose ``repr`` does not show it.

    Parameters
    ----------
    value
        The secret.
    source
        The variable or the file that holds it, which a message may name.
    """

    value: str = field(repr=False)
    source: str

    def mask_reply(self, text: str) -> str:
        """Mask the key in a reply of the service, which may repeat it."""
        return mask_secret(text, self.value, _OF_REPLY)

    def mask_message(self, text: str) -> str:
        """Mask the key, and parts of it, in a message of the service."""
        # Here even a short part is masked: a message holds no program.
        return mask_secret(text.replace(self.value, MASK), self.value, _OF_MESSAGE)


def find_key(variable: str, service: str, group: str = "llm") -> Key:
    """Return the key in an environment variable, or else in the file of ``KEY_FILE``.

    Parameters
    ----------
    variable
        Name of the environment variable, which takes precedence. A key that stands in the file
        without a name is for one service, a language model: no other is sent it.
    service
        The name of the service, for messages.
    group
        The conf group that names the variable, for messages.

    Raises
    ------
    ConfigError
        There is no key, the value is not a valid key, or the key is of another service.
    FileError
        The file cannot be read.
    """
    check_variable(variable, group)
    value, source = os.environ.get(variable, "").strip(), variable
    path = os.environ.get(KEY_FILE, "").strip()
    named = False
    if not value and path:
        value, named = _read_key(path, variable)
        source = path
        if not named and group != "llm":
            value = ""
    if not value:
        raise ConfigError(
            f"Expected the key of {service} in the environment variable {variable}, or in a line "
            f"{variable}=KEY of the file that {KEY_FILE} names; {_KEYLESS[group]} needs no key."
        )
    # A header accepts no other characters, and its error would contain the key.
    if not _KEY.fullmatch(value):
        raise ConfigError(
            f"Expected one key of printable ASCII characters without spaces in {source}."
        )
    if source == path and not named:
        owner = _OWNERS.setdefault(value, service)
        if owner != service:
            raise ConfigError(
                f"The key in {path} is for {owner}, so {service} is not sent it; set {variable}, "
                f"or write a line NAME=KEY for each provider into the file, such as {variable}=KEY."
            )
    return Key(value, source)


def _read_key(path: str, variable: str) -> tuple[str, bool]:
    """Return the key that a file holds for a variable, if any, and whether the file names it."""
    try:
        text = Path(path).read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise FileError(f"Cannot read {path}, which {KEY_FILE} names: {reason}.") from None
    lines = [line.strip() for line in text.splitlines() if line.strip() and line[:1] != "#"]
    found = [match for match in map(_LINE.fullmatch, lines) if match]
    if not found or len(found) < len(lines):
        return text, False
    return {match[1]: match[2] for match in found}.get(variable, "").strip(), True


def require_keys(options: object, group: str = "llm") -> None:
    """Raise if the key of a service is missing, in a conf group and the groups below it.

    The classes that are made from the group check this too, but only after their imports.

    Raises
    ------
    ConfigError, FileError
        The errors of :func:`find_key`.
    """
    if not isinstance(options, Mapping):
        return
    variable, base_url = options.get("api_key_env"), options.get("base_url")
    if variable is not None and base_url is not None:
        find_key(variable, host_of(base_url, group), group)
    for part in options.values():
        require_keys(part, group)
