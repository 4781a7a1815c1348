"""The words of a command line that names a file without its option."""

from collections.abc import Sequence
from pathlib import Path

from specahd.core.errors import ConfigError

_TAKE_A_WORD = ("--cfg", "-c", "--package", "-p", "--info", "-i")
"""Flags of Hydra's that the next word belongs to."""
_SWEEPING = ("--multirun", "-m")
_WRITTEN = ("out", "plot")
"""Options that name a file to write."""
_FILES = ("instance", "incumbent", "matrix", "checkpoint", *_WRITTEN)
"""Options that name a file."""


def with_file(words: Sequence[str]) -> list[str]:
    """Return the words of the command line with files in quotation marks, as Hydra wants them.

    Raises
    ------
    ConfigError
        There is more than one file, or all jobs of a sweep would write one file.
    """
    files: list[str] = []
    others: list[str] = []
    sweeping = any(word in _SWEEPING for word in words)
    for before, word in zip(["", *words], words, strict=False):
        option, given, value = word.partition("=")
        if not given and not word.startswith("-") and before not in _TAKE_A_WORD:
            files.append(word)
        elif sweeping and option in _WRITTEN and not set(",$") & set(value):
            raise ConfigError(f"Expected no {word} with -m: each job would write this file.")
        elif option in _FILES and not sweeping and _is_plain(value):
            others.append(f"{option}={_text(value)}")
        else:
            others.append(word)
        if option == "out":
            # Beside a file of the user's own no new folder is made.
            others.append(f"hydra.run.dir={_text(str(Path(value).parent))}")
    named = [*files, *(word[9:].strip("'") for word in others if word.startswith("instance="))]
    if len(named) > 1:
        raise ConfigError(f"Expected one file, got {' and '.join(named)}.")
    return [*(f"instance={_text(file)}" for file in files), *others]


def _is_plain(value: str) -> bool:
    """Say whether Hydra should take a value as it is: no quotation marks, null, or reference."""
    return bool(value) and value != "null" and value[0] not in "'\"" and "${" not in value


def _text(word: str) -> str:
    """Return a word in quotation marks, so that Hydra reads nothing into it."""
    escaped = word.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
