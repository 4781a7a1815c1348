"""A frozen checkpoint as a model, without MLflow: what it takes, answers and refuses."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pandas as pd
import pytest

from frozen import freeze_seeds, problem_of
from offered import PROBLEMS
from specahd.core.errors import CheckpointError, ConfigError, FileError
from specahd.model import OUTPUTS, SpecAHDModel


def load(checkpoint, **settings):
    model = SpecAHDModel()
    settings = {"workers": 1, **settings}
    model.load_context(
        SimpleNamespace(artifacts={"checkpoint": str(checkpoint)}, model_config=settings)
    )
    return model


def answers(model, *rows, **params):
    return model.predict(None, pd.DataFrame(list(rows)), params)


def small(problem):
    """Return a small instance of a pool as text."""
    drawn = problem.generate("lower_train", 2024)
    return min((next(drawn) for _ in range(6)), key=lambda instance: instance.size)


@pytest.fixture(scope="module")
def cvrp(tmp_path_factory):
    return load(freeze_seeds("cvrp", tmp_path_factory.mktemp("frozen") / "checkpoint"))


@pytest.fixture(scope="module")
def text(data):
    return (data / "tiny.vrp").read_text()


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_problem_answers_with_the_routes_of_a_solution(tmp_path, name):
    problem = problem_of(name)
    instance = small(problem)
    model = load(freeze_seeds(name, tmp_path / "checkpoint"))
    table = answers(model, {"text": problem.dumps(instance)})
    assert list(table.columns) == list(OUTPUTS)
    [row] = table.to_dict("records")
    assert (row["name"], row["feasible"], row["status"]) == (instance.name, True, "ok")
    routes = json.loads(row["routes"])
    if name == "tsp":
        [solution] = routes
    elif name == "sdvrp":
        from specahd.routing.vehicles.routes import Delivery

        solution = [tuple(Delivery(*stop) for stop in route) for route in routes]
    else:
        solution = [tuple(route) for route in routes]
    assert not problem.check(instance, tuple(solution))
    assert problem.cost(instance, tuple(solution)) == row["cost"]
    assert row["baseline_cost"] == problem.cost(instance, problem.baseline(instance))


def test_a_file_and_its_text_get_one_answer_in_the_order_of_the_rows(cvrp, data, text):
    table = answers(
        cvrp,
        {"text": text, "name": "../../mine" + 300 * "x"},
        {"instance": str(data / "tiny.vrp")},
        {"instance": str(data / "tiny-explicit.vrp"), "text": None, "name": float("nan")},
    )
    assert list(table["name"]) == ["../../mine" + 300 * "x", "tiny", "tiny-explicit"]
    first, second, _ = table.to_dict("records")
    assert {**first, "name": ""} == {**second, "name": ""}


def test_no_rows_are_no_answers(cvrp):
    empty = cvrp.predict(None, pd.DataFrame({"instance": []}, dtype=object))
    assert list(empty.columns) == list(OUTPUTS)
    assert empty.empty


def test_a_call_may_name_baseline_and_acceptance(cvrp, text):
    [trained] = answers(cvrp, {"text": text}).to_dict("records")
    [savings] = answers(cvrp, {"text": text}, baseline="savings").to_dict("records")
    assert savings["baseline_cost"] < trained["baseline_cost"]
    [improving] = answers(cvrp, {"text": text}, accept="improving").to_dict("records")
    assert improving["cost"] <= improving["baseline_cost"]


BAD = {
    "neither": ([{"name": "x"}], {}, ConfigError, "row 1 .* neither"),
    "both": ([{"text": "a", "instance": "b"}], {}, ConfigError, "row 1 .* both"),
    "no file": ([{"instance": "gone.vrp"}], {}, FileError, "gone.vrp"),
    "torn text": ([{"text": "NAME : x"}], {}, FileError, "^The text of row 1: TYPE is missing"),
    "no column": ([{}], {}, ConfigError, "Expected columns of instance, text, name"),
    "baseline": ([{"text": "a"}], {"baseline": "best"}, ConfigError, "nearest, savings, pyvrp"),
    "accept": ([{"text": "a"}], {"accept": "all"}, ConfigError, "feasible, improving"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_row_or_parameter_gets_one_sentence(cvrp, name):
    rows, params, error, sentence = BAD[name]
    with pytest.raises(error, match=sentence) as refusal:
        answers(cvrp, *rows, **params)
    assert "\n" not in str(refusal.value)
    assert "/tmp" not in str(refusal.value)


def test_a_setting_out_of_range_and_an_altered_checkpoint_do_not_load(tmp_path):
    checkpoint = freeze_seeds("cvrp", tmp_path / "checkpoint")
    with pytest.raises(ConfigError, match=r"executor\.workers in \[1, 64\], got 0"):
        load(checkpoint, workers=0)
    with pytest.raises(ConfigError, match=r"sandbox\.require to be one of"):
        load(checkpoint, sandbox="no")
    (checkpoint / "programs" / "lower-seed.py").write_text("import os\n")
    with pytest.raises(CheckpointError, match=r"lower-seed\.py does not match"):
        load(checkpoint)


def test_evaluation_imports_neither_mlflow_nor_pandas_unless_it_fetches():
    code = (
        "import sys, specahd.evaluate; print({'mlflow', 'pandas', 'sqlalchemy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_calls_from_several_threads_are_all_answered(cvrp, text):
    with ThreadPoolExecutor(3) as threads:
        calls = [threads.submit(answers, cvrp, {"text": text}) for _ in range(4)]
        costs = {float(call.result(timeout=60)["cost"].iloc[0]) for call in calls}
    assert len(costs) == 1
