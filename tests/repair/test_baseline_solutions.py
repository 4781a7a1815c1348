"""Solutions of baseline solvers that are kept: the same, found by all that decides them."""

from itertools import islice
from pathlib import Path

import pytest

from frozen import problem_of
from offered import configuration
from specahd.api import make_problem
from specahd.repair import cases
from specahd.repair.cases import BaselineSolutions


@pytest.fixture(autouse=True)
def all_are_kept(monkeypatch):
    monkeypatch.setattr(cases, "LEAST_SECONDS", 0.0)


def instances(problem, count=2):
    return list(islice(problem.generate("lower_train", 0), count))


def counted(problem, monkeypatch):
    """Return the list of baselines that are run from now on."""
    solve, run = problem.baseline, []
    monkeypatch.setattr(
        problem, "baseline", lambda instance, name=None: run.append(name) or solve(instance, name)
    )
    return run


@pytest.mark.parametrize("name", ["tsp", "vrptw"])
def test_a_solution_is_made_once_and_comes_again_as_it_was(tmp_path, monkeypatch, name):
    problem = problem_of(name)
    one, other = instances(problem)
    run = counted(problem, monkeypatch)
    first = BaselineSolutions(tmp_path).solve(problem, one)
    # Another method's evaluation: the way to repair decides no baseline.
    operator = next(each for each in problem.operators if each != problem.repair)
    assert BaselineSolutions(tmp_path).solve(make_problem(name, repair=operator), one) == first
    assert BaselineSolutions(tmp_path).solve(problem, one) == first
    assert run == [None]
    BaselineSolutions(tmp_path).solve(problem, other)
    reference = next(each for each in problem.references if each != problem.baseline_name)
    BaselineSolutions(tmp_path).solve(problem, one, reference)
    assert len(run) == 3
    BaselineSolutions(None).solve(problem, one)
    assert len(run) == 4


@pytest.mark.parametrize("text", ["", "[]", '{"seconds":1}', '{"seconds":1,"solution":[[1]]}'])
def test_what_is_no_feasible_solution_counts_as_missing(tmp_path, monkeypatch, text):
    problem = problem_of("cvrp")
    [one] = instances(problem, 1)
    solution, _ = BaselineSolutions(tmp_path).solve(problem, one)
    [path] = tmp_path.iterdir()
    path.write_text(text)
    run = counted(problem, monkeypatch)
    assert BaselineSolutions(tmp_path).solve(problem, one)[0] == solution
    assert run == [None]


def test_options_of_a_baseline_and_the_convention_decide(tmp_path):
    made = make_problem("cvrp")
    [one] = instances(made, 1)
    options = [{}, {"solver_iterations": 3}, {"convention": "float"}]
    assert {*options[1], *options[2]} <= set(configuration("cvrp"))
    for each in options:
        BaselineSolutions(tmp_path).solve(make_problem("cvrp", **each), one)
    assert len(list(tmp_path.iterdir())) == 3


def test_what_is_made_in_no_time_is_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(cases, "LEAST_SECONDS", 60.0)
    problem = problem_of("cvrp")
    BaselineSolutions(tmp_path / "none").solve(problem, instances(problem, 1)[0])
    assert not (tmp_path / "none").exists()


def test_the_key_covers_all_code_that_a_baseline_may_call(tmp_path, monkeypatch):
    read, one = [], Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read.append(path) or one(path))
    cases._code.cache_clear()
    problem = problem_of("vrptw")
    BaselineSolutions(tmp_path).solve(problem, instances(problem, 1)[0])
    names = {"/".join(path.parts[-2:]) for path in read}
    # `cheapest` inserts customers by the engine's loops.
    assert {"vrptw/baseline.py", "vehicles/baselines.py", "engine/passes.py"} <= names
