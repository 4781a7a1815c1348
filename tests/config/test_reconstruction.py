"""The command of a run, from its configuration alone."""

import pytest
from hydra import compose
from hydra.core.hydra_config import HydraConfig
from omegaconf import OmegaConf, open_dict

from specahd.config.cli import resolve_config
from specahd.config.reconstruction import command_of

pytestmark = pytest.mark.usefixtures("conf")


def saved(directory, *words):
    config = compose("train", list(words), return_hydra_config=True)
    HydraConfig.instance().set_config(config)
    with open_dict(config):
        del config["hydra"]
    directory.mkdir(parents=True)
    (directory / "config.yaml").write_text(OmegaConf.to_yaml(resolve_config(config)))
    return directory


@pytest.mark.parametrize(
    "words",
    [
        "problem=tsp method=eoh llm=offline seed=3 budget=table",
        "experiment=comparison problem=vrptw method=specahd control=sampled llm=offline seed=1 "
        "budget.validation=20",
        "problem=cvrp method=specahd llm=offline seed=0 method.policy.operators=[i1,e1]",
    ],
)
def test_a_command_composes_what_the_run_saved(tmp_path, words):
    run = saved(tmp_path / "run", *words.split(), "executor.workers=3", "pools.dir=/elsewhere")
    said = command_of(run)
    assert "workers" not in said
    assert "elsewhere" not in said
    assert said.startswith("python -m specahd.train ")
    assert sorted(said.split()[3:]) == sorted(words.split())


def test_a_run_of_this_machine_is_named_and_not_its_place(tmp_path):
    given = f"search.initial_programs={tmp_path}/eoh"
    assert command_of(saved(tmp_path / "run", given)).endswith(
        " seed=0 search.initial_programs=RUNS/eoh"
    )


def test_there_is_no_command_where_a_choice_is_not_here(tmp_path):
    run = saved(tmp_path / "run")
    text = (run / "config.yaml").read_text().replace("method: specahd", "method: own")
    (run / "config.yaml").write_text(text)
    assert command_of(run) == ""
