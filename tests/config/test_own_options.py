"""An option of a class of a user's own: stated there, and known wherever options are."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Annotated, Any

import pytest
from hydra.utils import get_class
from omegaconf import OmegaConf

from specahd.api import make_problem
from specahd.api.problems import settings_of
from specahd.api.provenance import provenance
from specahd.api.training import load_budget
from specahd.config.cli import run_command
from specahd.config.files import OWN_FOLDERS
from specahd.config.schemas import SCHEMAS, TrainConfig, register_schemas
from specahd.config.targets import instantiate_group
from specahd.core.errors import ConfigError
from specahd.core.options import Option, accepted_arguments, checked, option, stated_options
from specahd.core.settings import CallLimits, Pools, Settings
from specahd.design.makers import check_rounds
from specahd.design.single import Single
from specahd.routing.pools import MANIFEST
from specahd.runs.configuration import RunKind, name_kinds

CODE = """
from typing import Annotated, Any

from specahd.core.options import Option, checked
from specahd.methods.rand_sample import RandSample
from specahd.problems.cvrp.problem import CVRP


class MyMethod(RandSample):
    @checked("method.policy.")
    def __init__(self, steepness: Annotated[int, Option("how steep it climbs, 1 to 9", 1, 9)] = 3):
        super().__init__()


class MyProblem(CVRP):
    name = "mine"

    @checked("problem.")
    def __init__(
        self,
        reach: Annotated[int, Option("how far a route goes, 1 to 9", 1, 9)] = 3,
        **options: Annotated[Any, CVRP],
    ):
        super().__init__(**options)
        self.reach = reach
"""
METHOD = """
_target_: specahd.design.single.Single
_partial_: true
policy:
  _target_: own_method.MyMethod
  _partial_: true
  steepness: 3
"""
PROBLEM = "_target_: own_method.MyProblem\nbaseline: nearest\nreach: 3\n"


@dataclass(frozen=True)
class MySettings(Settings):
    heat: int = option(3, "how hot a search begins, 1 to 9", 1, 9)


@dataclass(kw_only=True)
class MyConfig(TrainConfig):
    search: MySettings = option(default_factory=MySettings)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for group, text in (("method", METHOD), ("problem", PROBLEM)):
        (tmp_path / group).mkdir()
        (tmp_path / group / "mine.yaml").write_text(text)
    (tmp_path / "own_method.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(SCHEMAS, "train", MyConfig)
    token = OWN_FOLDERS.set((tmp_path,))
    yield tmp_path
    OWN_FOLDERS.reset(token)
    monkeypatch.undo()
    register_schemas()


OPTIONS = [
    ("method.policy.steepness", "how steep it climbs, 1 to 9"),
    ("problem.reach", "how far a route goes, 1 to 9"),
    ("search.heat", "how hot a search begins, 1 to 9"),
]


def test_an_option_of_ones_own_is_told_by_help(folder, capsys):
    words = ["method=mine", "problem=mine", f"hydra.searchpath=[file://{folder}]", "--help"]
    assert run_command(lambda config: None, "train", words) == 0
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    for name, told in OPTIONS:
        assert [f"{name}=3", *told.split()] in shown


@pytest.mark.parametrize(("name", "told"), OPTIONS)
def test_an_option_of_ones_own_out_of_range_is_refused_by_its_name(folder, name, told, capsys):
    def make(config):
        check_rounds(instantiate_group(config.method, "method"))
        instantiate_group(config.problem, "problem")
        OmegaConf.to_object(config)

    words = ["method=mine", "problem=mine", f"hydra.searchpath=[file://{folder}]"]
    run = f"hydra.run.dir={folder / 'run'}"
    assert run_command(make, "train", [*words, run, f"{name}=9"]) == 0
    capsys.readouterr()
    assert run_command(make, "train", [*words, run, f"{name}=10"]) == 2
    assert f"Expected {name} in [1, 9], got 10." in capsys.readouterr().err
    misspelt = f"{name[:-1]}=9"
    assert run_command(make, "train", [*words, run, misspelt]) == 2
    assert name.rpartition(".")[2] in capsys.readouterr().err


def test_an_option_of_ones_own_is_recorded_and_names_runs(folder):
    (folder / "mine").mkdir()
    (folder / "mine" / MANIFEST).touch()
    problem = make_problem("mine", reach=4)
    recorded = provenance(
        SimpleNamespace(
            problem=problem,
            method=partial(Single, policy=partial(get_class("own_method.MyMethod"))),
            settings=MySettings(heat=4),
            budget=load_budget("smoke", {"_target_": "specahd.problems.cvrp.problem.CVRP"}),
            execution=SimpleNamespace(limits=CallLimits()),
            pools=Pools(str(folder)),
            given=None,
            memories={},
            seed=0,
        )
    )
    assert recorded["method"]["policy"] == {"class": "own_method.MyMethod", "steepness": 3}
    assert recorded["search"]["heat"] == 4
    # A checkpoint has them beside its provenance.
    assert settings_of(problem)["reach"] == 4
    choices = {"problem": "cvrp", "method": "mine", "llm": "offline", "budget": "smoke"}
    for name, _ in OPTIONS:
        configs = [OmegaConf.from_dotlist([f"{name}={value}"]) for value in (3, 4)]
        kinds = [
            RunKind.of(
                {
                    "choices": choices,
                    "budget": {"name": "smoke"},
                    **OmegaConf.to_container(config),
                }
            )
            for config in configs
        ]
        assert set(name_kinds(kinds).values()) == {f"cvrp-{name}=3", f"cvrp-{name}=4"}


def base(first: Annotated[int, Option("of the base", 1)] = 1, second: int = 2) -> None: ...


@checked("group.")
def derived(
    own: Annotated[bool | None, Option("whether")] = None,
    names: Annotated[Sequence[str], Option("any of", choices=("a", "b"))] = ("a",),
    **options: Annotated[Any, base],
) -> None: ...


def anything(**options: Any) -> None: ...


def test_options_handed_on_stand_for_those_of_who_takes_them():
    found, is_open = accepted_arguments(derived)
    assert (list(found), is_open) == (["first", "second", "own", "names"], False)
    assert set(stated_options(derived)) == {"first", "own", "names"}
    assert accepted_arguments(anything) == ({}, True)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"own": 1}, "Expected group.own to be true, false or null, got 1."),
        ({"names": ()}, "Expected group.names among a, b, got none."),
        ({"names": ("a", "c")}, "Expected group.names among a, b, got a, c."),
    ],
)
def test_an_argument_out_of_range_is_told_with_what_is_accepted(value, words):
    derived(own=None)
    with pytest.raises(ConfigError) as refusal:
        derived(**value)
    assert str(refusal.value) == words
