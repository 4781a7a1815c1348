"""Trainings with ``problem.repair=insertion``: what comes of them repairs, and solves."""

import json

import pytest

from commands import TINY, call
from specahd import api
from specahd.checkpoint.frozen import thaw

pytestmark = pytest.mark.integration

SEARCHING = [*TINY, "problem.repair=insertion", "budget.validation=1", "tracking=none"]


@pytest.mark.parametrize("name", ["sdvrp", "tsp"])
def test_a_trained_checkpoint_solves_what_it_was_trained_for(name, tmp_path):
    call("train", f"problem={name}", *SEARCHING, cwd=tmp_path)
    [folder] = (tmp_path / "runs" / name).iterdir()
    [row] = map(json.loads, (folder / "validation.jsonl").read_text().splitlines())
    assert row["cost"] < row["baseline_cost"]
    frozen = thaw(folder / "checkpoint")
    problem = api.make_problem(name)
    instance = next(problem.generate("lower_train", 3))
    weak = problem.baseline(instance)
    files = problem.solution_files("weak", weak, problem.cost(instance, weak))
    (tmp_path / "weak.sol").write_text(files[".sol"])
    given = api.ProblemInstance(problem, instance)
    solved = api.solve(given, checkpoint=folder, incumbent=tmp_path / "weak.sol", repairs=5000)
    assert solved.programs == (frozen.upper.id, *(each.id for each in frozen.repertoire))
    assert solved.cost < solved.incumbent_cost
    assert solved.failure == ""
