"""Removal of a key from a text, in any spelling.

A service may repeat the key in capitals, in pieces, or escaped for an address or a string. A
reversed, encrypted or translated key is not found; the service has the key anyway.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import groupby

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
