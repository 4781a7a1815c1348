"""An option of a class of a user's own: stated there, and known wherever options are."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

import pytest
from hydra.utils import get_class
from omegaconf import OmegaConf

from specahd.api.provenance import _maker
from specahd.config.cli import run_command
from specahd.config.targets import check_targets, instantiate_group
from specahd.core.errors import ConfigError
from specahd.core.options import Option, accepted_arguments, checked, stated_options
from specahd.design.makers import check_rounds
from specahd.design.single import Single
from specahd.runs.configuration import RunKind, name_kinds

CODE = """
from typing import Annotated

from specahd.core.options import Option, checked
from specahd.methods.rand_sample import RandSample


class Mine(RandSample):
    @checked("method.policy.")
    def __init__(self, steepness: Annotated[int, Option("how steep it climbs, 1 to 9", 1, 9)] = 3):
        super().__init__()
"""
CONF = """
_target_: specahd.design.single.Single
_partial_: true
policy:
  _target_: own_method.Mine
  _partial_: true
  steepness: 3
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "method").mkdir()
    (tmp_path / "method" / "mine.yaml").write_text(CONF)
    (tmp_path / "own_method.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_an_option_of_ones_own_is_told_by_help(folder, capsys):
    words = ["method=mine", f"hydra.searchpath=[file://{folder}]", "--help"]
    assert run_command(lambda config: None, "train", words) == 0
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [
        "method.policy.steepness=3",
        *["how", "steep", "it", "climbs,", "1", "to", "9"],
    ] in shown


def test_an_option_of_ones_own_out_of_range_is_refused_by_its_name(folder):
    config = OmegaConf.create(CONF.replace("steepness: 3", "steepness: 10"))
    with pytest.raises(
        ConfigError, match=r"^Expected method\.policy\.steepness in \[1, 9\], got 10\.$"
    ):
        check_rounds(instantiate_group(config, "method"))
    misspelt = OmegaConf.create(CONF.replace("steepness: 3", "steepnes: 3"))
    with pytest.raises(ConfigError, match=r"steepnes: .* Did you mean .*steepness"):
        check_targets(misspelt, "method")


def test_an_option_of_ones_own_is_recorded_and_names_runs(folder):
    mine = get_class("own_method.Mine")
    recorded = _maker(partial(Single, policy=partial(mine)))
    assert recorded["policy"] == {"class": "own_method.Mine", "steepness": 3}
    choices = {"problem": "cvrp", "method": "mine", "llm": "offline", "budget": "smoke"}
    kinds = [
        RunKind.of(
            {
                "choices": choices,
                "budget": {"name": "smoke"},
                "method": {"policy": {"steepness": steepness}},
            }
        )
        for steepness in (3, 4)
    ]
    assert set(name_kinds(kinds).values()) == {
        f"cvrp-method.policy.steepness={steepness}" for steepness in (3, 4)
    }


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
