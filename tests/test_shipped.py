"""The checkpoints that come with specahd: each is of its training, and solves."""

import re
import shlex
from dataclasses import replace

import pytest
import yaml

from commands import run
from offered import PROBLEMS
from specahd import api
from specahd.api.problems import make_problem
from specahd.api.programs import BY_HAND, EVOLVED, programs_for
from specahd.checkpoint.frozen import thaw
from specahd.checkpoint.manifest import SUMS
from specahd.core.errors import ConfigError
from specahd.engine import schedule
from specahd.engine.builtin_programs import SHIPPED

NAMES = sorted(folder.name for folder in SHIPPED.iterdir() if folder.is_dir())
TRAININGS = re.findall(
    r"^\$ python -m specahd\.train (.*)$", (SHIPPED / "README.md").read_text(), re.M
)


def trained_problem(command):
    return (re.search(r"problem=(\w+)", command) or re.search(r"solve_(\w+)", command))[1]


def test_each_problem_that_is_solved_has_one():
    assert NAMES == ["cvrp", "sdvrp", "tsp", "vrptw"]
    assert sorted(map(trained_problem, TRAININGS)) == NAMES
    assert {name for name in PROBLEMS if make_problem(name).engine} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_of_the_configuration_beside_it(name):
    frozen = thaw(SHIPPED / name)
    asked = yaml.safe_load((SHIPPED / f"{name}.yaml").read_text())
    options = {key: value for key, value in asked["problem"].items() if key != "_target_"}
    assert frozen.settings == options
    assert frozen.neighbours == asked["search"]["neighbours"]
    assert len(frozen.repertoire) <= asked["search"]["repertoire_size"]
    frozen.admit(make_problem(name, **options))
    for group in ("budget", "search", "limits"):
        told = frozen.training[group]
        assert told == {option: asked[group][option] for option in told}
    assert frozen.training["seed"] == asked["seed"]
    assert frozen.training["pools"]["seed"] == asked["pools"]["seed"]


@pytest.mark.integration
@pytest.mark.parametrize("name", NAMES)
def test_it_solves(name):
    problem = make_problem(name)
    programs = programs_for(problem, EVOLVED)
    assert programs.router is not None
    instance = api.ProblemInstance(problem, next(problem.generate("validation", 1)))
    solved = api.solve(instance, repairs=2000, checkpoint=EVOLVED)
    assert solved.programs == programs.names()
    assert not solved.failure
    assert solved.search.repairs >= 2000


@pytest.mark.integration
@pytest.mark.parametrize(("capacity", "checkpoint"), [(100, EVOLVED), (10_000, BY_HAND)])
def test_what_searches_unless_it_is_chosen_depends_on_the_instance(capacity, checkpoint):
    """The evolved ones where routes are short (notes/2026-11-22-do-evolved-programs-pay.md)."""
    problem = make_problem("vrptw")
    drawn = next(problem.generate("validation", 1))
    instance = api.ProblemInstance(problem, replace(drawn, capacity=capacity))
    solved = api.solve(instance, repairs=100)
    assert solved.programs == programs_for(problem, checkpoint).names()


@pytest.mark.integration
@pytest.mark.parametrize(("largest", "named"), [(10, True), (20_000, False)])
def test_large_instances_are_searched_part_by_part(largest, named, monkeypatch):
    monkeypatch.setattr(schedule, "SMALL", largest)
    problem = make_problem("cvrp")
    instance = api.ProblemInstance(problem, next(problem.generate("validation", 1)))
    assert schedule.on_short_routes(instance.data)
    solved = api.solve(instance, repairs=100)
    assert ("in-turn" in solved.programs[0]) is named


def test_a_problem_without_one_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr("specahd.api.programs.SHIPPED", tmp_path)
    with pytest.raises(ConfigError, match="No checkpoint of cvrp comes with specahd"):
        programs_for(make_problem("cvrp"), EVOLVED)


@pytest.mark.slow
@pytest.mark.parametrize("command", TRAININGS, ids=trained_problem)
def test_its_training_makes_it_again(command, tmp_path):
    root = SHIPPED.parents[2]
    words = shlex.split(command.replace("cassettes/", f"{root}/cassettes/"))
    place = f"hydra.run.dir={tmp_path}/run"
    # That of the VRPTW takes an hour.
    done = run("specahd.train", *words, "tracking=none", place, cwd=tmp_path, timeout=4 * 3600)
    assert done.returncode == 0, done.stderr
    made = (tmp_path / "run" / "checkpoint" / SUMS).read_text()
    assert made == (SHIPPED / trained_problem(command) / SUMS).read_text()
