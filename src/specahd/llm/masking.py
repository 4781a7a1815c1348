"""Takes a key out of a text, however it is spelt there.

A service that repeats the key may do so in capitals, in pieces, escaped for an address or a
string, or backwards. What it encrypts or translates is not found: it has the key anyway.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import groupby

MASK = "***"

_SHORTEST = 8
"""Letters and digits of the shortest secret: local servers take EMPTY and the like for a key."""
_PLAIN = re.compile(r".", re.DOTALL)
# A character by its number, or a blank of a string constant; else it stands for itself.
_ESCAPED = re.compile(
    r"(?:%(?:25)*|\\+x|\\+u00|&#x0*)([0-9a-f]{2})|&#0*(\d{2,3})|(\\+[abfnrtv])|.",
    re.DOTALL | re.IGNORECASE,
)


def masked(text: str, secret: str, piece: int) -> str:
    """Return a text in which so many letters and digits in a row of a secret do not stand.

    Upper and lower case are one, what stands between letters and digits does not count, nor
    does it whether they are escaped, nor the direction. A secret of fewer than 8 is none.
    """
    key = "".join(letter for letter, _ in _letters(secret, _PLAIN))
    if len(key) < _SHORTEST:
        return text
    size = min(piece, len(key))
    wanted = {spelt[i : i + size] for spelt in (key, key[::-1]) for i in range(len(key) - size + 1)}
    for token in (_PLAIN, _ESCAPED):
        text = _without(text, wanted, size, token)
    return text


def _without(text: str, wanted: set[str], size: int, token: re.Pattern[str]) -> str:
    found = list(_letters(text, token))
    letters = "".join(letter for letter, _ in found)
    told = [False] * len(found)
    for i in range(len(found) - size + 1):
        if letters[i : i + size] in wanted:
            told[i : i + size] = [True] * size
    kept, end = [], 0
    for is_told, run in groupby(range(len(found)), told.__getitem__):
        if is_told:
            first, *_, last = run
            kept.append(text[end : found[first][1][0]])
            end = found[last][1][1]
    return MASK.join([*kept, text[end:]])


def _letters(text: str, token: re.Pattern[str]) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the letters and digits of a text in one spelling, each with where it stands."""
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
