"""The command that makes a run again, from the configuration that the run saved."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import hydra
from omegaconf import OmegaConf

from specahd.config.messages import REFUSALS
from specahd.config.words import quote
from specahd.core.errors import UserError
from specahd.core.options import Effect
from specahd.runs.configuration import RunConfiguration, flatten, is_covered_by, options_with

_COMMAND = "python -m specahd.train"
_UNSAID = options_with(Effect.SPEED, Effect.ACCESS)
_FIRST = ("experiment", "problem", "method", "control", "llm")
"""Groups that stand first, since others may follow from them."""
_SAID = ("problem", "method", "llm", "seed")
"""What a command says even where it is the default."""
_RUNS = "RUNS"
"""Stands for the folder of a run whose address is absolute."""


def command_of(directory: Path) -> str:
    """Return a command that makes a run again, but for options that change no result.

    It is empty if the files of ``conf/`` that the run chose are not here.
    """
    run = RunConfiguration.read(directory)
    groups = [group for group in run.choices if group not in _UNSAID and group not in _FIRST]
    try:
        words: list[str] = []
        for group in (*_FIRST, *groups):
            choice = run.choices.get(group)
            if choice is None:
                continue
            if group in _SAID or _composed(*words)[0].get(group) != choice:
                words.append(f"{group}={choice}")
        known = _composed(*words)[1]
    except (UserError, *REFUSALS):
        return ""
    options = flatten({key: value for key, value in run.values.items() if key != "choices"})
    words += [
        f"{name}={_text(value)}"
        for name, value in options.items()
        if name in _SAID or (name in known and value != known[name])
        if not is_covered_by(name, _UNSAID)
    ]
    return " ".join([_COMMAND, *words])


@cache
def _composed(*words: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the choices of groups and the options of a training with these words."""
    config = hydra.compose("train", list(words), return_hydra_config=True)
    choices = dict(config.hydra.runtime.choices)
    OmegaConf.set_struct(config, False)
    del config["hydra"]
    values: dict[str, Any] = OmegaConf.to_container(config, resolve=True)  # type: ignore[assignment]  # a mapping at the top
    return choices, flatten(values)


def _text(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{','.join(map(_text, value))}]"
    if isinstance(value, str) and Path(value).is_absolute():
        return f"{_RUNS}/{Path(value).name}"
    return quote(value) if isinstance(value, str) and " " in value else str(value)
