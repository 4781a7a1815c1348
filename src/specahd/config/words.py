"""The words of a command line that names a file without its option."""

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from hydra.core.override_parser.types import Quote, QuotedString

from specahd.config import SAMPLES
from specahd.config.schemas import SolveConfig
from specahd.core.errors import ConfigError

_TAKE_A_WORD = ("--cfg", "-c", "--package", "-p", "--info", "-i")
"""Flags of Hydra's that the next word belongs to."""
_SWEEPING = ("--multirun", "-m")
_WRITTEN = ("out", "plot")
"""Options that name a file to write."""
_FILES = ("instance", "incumbent", "matrix", "checkpoint", *_WRITTEN)
"""Options that name a file."""
_LIST = "ignore"
"""The option whose commas separate no values of a sweep."""


def with_file(words: Sequence[str]) -> list[str]:
    """Return the words of the command line with files in quotation marks, as Hydra wants them.

    A word with ``=`` is a file where there is one and no option of that name.

    Raises
    ------
    ConfigError
        There is more than one file, or all jobs of a sweep would write one file.
    """
    options = [each.name for each in fields(SolveConfig)]
    files: list[str] = []
    instances: list[str] = []
    others: list[str] = []
    sweeping = any(word in _SWEEPING for word in words)
    for before, word in zip(["", *words], words, strict=False):
        option, given, value = word.partition("=")
        named = option not in options and Path(word).is_file() if given else word[:1] != "-"
        if named and before not in _TAKE_A_WORD:
            files.append(_found(word))
            continue
        value = _found(value) if option == "instance" else value
        path = value.strip("'\"")
        names_file = option in _FILES and path not in ("", "null")
        text = (names_file and not sweeping) or option == _LIST
        # A list of files and a reference are Hydra's to read, and quotation marks stand already.
        to_quote = text and path == value and path != "null" and "${" not in path
        if names_file and sweeping and option in _WRITTEN and not set(",$") & set(path):
            raise ConfigError(f"Expected no {word} with -m: each job would write this file.")
        others.append(f"{option}={quoted(path)}" if to_quote else word)
        if option == "instance":
            instances.append(path)
        if option == "out" and names_file:
            # Beside a file of the user's own no new folder is made.
            others.append(f"hydra.run.dir={quoted(str(Path(path).parent))}")
    if len(files) + len(instances) > 1:
        raise ConfigError(f"Expected one file, got {' and '.join(files + instances)}.")
    return [*(f"instance={quoted(file)}" for file in files), *others]


def _found(file: str) -> str:
    """Return where a file is: what ``samples/`` here lacks comes with specahd."""
    ours = {f"{SAMPLES.name}/{sample.name}" for sample in SAMPLES.iterdir()}
    return str(SAMPLES.parent / file) if file in ours and not Path(file).exists() else file


def quoted(word: str) -> str:
    """Return a word in quotation marks, so that Hydra reads nothing into it."""
    return QuotedString(word, Quote.single).with_quotes()
