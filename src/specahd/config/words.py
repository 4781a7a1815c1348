"""Files in command lines: named without an option, quoted for Hydra, and safe to write."""

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from hydra.core.override_parser.types import Quote, QuotedString
from omegaconf import DictConfig

from specahd.config import find_file
from specahd.config.schemas import SolveConfig
from specahd.core.errors import ConfigError
from specahd.core.settings import TableOptions

_TAKE_A_WORD = ("--cfg", "-c", "--package", "-p", "--info", "-i")
"""Hydra's flags that take the next word as their value."""
_SWEEPING = ("--multirun", "-m")
_WRITTEN = ("out", "plot")
"""Options that name a file to write."""
INPUTS = ("instance", "matrix", "durations", "fleet", "incumbent")
"""Options that name a file to read; the last may name one that is written over."""
_FILES = (*INPUTS, "checkpoint", *_WRITTEN)
"""Options that name a file."""
_LIST = "ignore"
"""The option whose commas do not separate values of a sweep."""


def quote_files(words: Sequence[str]) -> list[str]:
    """Return the command line with file names quoted, as Hydra needs them.

    A word with ``=`` is a file if that file exists and no option has that name.
    """
    options = [each.name for each in fields(SolveConfig)]
    files: list[str] = []
    instances: list[str] = []
    options_and_files: list[str] = []
    sweeping = any(word in _SWEEPING for word in words)
    for before, word in zip(["", *words], words, strict=False):
        option, given, value = word.partition("=")
        is_file = option not in options and Path(word).is_file() if given else word[:1] != "-"
        if is_file and before not in _TAKE_A_WORD:
            files.append(find_file(word))
            continue
        value = find_file(value) if option == "instance" else value
        path = value.strip("'\"")
        names_file = option in _FILES and path not in ("", "null")
        # Files of a run's own folder are different ones for each job of a sweep.
        named = [each for each in output_names(path) if not is_ending(each)]
        in_folder = option == "out" and not named
        text = (names_file and (not sweeping or in_folder)) or option == _LIST
        # Hydra reads lists and references itself; quoted words stay as they are.
        to_quote = text and path == value and path != "null" and "${" not in path
        swept = "$" in path or ("," in path and path[0] != "[")
        if names_file and sweeping and option in _WRITTEN and not swept and not in_folder:
            raise ConfigError(f"Expected no {word} with -m: each job would write this file.")
        options_and_files.append(f"{option}={quote(path)}" if to_quote else word)
        if option == "instance":
            instances.append(path)
        if option == "out" and names_file and named:
            # A named output file needs no run folder.
            options_and_files.append(f"hydra.run.dir={quote(str(Path(named[0]).parent))}")
    if len(files) + len(instances) > 1:
        raise ConfigError(f"Expected one file, got {' and '.join(files + instances)}.")
    return [*(f"instance={quote(file)}" for file in files), *options_and_files]


def own_files(words: Sequence[str]) -> tuple[list[str], list[str], dict[str, str]]:
    """Return a command line of ``learn`` with all options named, its files, and options of tables.

    A word without an option is a file or folder. Options of tables may be named as in ``solve``.
    """
    tables = [each.name for each in fields(TableOptions)]
    files: list[str] = []
    given: dict[str, str] = {}
    rewritten: list[str] = []
    for before, word in zip(["", *words], words, strict=False):
        option, equals, value = word.partition("=")
        name = option.removeprefix("pools.")
        if before in _TAKE_A_WORD or word[:1] == "-":
            rewritten.append(word)
        elif not equals or (name not in tables and Path(word).exists()):
            files.append(word)
        elif name in tables:
            given[name] = value.strip("'\"")
            text = name in ("matrix", "ignore") and given[name] != "null"
            rewritten.append(f"pools.{name}={quote(given[name]) if text else value}")
        else:
            rewritten.append(word)
    named = [f"pools.files=[{','.join(map(quote, files))}]"] if files else []
    return [*named, *rewritten], files, given


def output_names(text: str) -> list[str]:
    """Return the files or endings that the option ``out`` names: ``[a.sol,b.csv]``, ``a.sol,.csv``.

    A comma separates files only if every part has or is an ending.
    """
    listed = text[1:-1] if text[:1] == "[" and text[-1:] == "]" else text
    names = [name.strip().strip("'\"") for name in listed.split(",")]
    several = listed != text or all(Path(name).suffix or is_ending(name) for name in names)
    return names if several else [text]


def is_ending(name: str) -> bool:
    """Return whether a name is an ending alone, such as ``.csv``."""
    return name.startswith(".") and not Path(name).suffix and Path(name).name == name


def quote(word: str) -> str:
    """Quote a word, so that Hydra takes it literally."""
    return QuotedString(word, Quote.single).with_quotes()


def check_output_path(option: str, config: DictConfig, path: str) -> None:
    """Refuse an output path in a missing folder, or over an input file."""
    if not Path(path).absolute().parent.is_dir():
        raise ConfigError(f"Expected {option} in a folder that is there, got {config[option]}.")
    for name in INPUTS[:-1]:
        if config[name] is not None and Path(config[name]).resolve() == Path(path).resolve():
            raise ConfigError(f"Expected {option} to leave {name}={config[name]} as it is.")
