"""Ablations and controls take one part away, and say the truth."""

import copy

import pytest
from hydra import compose
from hydra.core.hydra_config import HydraConfig
from hydra.utils import instantiate
from omegaconf import OmegaConf, open_dict

from specahd.config import CONF_DIR
from specahd.config.cli import resolve_config
from specahd.config.files import choices
from specahd.config.preflight import check_ablation, check_control
from specahd.config.schemas import validate
from specahd.core.errors import ConfigError

ABLATIONS = {
    "single_embedding": ("fuse", 1),
    "no_filter": ("filter", False),
    "no_skills": ("skills", 0),
}


pytestmark = pytest.mark.usefixtures("conf")


def composed(*overrides):
    config = compose("train", list(overrides), return_hydra_config=True)
    HydraConfig.instance().set_config(config)
    # As Hydra itself does for a command.
    plain = copy.deepcopy(config)
    with open_dict(plain):
        del plain["hydra"]
    validate(plain)
    check_ablation(plain)
    check_control(plain)
    return resolve_config(plain)


def with_a_memory():
    """Return every method and every experiment; the integration tests compose most of them."""
    of_methods = [f"method={name} memory=structural" for name in choices("method")]
    every = [*of_methods, *(f"experiment={name}" for name in choices("experiment"))]
    quick = ("method=eoh memory=structural", "experiment=paper")
    marks = pytest.mark.integration
    return [each if each in quick else pytest.param(each, marks=marks) for each in every]


def differences(one, other, path=()):
    for key in sorted({*one, *other}):
        left, right = one.get(key), other.get(key)
        if isinstance(left, dict) and isinstance(right, dict):
            yield from differences(left, right, (*path, key))
        elif left != right:
            yield ".".join((*path, key)), left, right


@pytest.mark.parametrize("memory", ["structural", "three"])
def test_the_label_is_recorded_and_nothing_else_changes(memory):
    complete = composed(f"memory={memory}", "ablation=none")
    for label, (option, value) in ABLATIONS.items():
        ablated = composed(f"memory={memory}", f"ablation={label}")
        assert list(differences(complete, ablated)) == [
            ("choices.ablation", "none", label),
            (f"memory.{option}", complete["memory"][option], value),
        ]


@pytest.mark.parametrize("choice", with_a_memory())
def test_an_ablation_composes_over_what_may_bring_a_memory(choice):
    config = composed(*choice.split(), "ablation=no_skills")
    assert (config["memory"]["skills"], config["choices"]["ablation"]) == (0, "no_skills")


@pytest.mark.parametrize(
    "overrides",
    [
        ("memory=none", "ablation=no_skills"),
        ("memory=jina", "ablation=single_embedding"),
        ("ablation=no_skills", "memory.skills=3"),
        ("ablation=no_filter", "memory.filter=true"),
        ("ablation=single_embedding", "memory.fuse=2"),
        ("ablation=single_embedding", "memory.encoders=[idea]"),
        ("memory=three", "ablation=single_embedding", "~memory.models.jina"),
    ],
)
def test_a_contradiction_is_refused(overrides):
    with pytest.raises(ConfigError, match=r"^ablation=\w+ (takes away|with memory=\w+ has )"):
        composed(*overrides)


@pytest.mark.parametrize(
    ("overrides", "sentence"),
    [
        (("control=no_program", "budget.programs=4"), r"has budget\.programs=0, got 4\.$"),
        (("control=sampled", "method.policy.operators=[i1,e1]"), r"operators=\['i1'\], got "),
    ],
)
def test_a_control_that_another_option_reverts_is_refused(overrides, sentence):
    with pytest.raises(ConfigError, match=rf"^control=\w+ .*{sentence}"):
        composed(*overrides)


def test_a_control_stands_above_the_budget_of_an_experiment():
    assert composed("experiment=language_model", "control=no_program")["budget"]["programs"] == 0


def test_the_experiment_of_controls_is_the_comparison_with_one_part_less():
    complete = composed("experiment=comparison", "budget.validation=4")
    for label, changed in (("no_program", "budget"), ("sampled", "method"), ("none", "")):
        control = composed("experiment=controls", f"control={label}")
        assert {
            name for name in control if control[name] != complete[name] and name != "choices"
        } == {changed} - {""}


def test_a_method_may_bring_a_memory_of_its_own(tmp_path):
    (tmp_path / "method").mkdir()
    plain = OmegaConf.load(CONF_DIR / "method" / "specahd.yaml")
    (tmp_path / "method" / "plain.yaml").write_text(
        "# @package _global_\ndefaults:\n  - override /memory: none\n\n"
        + OmegaConf.to_yaml({"method": plain})
    )
    search = f"hydra.searchpath=[file://{tmp_path}]"
    assert composed(search, "method=plain")["choices"]["memory"] == "none"
    # What the user writes goes first.
    chosen = composed(search, "method=plain", "memory=structural", "ablation=no_skills")
    assert chosen["choices"]["memory"] == "structural"
    with pytest.raises(ConfigError, match=r"^ablation=no_skills takes away what memory=none"):
        composed(search, "method=plain", "ablation=no_skills")


def test_a_memory_from_elsewhere_can_be_ablated(tmp_path):
    (tmp_path / "memory").mkdir()
    inherited = "defaults:\n  - three\n  - _self_\n\nbase_url: http://elsewhere:1/v1\n"
    (tmp_path / "memory" / "mine.yaml").write_text(inherited)
    search = f"hydra.searchpath=[file://{tmp_path}]"
    ablated = composed(search, "memory=mine", "ablation=no_skills")["memory"]
    assert (ablated["skills"], ablated["base_url"]) == (0, "http://elsewhere:1/v1")


def test_every_ablation_makes_a_memory():
    assert set(choices("ablation")) == {*ABLATIONS, "none"}
    for label in choices("ablation"):
        memory = instantiate(compose("train", [f"ablation={label}"]).memory)
        assert memory.learns == (label != "no_skills")


def test_the_directories_of_a_sweep_may_name_the_ablation():
    named = "hydra.sweep.subdir='${hydra.runtime.choices.ablation}-${hydra.job.num}'"
    assert composed("ablation=no_filter", named)["memory"]["filter"] is False
