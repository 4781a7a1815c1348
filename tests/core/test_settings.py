"""What is out of range is refused where it is said, in the words of the command."""

from dataclasses import fields, replace

import pytest

from specahd.core.budget import Budget
from specahd.core.errors import ConfigError
from specahd.core.settings import (
    CallLimits,
    Confinement,
    Penalty,
    Pools,
    Settings,
    check_workers,
)

NAN = float("nan")
DEFAULTS = {
    "pools": Pools(),
    "budget": Budget(1),
    "search.penalty": Penalty(),
    "search": Settings(),
    "limits": CallLimits(),
    "sandbox": Confinement(),
}
WRONG = {
    "pools.seed": [-1],
    "pools.files": [3],
    "pools.shares": [[0.5, 0.5], [0, 0.2, 0.5, 0.3], [0.3, 0.3, 0.3, 0.3]],
    "pools.near": [0, 1.1, NAN],
    "pools.capacity": [0, NAN],
    "pools.speed": [0],
    "pools.split": ["perhaps"],
    "budget.programs": [-1],
    "budget.rounds": [0, -3],
    "budget.lower_share": [-0.1, 1.1, NAN],
    "budget.max_cost": [-1, NAN],
    "budget.max_tokens": [-1],
    **{f"budget.{pool}": [0] for pool in ("lower_train", "upper_train", "selection", "validation")},
    "search.penalty.weight": [-1, NAN],
    "search.penalty.empty": [-1],
    "search.penalty.rejected": [-1],
    "search.penalty.rolled_back": [-1],
    "search.levels": ["middle"],
    "search.lag": [0],
    "search.samplers": [0, 65],
    "search.finalists": [0],
    "search.beta": [-0.1, 1.1, NAN],
    "search.repertoire_size": [0],
    "search.neighbours": [0],
    "search.tries": [0],
    "search.passes": [0],
    "search.uppers": [0],
    "search.seeds": ["several"],
    "search.incumbents": ["all"],
    "search.cells": [0],
    "search.accept": ["no"],
    "search.racing": ["perhaps"],
    "search.halving": ["perhaps"],
    "search.initial_levels": ["all"],
    "limits.upper_call": [0, 2e6, NAN],
    "limits.lower_call": [0],
    "limits.lower_node": [0],
    "limits.instance": [0],
    "limits.candidate": [0],
    "limits.memory_gb": [0, -1],
    "sandbox.require": ["perhaps"],
}
# Any text, a whole group, or what only goes with another value.
UNRANGED = {
    *(
        "pools.dir",
        "pools.durations",
        "pools.matrix",
        "pools.ignore",
        "budget.name",
        "search.initial_programs",
        "search.repertoire",
        "search.penalty",
    ),
}


@pytest.mark.parametrize(
    ("option", "value"), [(option, value) for option, values in WRONG.items() for value in values]
)
def test_a_value_out_of_range_is_refused_by_its_name(option, value):
    group, _, name = option.rpartition(".")
    with pytest.raises(ConfigError, match=rf"^Expected {option} .*{value}"):
        replace(DEFAULTS[group], **{name: value})


def test_every_value_has_a_range():
    options = {f"{group}.{item.name}" for group in DEFAULTS for item in fields(DEFAULTS[group])}
    assert options == WRONG.keys() | UNRANGED


def test_a_repertoire_is_given_to_the_upper_level_only():
    assert Settings(levels="upper", repertoire="run/checkpoint").levels == "upper"
    with pytest.raises(ConfigError, match=r"search\.repertoire=CHECKPOINT"):
        Settings(levels="upper")
    with pytest.raises(ConfigError, match=r"search\.levels=upper with search\.repertoire"):
        Settings(repertoire="run/checkpoint")
    with pytest.raises(ConfigError, match=r"lower with search\.initial_programs, got upper"):
        Settings(levels="upper", repertoire="run/checkpoint", initial_programs="run")
    with pytest.raises(ConfigError, match=r"initial_programs=RUN with search\.initial_levels=both"):
        Settings(initial_levels="both")
    with pytest.raises(ConfigError, match=r"initial_levels=lower with search\.levels=lower, got"):
        Settings(levels="lower", initial_programs="run", initial_levels="upper")


@pytest.mark.parametrize("workers", [0, 65, True, 2.5, None, "2"])
def test_workers_are_a_number_in_range(workers):
    with pytest.raises(ConfigError, match=r"^Expected executor\.workers .*got"):
        check_workers(workers)
