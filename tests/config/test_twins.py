"""What a command is told is what the library is told: no class says again what another says."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from pkgutil import walk_packages
from typing import Any, get_type_hints

from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

import specahd
from specahd.api.training import load_budget
from specahd.config import CONF_DIR
from specahd.config.schemas import SCHEMAS, register_schemas
from specahd.core.budget import Budget
from specahd.core.serving import ServerSettings
from specahd.core.settings import CallLimits, Confinement, Penalty, Pools, Settings

NUMBERS = (int, float, int | None, float | None)


def library(*packages: str) -> Iterator[type[Any]]:
    """Yield the dataclasses that the modules of some packages define."""
    for found in walk_packages(specahd.__path__, "specahd."):
        if found.name.split(".")[1] in packages and not found.ispkg:
            module = import_module(found.name)
            for item in vars(module).values():
                if isinstance(item, type) and is_dataclass(item) and item.__module__ == found.name:
                    yield item


def numbers(kind: type[Any]) -> set[str]:
    """Return the numbers that a dataclass does not have from another one."""
    bases = [base for base in kind.__bases__ if is_dataclass(base)]
    inherited = {item.name for base in bases for item in fields(base)}
    return {item.name for item in fields(kind) if item.type in NUMBERS} - inherited


def test_the_groups_of_options_are_the_classes_of_the_library():
    kinds = get_type_hints(SCHEMAS["train"])
    assert {option: kind for option, kind in kinds.items() if is_dataclass(kind)} == {
        "pools": Pools,
        "budget": Budget,
        "search": Settings,
        "limits": CallLimits,
        "sandbox": Confinement,
    }
    assert get_type_hints(Settings)["penalty"] is Penalty
    assert SCHEMAS["embed"] is ServerSettings


def test_what_is_composed_makes_the_classes_of_the_library():
    register_schemas()
    with initialize_config_dir(str(CONF_DIR), version_base="1.3"):
        config = compose("train", ["search.penalty.empty=0.5", "limits.memory_gb=1"])
    made = OmegaConf.to_object(config)
    assert made.search == Settings(penalty=Penalty(empty=0.5))
    assert made.limits == CallLimits(memory_gb=1)
    assert (made.budget.name, made.budget) == ("pilot", load_budget("pilot"))
    assert (made.pools, made.sandbox) == (Pools(), Confinement())


def test_no_command_says_again_what_the_library_says():
    """Say that a class of config/ has at most one number, of its own, that another has."""
    there = list(library("core", "routing", "repair", "design", "search", "sandbox", "tracking"))
    assert {Budget, Settings, CallLimits, ServerSettings} <= set(there)
    for schema in library("config"):
        for kind in there:
            shared = numbers(schema) & numbers(kind)
            assert len(shared) < 2, f"{schema.__name__} and {kind.__name__} have {sorted(shared)}"
