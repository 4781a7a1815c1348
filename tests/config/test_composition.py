"""Every file of conf/ composes, and every schema refuses what it should."""

import re
from collections.abc import Iterator
from itertools import zip_longest
from math import inf
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.hydra_config import HydraConfig
from hydra.plugins.launcher import Launcher
from hydra.utils import get_object, instantiate
from omegaconf import OmegaConf

from specahd.config import CONF_DIR
from specahd.config.cli import resolve_config, save_config
from specahd.config.files import choices, groups_of, with_methods_of_today
from specahd.config.help import describe, flat_options
from specahd.config.schemas import SCHEMAS, register_schemas, validate
from specahd.config.targets import taker
from specahd.core.budget import Budget
from specahd.core.errors import ConfigError
from specahd.core.options import stated_options
from specahd.core.settings import CallLimits, Penalty, Settings


def targets(node: object) -> Iterator[str]:
    if isinstance(node, dict):
        if "_target_" in node:
            yield node["_target_"]
        for value in node.values():
            yield from targets(value)


GROUPS = groups_of("train")
CHOICES = {group: choices(group) for group in GROUPS}
ALONE = ("ablation", "control", "experiment")
"""Groups that choose for other groups, or go with some choices of them alone."""
TOGETHER = [
    [f"{group}={name}" for group, name in zip(CHOICES, names, strict=True) if name]
    for names in zip_longest(*(() if group in ALONE else CHOICES[group] for group in CHOICES))
]
"""Each choice of the other groups once, several of them at a time."""
DEMANDS = {
    "train": [],
    "learn": ["pools.files=d"],
    "prepare": [],
    "compile": [],
    "evaluate": ["checkpoint=c", "pool=validation"],
    "solve": ["instance=i.vrp"],
    "track": ["run=r"],
    "embed": [],
    "select": [],
    "fetch": [],
    "report": ["runs=r"],
    "tune": ["checkpoint=c"],
}


@pytest.fixture(autouse=True)
def _conf() -> Iterator[None]:
    register_schemas()
    with initialize_config_dir(str(CONF_DIR), version_base="1.3"):
        yield


def test_every_command_has_a_schema_and_a_file():
    assert {path.stem for path in CONF_DIR.glob("*.yaml")} == set(SCHEMAS) == set(DEMANDS)


def test_every_option_of_every_choice_is_told_in_one_short_line():
    """And each choice of a group; all of them are valid."""
    chosen = TOGETHER + [[f"{group}={name}"] for group in ALONE for name in CHOICES[group]]
    for command, words in [*DEMANDS.items(), *(("train", words) for words in chosen)]:
        config = compose(command, words)
        validate(config)
        for keys, _ in flat_options(config):
            if keys not in [[group] for group in GROUPS]:
                line = describe(command, config, keys, {})
                assert line, (words, keys)
                assert "=None" not in line, (words, keys)
                assert len(line) <= 70, (words, keys)


def test_a_line_of_help_states_no_other_range_than_the_one_that_is_checked():
    read = (OmegaConf.to_container(OmegaConf.load(path)) for path in CONF_DIR.rglob("*.yaml"))
    named = {target for content in read for target in targets(content)}
    takers = [*SCHEMAS.values(), Budget, CallLimits, Penalty, Settings]
    takers += [taker(get_object(target), partial=True) for target in sorted(named)]
    options = [option for each in takers for option in stated_options(each).values()]
    told = 0
    for each in options:
        if stated := re.search(r"at least ([\d.]+)", each.words):
            assert float(stated[1]) == each.low, each
            # A bound that nobody reaches need not be told.
            assert (each.high or inf) >= 1e7, each
            told += 1
        if stated := re.search(r"([\d.]+) to ([\d.]+)", each.words):
            assert (float(stated[1]), float(stated[2])) == (each.low, each.high), each
            told += 1
    assert told > 40
    for each in stated_options(Settings).values():
        assert all(choice in each.words for choice in each.choices), each


def test_every_file_says_what_it_is():
    assert {path.parent.name for path in CONF_DIR.glob("*/*.yaml")} == {*GROUPS, "hydra"}
    for path in [path for group in GROUPS for path in (CONF_DIR / group).glob("*.yaml")]:
        comments = [line for line in path.read_text().splitlines() if line.startswith("# ")]
        assert any(not line.startswith("# @package") for line in comments), path


def test_every_target_exists():
    for path in CONF_DIR.rglob("*.yaml"):
        for target in targets(OmegaConf.to_container(OmegaConf.load(path))):
            assert callable(get_object(target)), target


def test_the_budget_carries_the_name_of_its_file():
    for path in (CONF_DIR / "budget").glob("*.yaml"):
        assert OmegaConf.load(path).name == path.stem


def test_an_experiment_chooses_for_other_groups():
    config = compose("train", ["experiment=paper"])
    assert (config.budget.programs, config.search.accept) == (1000, "feasible")
    assert config.llm.model == "deepseek-flash"
    assert set(config.memory["models"]) == {"jina", "e5", "qwen3"}
    assert (config.search.samplers, config.executor.workers) == (4, 4)
    assert config.method.policy.population == 10
    assert config.problem.actions == "single"
    assert (config.limits.upper_call, config.limits.lower_call) == (120, 10)


