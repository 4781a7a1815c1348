"""Every file of conf/ composes, and every schema refuses what it should."""

from collections.abc import Iterator

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.hydra_config import HydraConfig
from hydra.errors import ConfigCompositionException
from hydra.plugins.launcher import Launcher
from hydra.utils import get_object, instantiate
from omegaconf import DictConfig, OmegaConf

from specahd.config import CONF_DIR
from specahd.config.cli import resolve_config, save_config
from specahd.config.schemas import SCHEMAS, register_schemas, validate
from specahd.core.errors import ConfigError


def targets(node: object) -> Iterator[str]:
    if isinstance(node, dict):
        if "_target_" in node:
            yield node["_target_"]
        for value in node.values():
            yield from targets(value)


CHOICES = sorted(
    path.relative_to(CONF_DIR).with_suffix("").as_posix()
    for path in CONF_DIR.glob("*/*.yaml")
    if path.parent.name != "hydra"
)
TRAIN_CHOICES = [choice.replace("/", "=") for choice in CHOICES]
TARGETS = sorted(
    {
        target
        for path in CONF_DIR.rglob("*.yaml")
        for target in targets(OmegaConf.to_container(OmegaConf.load(path)))
    }
)
DEMANDS = {
    "train": [],
    "prepare": [],
    "evaluate": ["checkpoint=c", "pool=validation"],
    "solve": ["instance=i.vrp"],
    "track": ["run=r"],
    "embed": [],
    "select": [],
    "fetch": [],
    "report": ["runs=r"],
}


@pytest.fixture(autouse=True)
def _conf() -> Iterator[None]:
    register_schemas()
    with initialize_config_dir(str(CONF_DIR), version_base="1.3"):
        yield


def compose_command(command: str, *overrides: str) -> DictConfig:
    return compose(command, [*DEMANDS[command], *overrides])


def test_every_command_has_a_schema_and_a_file():
    assert {path.stem for path in CONF_DIR.glob("*.yaml")} == set(SCHEMAS)


@pytest.mark.parametrize("command", sorted(SCHEMAS))
def test_every_command_composes_and_is_valid(command):
    validate(compose_command(command))


@pytest.mark.parametrize("choice", TRAIN_CHOICES)
def test_every_choice_composes_and_is_valid(choice):
    validate(compose_command("train", choice))


@pytest.mark.parametrize("choice", CHOICES)
def test_every_file_says_what_it_is(choice):
    assert any(
        line.startswith("# ") and not line.startswith("# @package")
        for line in (CONF_DIR / f"{choice}.yaml").read_text().splitlines()
    )


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_exists(target):
    assert callable(get_object(target))


def test_the_budget_carries_the_name_of_its_file():
    for path in (CONF_DIR / "budget").glob("*.yaml"):
        assert compose_command("train", f"budget={path.stem}").budget.name == path.stem


def test_an_experiment_chooses_for_other_groups():
    config = compose_command("train", "experiment=paper")
    assert (config.budget.programs, config.search.accept) == (1000, "feasible")
    assert config.llm.model == "deepseek-flash"
    assert set(config.memory["models"]) == {"jina", "e5", "qwen3"}
    assert (config.search.samplers, config.executor.workers) == (4, 4)
    assert config.method.policy.population == 10
    quick = compose_command("train", "experiment=quick")
    assert (quick.budget.name, quick.budget.programs, quick.budget.rounds) == ("quick", 12, 1)
    # What the command line says stands above the experiment.
    assert compose_command("train", "experiment=quick", "budget.programs=3").budget.programs == 3


@pytest.mark.parametrize(
    ("problem", "baseline"),
    [("tsp", "nearest"), ("cvrp", "nearest"), ("vrptw", "nearest"), ("sdvrp", "splitting")],
)
def test_the_published_baseline_of_every_problem(problem, baseline):
    paper = ["experiment=paper", f"problem={problem}"]
    config = compose_command("train", *paper)
    validate(config)
    assert instantiate(config.problem).baseline_name == baseline
    assert (
        compose_command("train", *paper, "problem.baseline=nearest").problem.baseline == "nearest"
    )


def test_the_published_protocol_is_offline_only_where_asked():
    offline = compose_command("train", "llm=offline").llm
    assert compose_command("train", "experiment=paper", "llm=offline").llm == offline
    assert compose_command("train", "experiment=paper").llm != offline
    assert compose_command("train", "experiment=paper", "llm=glm").llm.model.startswith(
        "glm-4-flash"
    )


@pytest.mark.parametrize("launcher", ["basic", "joblib", "submitit_local", "submitit_slurm"])
def test_every_launcher_composes(launcher):
    options = [f"hydra/launcher={launcher}"]
    if launcher == "submitit_slurm":
        options += ["hydra.launcher.partition=p", "hydra.launcher.timeout_min=600"]
    config = compose("train", options, return_hydra_config=True)
    assert issubclass(get_object(config.hydra.launcher._target_), Launcher)
    assert list(config.hydra.callbacks) == ["command", "sweep"]


@pytest.mark.parametrize(
    "override", ["nope=1", "problem.nope=1", "search.nope=1", "seed=x", "seed=1.5"]
)
def test_an_unknown_key_or_a_wrong_type_fails_at_composition(override):
    with pytest.raises(ConfigCompositionException):
        compose_command("train", override)


def test_a_frozen_repertoire_needs_the_upper_level():
    with pytest.raises(ConfigError, match=r"search\.levels=upper"):
        validate(compose_command("train", "search.repertoire=c"))
    validate(compose_command("train", "search.repertoire=c", "search.levels=upper"))


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
