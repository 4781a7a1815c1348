"""The files of the solve command: checks of output paths, and the inputs of a result."""

from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from specahd import __version__
from specahd.config.cli import resolve_config
from specahd.config.words import INPUTS
from specahd.core.errors import ConfigError
from specahd.routing.formats.text import digest


def check_output_path(option: str, config: DictConfig, path: str) -> None:
    """Refuse an output path in a missing folder, or over an input file."""
    if not Path(path).absolute().parent.is_dir():
        raise ConfigError(f"Expected {option} in a folder that is there, got {config[option]}.")
    for name in INPUTS[:-1]:
        if config[name] is not None and Path(config[name]).resolve() == Path(path).resolve():
            raise ConfigError(f"Expected {option} to leave {name}={config[name]} as it is.")


def result_inputs(config: DictConfig) -> dict[str, Any]:
    """Return the inputs that determine a result: the options, and hashes of the files."""
    options = resolve_config(config)
    options.pop("choices", None)
    files = {path: digest(Path(path)) for name in INPUTS if (path := config[name]) is not None}
    return {"specahd": __version__, "options": options, "sha256": files}