def test_a_training_has_less_time_for_a_call_than_a_finished_checkpoint():
    limits = [compose(command, []).limits for command in ("train", "evaluate")]
    assert [(each.upper_call, each.lower_call) for each in limits] == [(10, 1), (120, 10)]


@pytest.mark.parametrize(
    ("problem", "baseline"),
    [("tsp", "nearest"), ("cvrp", "nearest"), ("vrptw", "nearest"), ("sdvrp", "splitting")],
)
def test_the_published_baseline_of_every_problem(problem, baseline):
    config = compose("train", ["experiment=paper", f"problem={problem}"])
    assert instantiate(config.problem).baseline_name == baseline


def _groups(path: Path) -> dict[str, Any]:
    """Return the options of a file by their groups; those of a budget are not grouped there."""
    read = OmegaConf.to_container(OmegaConf.load(path))
    return {"budget": read} if path.parent.name == "budget" else read


def test_what_suits_a_problem_is_for_an_option_that_a_choice_leaves_to_problems():
    asked = {
        (path.stem, f"{group}.{option}")
        for path in (
            *CONF_DIR.glob("budget/*.yaml"),
            *CONF_DIR.glob("method/*.yaml"),
            *CONF_DIR.glob("experiment/*.yaml"),
        )
        for group, options in _groups(path).items()
        for option, value in (options.items() if isinstance(options, dict) else ())
        if value.__class__ is str and f"${{suited:{path.stem}," in value
    }
    for name in CHOICES["problem"]:
        for choice, values in get_object(
            compose("train", [f"problem={name}"]).problem._target_
        ).suited.items():
            assert {(choice, option) for option in values} <= asked
            group = next(g for g in ("method", "experiment", "budget") if choice in CHOICES[g])
            config = compose("train", [f"problem={name}", f"{group}={choice}"])
            assert values == {option: OmegaConf.select(config, option) for option in values}


@pytest.mark.parametrize("target", ["nowhere.Mine", "specahd.nowhere"])
def test_a_problem_that_is_not_there_has_nothing_that_suits_it(target):
    config = compose("train", ["experiment=solve", f"problem._target_={target}"])
    assert config.problem.baseline == "nearest"


@pytest.mark.parametrize("name", CHOICES["experiment"])
def test_an_experiment_with_programs_of_its_own_number_names_its_budget(name):
    config = compose("train", [f"experiment={name}"], return_hydra_config=True)
    chosen = compose("train", [f"budget={config.hydra.runtime.choices.budget}"]).budget
    assert (config.budget.name == chosen.name) == (config.budget.programs == chosen.programs)


@pytest.mark.parametrize("command", [name for name in SCHEMAS if "executor" in groups_of(name)])
def test_the_number_of_workers_is_refused_before_any_work(command):
    with pytest.raises(ConfigError, match=r"Expected executor.workers in \[1, 64\], got 65"):
        validate(compose(command, [*DEMANDS[command], "executor.workers=65"]))


def test_what_the_command_line_says_stands_above_an_experiment():
    words = ["experiment=paper", "llm=offline", "problem.baseline=savings", "budget.programs=3"]
    config = compose("train", words)
    assert config.llm == compose("train", ["llm=offline"]).llm
    assert (config.problem.baseline, config.budget.programs) == ("savings", 3)


@pytest.mark.parametrize("launcher", ["basic", "joblib", "submitit_local", "submitit_slurm"])
def test_every_launcher_composes(launcher):
    options = [f"hydra/launcher={launcher}"]
    if launcher == "submitit_slurm":
        options += ["hydra.launcher.partition=p", "hydra.launcher.timeout_min=600"]
    config = compose("train", options, return_hydra_config=True)
    assert issubclass(get_object(config.hydra.launcher._target_), Launcher)
    assert list(config.hydra.callbacks) == ["command", "sweep"]


def test_the_resolved_configuration_names_the_chosen_groups(tmp_path):
    config = compose("train", ["budget=table"], return_hydra_config=True)
    HydraConfig.instance().set_config(config)
    try:
        plain = resolve_config(
            OmegaConf.masked_copy(config, [key for key in config if key != "hydra"])
        )
        assert plain["choices"]["budget"] == "table"
        assert not any(group.startswith("hydra") for group in plain["choices"])
        path = save_config(OmegaConf.create({"seed": 3, "again": "${seed}"}), tmp_path)
        assert OmegaConf.load(path).again == 3
        assert "${" not in path.read_text()
    finally:
        HydraConfig.instance().cfg = None


def test_a_method_that_was_renamed_is_taken_with_a_warning():
    with pytest.warns(FutureWarning, match="method=specahd_passes is named method=specahd now"):
        words = with_methods_of_today(["problem=tsp", "-m", "method=specahd_passes,eoh"])
    assert words == ["problem=tsp", "-m", "method=specahd,eoh"]


@pytest.mark.parametrize("operator", ["insertion", "construct"])
@pytest.mark.parametrize("problem", CHOICES["problem"])
def test_both_forms_of_specahd_are_one_where_no_region_is_rebuilt_in_passes(problem, operator):
    forms = (
        resolve_config(
            compose("train", [f"problem={problem}", f"problem.repair={operator}", method])
        )
        for method in ("method=specahd", "method=specahd_one_pass")
    )
    assert next(forms) == next(forms)
