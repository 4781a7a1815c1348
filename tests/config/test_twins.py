"""What a command is told is what the library is told: no class says again what another says."""

import ast
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from inspect import signature
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, get_type_hints

import pytest
from hydra import compose, initialize_config_dir
from hydra.utils import get_object
from omegaconf import OmegaConf

import specahd
from specahd import api
from specahd.api.training import load_budget
from specahd.config import CONF_DIR
from specahd.config.schemas import SCHEMAS, register_schemas
from specahd.config.targets import taker
from specahd.core.budget import Budget
from specahd.core.options import accepted_arguments, stated_options
from specahd.core.serving import ServerSettings
from specahd.core.settings import (
    CallLimits,
    Confinement,
    FleetOptions,
    Penalty,
    Pools,
    Settings,
    SolveOptions,
    TableOptions,
    TuneOptions,
)
from specahd.routing.base import POOLS

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
        config = compose(
            "train", ["method=specahd_one_pass", "search.penalty.empty=0.5", "limits.memory_gb=1"]
        )
    made = OmegaConf.to_object(config)
    assert made.search == Settings(penalty=Penalty(empty=0.5))
    assert made.limits == CallLimits(memory_gb=1)
    assert (made.budget.name, made.budget) == (
        "pilot",
        load_budget("pilot", {"_target_": "specahd.problems.cvrp.problem.CVRP"}),
    )
    assert (made.pools, made.sandbox) == (Pools(), Confinement())


def test_no_command_says_again_what_the_library_says():
    """Say that a class of config/ has at most one number, of its own, that another has."""
    there = list(library("core", "routing", "repair", "design", "search", "sandbox", "tracking"))
    assert {Budget, Settings, CallLimits, ServerSettings} <= set(there)
    for schema in library("config"):
        for kind in there:
            shared = numbers(schema) & numbers(kind)
            assert len(shared) < 2, f"{schema.__name__} and {kind.__name__} have {sorted(shared)}"


@pytest.mark.parametrize(
    ("function", "kinds"),
    [
        (api.read, (TableOptions, FleetOptions)),
        (api.solve, (SolveOptions,)),
        (api.tune, (TuneOptions,)),
    ],
)
def test_a_function_of_the_library_has_the_defaults_of_its_options(function, kinds):
    taken = signature(function).parameters
    for each in (one for kind in kinds for one in fields(kind)):
        assert taken[each.name].default == each.default, each.name


CHOSEN = {
    "evaluate": {"public", "baselines"},
    "embed": {"models"},
    "llm/deepseek": {"api_key_env", "input_price", "cached_input_price", "output_price"},
    "llm/glm": {"api_key_env", "cached_input_price"},
    "llm/local": {"cached_input_price"},
    "llm/openai": {"api_key_env", "input_price", "cached_input_price", "output_price"},
    "memory/jina": {"cache", "fuse", "threshold", "filter", "skills"},
    "memory/structural": {"fuse", "threshold", "filter", "skills"},
    "memory/three": {"cache", "fuse", "threshold", "filter", "skills"},
    "method/eoh": {"operators", "rank_offset", "distinct"},
    "method/eoh_s": {"portfolio"},
    "method/mles": {"population"},
    "method/partevo": {"population"},
    # The class means the first baseline.
    **{f"problem/{name}": {"baseline"} for name in ("cvrp", "sdvrp", "tsp", "vrptw")},
}
"""What a file of ``conf/`` chooses otherwise than the class, by the file's name."""
LISTS = {
    ("words.py", "INPUTS"),
    ("words.py", "_WRITTEN"),
    ("select.py", "_OF_METHODS"),
    ("schemas.py", "SOURCES"),
    ("rows.py", "_NO_PASS"),
}
"""Constants of src that name options: files of a command line, and sources of instances.
``instance`` and ``baseline`` are also fields of rows."""


def takers(node: Any) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield the nodes of a configuration that have a target, and what takes their options."""
    if isinstance(node, dict):
        if "_target_" in node:
            yield node, taker(get_object(node["_target_"]), partial=node.get("_partial_", False))
        for value in node.values():
            yield from takers(value)


def test_a_file_repeats_a_default_of_the_class_or_is_known_to_choose_another_value():
    """Options of groups stand in files, since Hydra overrides only what a file has."""
    chosen: dict[str, set[str]] = {}
    for path in CONF_DIR.glob("*/*.yaml"):
        read = OmegaConf.to_container(OmegaConf.load(path))
        for node, target in takers(read if path.parent.name != "experiment" else {}):
            for name, each in accepted_arguments(target)[0].items():
                value = tuple(node[name]) if isinstance(node.get(name), list) else node.get(name)
                # An empty table is none.
                same = each.default in (each.empty, value, None if value == {} else value)
                if name in node and not same:
                    chosen.setdefault(f"{path.parent.name}/{path.stem}", set()).add(name)
    for command, schema in SCHEMAS.items():
        read = OmegaConf.to_container(OmegaConf.load(CONF_DIR / f"{command}.yaml"))
        for each in fields(schema):
            if each.name in read:
                assert read[each.name] != each.default, (command, each.name)
                chosen.setdefault(command, set()).add(each.name)
    assert chosen == CHOSEN


def test_no_other_list_of_options_is_in_the_sources():
    named = {name for schema in SCHEMAS.values() for name in stated_options(schema)}
    named |= {name for kind in library("core") for name in stated_options(kind)}
    for path in CONF_DIR.glob("*/*.yaml"):
        for _, target in takers(OmegaConf.to_container(OmegaConf.load(path))):
            named |= set(stated_options(target))
    # These are also names of groups, of levels and of pools.
    named -= {"problem", "method", "llm", "memory", "budget", "lower", "upper", *POOLS}
    found = set()
    for path in Path(specahd.__file__).parent.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            words = [
                [value.value for value in part.elts if isinstance(value, ast.Constant)]
                for part in ast.walk(node if isinstance(node, ast.Assign) else ast.Pass())
                if isinstance(part, ast.Tuple | ast.List | ast.Set)
            ]
            if any(len(each) > 1 and {*map(last, each)} <= named for each in words):
                found.add((path.name, ast.unparse(node.targets[0])))
    assert found == LISTS


def last(word: Any) -> str:
    return str(word).rpartition(".")[2]
