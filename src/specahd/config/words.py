"""The words of a command line that names a file without its option."""

from collections.abc import Sequence
from pathlib import Path

from specahd.core.errors import ConfigError

_TAKE_A_WORD = ("--cfg", "-c", "--package", "-p", "--info", "-i")
"""Flags of Hydra's that the next word belongs to."""


def with_file(words: Sequence[str]) -> list[str]:
    """Return the words of the command line with the file by its option, as Hydra wants it.

    Raises
    ------
    ConfigError
        There is more than one file.
    """
    files: list[str] = []
    others: list[str] = []
    for before, word in zip(["", *words], words, strict=False):
        plain = "=" not in word and not word.startswith("-") and before not in _TAKE_A_WORD
        (files if plain else others).append(word)
        if word.startswith("out="):
            # Beside a file of the user's own no new folder is made.
            others.append(f"hydra.run.dir={_text(str(Path(word[4:]).parent))}")
    if len(files) > 1:
        raise ConfigError(f"Expected one file, got {' and '.join(files)}.")
    return [*(f"instance={_text(file)}" for file in files), *others]


def _text(word: str) -> str:
    """Return a word in quotation marks, so that Hydra reads nothing into it."""
    escaped = word.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
