"""Checks of a training's configuration before any work or a sweep, and the model of a server."""

from typing import Any

import hydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf

from specahd.config.files import declared_options
from specahd.config.targets import check_targets, locate
from specahd.core.errors import ConfigError
from specahd.core.options import stated_options
from specahd.design.makers import expect_rounds
from specahd.llm.keys import require_keys
from specahd.runs.configuration import SEARCHPATH, flatten

NONE = "none"


def check_ablation(config: DictConfig) -> None:
    """Refuse an ablation of an absent part, or one that another option reverts."""
    choices = HydraConfig.get().runtime.choices
    label, memory = choices.get("ablation") or NONE, choices["memory"]
    if label == NONE:
        return
    complete, ablated = _compose_memory(NONE), _compose_memory(label)
    stated = stated_options(locate("memory._target_", config.memory["_target_"]))
    parts = [option for option, each in stated.items() if each.part]
    taken = [option for option in parts if complete.get(option) != ablated.get(option)]
    if not any(complete[option] for option in taken):
        raise ConfigError(
            f"ablation={label} takes away what memory={memory} does not have; "
            "choose a memory that has it."
        )
    for option in parts:
        wanted, got = (_yaml_text(each.get(option)) for each in (ablated, config.memory))
        if wanted != got:
            raise ConfigError(
                f"ablation={label} with memory={memory} has memory.{option} {wanted}, got {got}."
            )


def _compose_memory(label: str) -> DictConfig:
    """Compose the memory of the chosen groups with an ablation, without overrides."""
    chosen = HydraConfig.get()
    # An override may refer to values that exist only in a job.
    given: list[str] = OmegaConf.to_container(chosen.overrides.hydra, resolve=False)  # type: ignore[assignment]  # a list
    overrides = [word for word in given if word.startswith(f"{SEARCHPATH}=")]
    overrides += [
        f"{group}={choice}"
        for group, choice in chosen.runtime.choices.items()
        if choice is not None and group != "ablation" and not group.startswith("hydra/")
    ]
    composed = hydra.compose(chosen.job.config_name, [*overrides, f"ablation={label}"])
    memory: DictConfig = composed.memory
    return memory


def _yaml_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def check_control(config: DictConfig) -> None:
    """Refuse a control that another option reverts."""
    label = HydraConfig.get().runtime.choices.get("control") or NONE
    if label == NONE:
        return
    for option, wanted in flatten(declared_options("control", label)).items():
        got = OmegaConf.select(config, option)
        if got != wanted:
            raise ConfigError(f"control={label} has {option}={wanted}, got {got}.")


def check_training(config: DictConfig) -> None:
    """Refuse an invalid configuration in one sentence."""
    require_keys(config.llm, "llm")
    require_keys(config.memory, "memory")
    check_ablation(config)
    check_control(config)
    rounds = config.method.get("_target_")
    if rounds is not None:
        # Before the targets, since a search method in this place takes other options.
        expect_rounds(locate("method._target_", rounds))
    check_targets(config)


def name_models(options: DictConfig) -> None:
    """Fill in the model of a conf group, and of the groups below it, where ``model`` is null.

    The saved configuration then names the model, so a resumed run uses the same one.
    """
    if options.get("base_url") and "model" in options and options.model is None:
        # Imported on demand, since its library takes long to import.
        from specahd.llm.client import ChatProposer

        plain: dict[str, Any] = OmegaConf.to_container(options, resolve=True)  # type: ignore[assignment]  # a mapping
        given = {name: value for name, value in plain.items() if not name.startswith("_")}
        options.model = ChatProposer(**{**given, "model": "unknown"}).only_model()
    for part in options.values():
        if isinstance(part, DictConfig):
            name_models(part)
