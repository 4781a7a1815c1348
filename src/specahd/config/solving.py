"""What a command that solves reads and writes: where files may go, and what decided a result."""

from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from specahd import __version__
from specahd.config.cli import resolved
from specahd.core.errors import ConfigError
from specahd.routing.formats.text import digest

_READ = ("instance", "matrix", "incumbent")
"""Options that name a file to read."""


def expect_place(option: str, config: DictConfig, path: str) -> None:
    """Refuse to write where there is no folder, or over a file that is read.

    Raises
    ------
    ConfigError
        With the name of the option.
    """
    if not Path(path).absolute().parent.is_dir():
        raise ConfigError(f"Expected {option} in a folder that is there, got {config[option]}.")
    for name in _READ[:2]:
        if config[name] is not None and Path(config[name]).resolve() == Path(path).resolve():
            raise ConfigError(f"Expected {option} to leave {name}={config[name]} as it is.")


def inputs(config: DictConfig) -> dict[str, Any]:
    """Return what decides the result: the options, and the files as they are now."""
    options = resolved(config)
    options.pop("choices", None)
    files = {config[name]: digest(Path(config[name])) for name in _READ if config[name] is not None}
    return {"specahd": __version__, "options": options, "sha256": files}
