"""The Python API as a script uses it; its docstrings' examples and docs/reference/python.md run.

``test_api_training.py`` trains.
"""

import doctest
import importlib
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from frozen import freeze_seeds, problem_of, seed_checkpoint
from specahd import api
from specahd.api.problems import settings_of
from specahd.checkpoint.frozen import freeze
from specahd.config import CONF_DIR
from specahd.config.files import choices
from specahd.core.compilation import report_compilation
from specahd.core.errors import ConfigError, FileError
from specahd.core.events import Observer
from specahd.model import SpecAHDModel
from specahd.problems.cvrp.problem import CVRP

ROOT = Path(__file__).parent.parent

MODULES = ("checkpoints", "evaluation", "problems", "solutions", "solving", "training")


@pytest.fixture
def user(api_run, tmp_path, monkeypatch):
    """Where a user stands who has the repository's small instances."""
    shutil.copytree(ROOT / "tests" / "data", tmp_path / "tests" / "data")
    for kind in ("vrp", "sol"):
        shutil.copy(ROOT / "tests" / "data" / f"tiny.{kind}", tmp_path / f"my.{kind}")
    (tmp_path / "pools").symlink_to(api_run / "pools")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def seeds(tmp_path_factory):
    """The directory of a checkpoint of the CVRP."""
    return freeze_seeds("cvrp", tmp_path_factory.mktemp("seeds") / "checkpoint")


@pytest.mark.parametrize("path", ["x" * 5000, "a\0b"])
def test_a_path_that_the_system_does_not_take_is_a_file_that_is_not_there(path):
    for use in (api.read, api.load, lambda file: api.solve("samples/cvrp.vrp", incumbent=file)):
        with pytest.raises(FileError, match=r"^(Cannot read|No checkpoint at) [^\n]{,320}$"):
            use(path)


def output_of(code):
    """Return what Python code prints in an interpreter of its own."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.integration
@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_the_docstrings_are_true(api_run, user, module):
    found = importlib.import_module(f"specahd.api.{module}")
    given = {"checkpoint": api_run / "run" / "checkpoint", "pools": api_run / "pools"}
    done = doctest.testmod(found, extraglobs=given, verbose=False)
    assert done.attempted > 1
    assert done.failed == 0


def test_every_function_has_an_example():
    for name in api.__all__:
        found = getattr(api, name)
        if not isinstance(found, type):
            assert ">>> " in found.__doc__, name
    for method in (api.LoadedCheckpoint.repair, api.Solution.write, api.Solution.plot):
        assert ">>> " in method.__doc__, method


@pytest.mark.integration
def test_the_document_runs_from_top_to_bottom(user, capsys):
    text = (ROOT / "docs" / "reference" / "python.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) >= 5
    scope = {}
    for block in blocks:
        exec(compile(block, "docs/reference/python.md", "exec"), scope)
    assert (user / "my-repaired.sol").is_file()
    assert (user / "my.png").read_bytes().startswith(b"\x89PNG")
    assert (user / "evaluated" / "rows.jsonl").is_file()


def test_using_the_api_imports_neither_hydra_nor_what_only_training_needs():
    code = (
        "import sys\n"
        "from specahd import api\n"
        "light = {name.partition('.')[0] for name in sys.modules}\n"
        "api.read, api.load, api.evaluate\n"
        "repair = set(sys.modules)\n"
        "api.train\n"
        "heavy = {'hydra', 'mlflow', 'torch', 'httpx2', 'openai', 'omegaconf'}\n"
        "print(light & (heavy | {'numpy'}))\n"
        "print(repair & {'specahd.llm', 'specahd.design', 'specahd.search', 'specahd.memory'})\n"
        "print({name.partition('.')[0] for name in sys.modules} & heavy)\n"
    )
    assert output_of(code).split() == ["set()"] * 3


@pytest.mark.parametrize("program", ["-c", "-m", "/usr/bin/specahd"])
def test_the_package_alone_imports_nothing_else(program):
    # Of a command not even what handles signals: Ctrl-C would be seen while it is imported.
    code = (
        f"import sys; sys.argv[0] = {program!r}; before = set(sys.modules)\n"
        "import specahd\n"
        "new = set(sys.modules) - before\n"
        "import signal; print(*new, signal.getsignal(signal.SIGINT) is specahd.end_interrupted)"
    )
    assert output_of(code).split() == ["specahd", str(program != "-c")]


def test_commands_are_short_and_leave_the_work_to_the_library():
    for path in CONF_DIR.glob("*.yaml"):
        command = ROOT / "src" / "specahd" / f"{path.stem}.py"
        assert len(command.read_text().splitlines()) <= 150, command


@pytest.mark.parametrize("name", choices("problem"))
def test_a_file_is_known_by_its_content_alone(tmp_path, name):
    problem = problem_of(name)
    instance = next(problem.generate("lower_train", 1))
    path = tmp_path / "instance"
    path.write_text(problem.dumps(instance))
    found = api.read(path)
    assert (found.problem.name, found.size) == (name, instance.size)
    assert settings_of(found.problem) == settings_of(problem)


def test_a_file_that_is_no_instance_is_refused(tmp_path, data):
    path = tmp_path / "poem.txt"
    path.write_text("Whose woods these are\n")
    with pytest.raises(FileError, match="line 1 is 'Whose woods these are'") as refused:
        api.read(path)
    assert ", ".join(choices("problem")) in str(refused.value)
    torn = tmp_path / "torn.vrp"
    torn.write_text((data / "tiny.vrp").read_text().replace("CAPACITY : 10", ""))
    for wrong, named in ((torn, "CAPACITY"), (data / "tiny.sol", "this is a solution")):
        with pytest.raises(FileError, match=rf"{wrong.name}\b.*{named}"):
            api.read(wrong)


def test_a_file_in_a_format_that_only_its_problem_knows_is_tried_by_all(
    tmp_path, monkeypatch, data
):
    path = tmp_path / "own.txt"
    path.write_text("Whose woods these are\n")
    tiny = api.read(data / "tiny.vrp")
    monkeypatch.setattr(type(tiny.problem), "read", lambda problem, path: tiny.data)
    assert api.read(path).problem.name == "cvrp"
    monkeypatch.setattr(type(problem_of("tsp")), "read", lambda problem, path: tiny.data)
    with pytest.raises(FileError, match="is read by cvrp and tsp"):
        api.read(path)


def test_a_table_tells_its_problem_and_takes_the_options_of_one_that_is_given(data):
    table = data / "stops.csv"
    given = api.make_problem("cvrp", baseline="nearest")
    assert api.read(table, given, capacity=10).problem is given
    assert api.read(table, "cvrp", capacity=10).problem.name == "cvrp"
    for other in ("tsp", "nosuch"):
        with pytest.raises(ConfigError, match=other):
            api.read(table, other, capacity=10)


@pytest.mark.parametrize(
    ("option", "value"),
    [("seed", 2**63), ("seed", 1.5), ("repairs", 10.5), ("time_limit", "1"), ("target", "x"),
     ("memory_gb", "4")],
)  # fmt: skip
def test_an_option_of_another_kind_is_refused(data, option, value):
    with pytest.raises(ConfigError, match=rf"^Expected {option} .*{value}"):
        api.solve(data / "tiny.vrp", **{option: value})


@pytest.mark.parametrize("name", choices("problem"))
def test_every_problem_repairs_writes_and_draws(tmp_path, name):
    loaded = api.load(freeze_seeds(name, tmp_path / "checkpoint"))
    problem = loaded.problem
    instance = next(problem.generate("lower_train", 1))
    solution = loaded.repair(api.ProblemInstance(problem, instance), accept="improving")
    assert solution.cost <= solution.incumbent_cost
    for suffix in solution.files():
        written, _ = problem.read_solution(solution.write(tmp_path / f"x{suffix}"))
        assert problem.cost(instance, written) == solution.cost
    assert len(solution.plot().axes) == 2
    with pytest.raises(ConfigError, match=rf"solution of {name} to end in \."):
        solution.write(tmp_path / "x.txt")


def test_where_the_upper_program_fails_the_incumbent_stands(tmp_path, data):
    seeds = seed_checkpoint("cvrp")
    contract = problem_of("cvrp").operator.selector.contract
    source = (
        f"def {contract.name}({', '.join(contract.arguments)}):\n    return routes[len(routes)]\n"
    )
    freeze(replace(seeds, uppers=(replace(seeds.upper, source=source),)), tmp_path / "checkpoint")
    solution = api.load(tmp_path / "checkpoint").repair(data / "tiny.vrp", data / "tiny.sol")
    assert solution.failed
    assert (solution.cost, solution.improvement) == (206, 0)
    assert solution.routes == ((1, 3), (2, 4), (5,))
    model = SpecAHDModel()
    model.load_context(
        SimpleNamespace(artifacts={"checkpoint": tmp_path / "checkpoint"}, model_config={})
    )
    table = model.predict(None, pd.DataFrame({"instance": [str(data / "tiny.vrp")]}))
    [row] = table.to_dict("records")
    assert (row["status"], row["cost"]) == ("T", row["baseline_cost"])
    observer, heard = Observer(), []
    observer.on_warning = heard.append
    api.evaluate(tmp_path / "checkpoint", [data / "tiny.vrp"], observer=observer)
    assert re.match("tiny: the upper program failed .*IndexError", heard[-1])


def test_an_instance_of_another_problem_is_refused(seeds):
    problem = problem_of("tsp")
    instance = api.ProblemInstance(problem, next(problem.generate("lower_train", 1)))
    with pytest.raises(ConfigError, match=r"tsp.* cvrp"):
        api.load(seeds).repair(instance)


def test_a_missing_layer_of_the_sandbox_is_a_warning_of_python(seeds, monkeypatch):
    monkeypatch.setattr("specahd.repair.execution.inspect_host", lambda: {"landlock": "absent"})
    with pytest.warns(UserWarning, match="landlock"):
        api.load(seeds)
    with pytest.raises(ConfigError, match="landlock"):
        api.load(seeds, execution=api.Execution(require="strict"))


def test_who_solves_evaluates_or_trains_is_told_that_loops_are_compiled(user, monkeypatch):
    class Told(Exception):
        """Ends it there."""

    class Hearer(Observer):
        def on_compile(self):
            raise Told

    def waiting(*_):
        report_compilation()
        raise AssertionError("nobody was told")

    monkeypatch.setattr(CVRP, "baseline", waiting)
    freeze_seeds("cvrp", user / "frozen")
    with pytest.raises(Told):
        api.solve("my.vrp", observer=Hearer())
    with pytest.raises(Told):
        api.evaluate(user / "frozen", ["my.vrp"], observer=Hearer())
    with pytest.raises(Told):
        api.train("cvrp", budget="smoke", out="other", pools="pools", observer=Hearer())


def test_an_evaluation_may_make_more_passes_than_training_did(api_run, user):
    pool = api.read_pool("cvrp", "validation", "pools", count=2)
    loaded = api.load(api_run / "run" / "checkpoint")
    once, again = (api.evaluate(loaded, pool, passes=passes, tries=2) for passes in (1, 50))
    assert {solution.repair.passes for solution in once.solutions} == {1}
    assert max(solution.repair.passes for solution in again.solutions) > 1
    for one, other in zip(once.rows, again.rows, strict=True):
        assert other["cost"] <= one["cost"]
        # The first pass is the same.
        first = [step for step in other["steps"] if step.pop("pass", 1) == 1]
        assert first == one["steps"]
    solution = loaded.repair(pool[0], passes=50, tries=2)
    assert solution.cost == again.rows[0]["cost"]


@pytest.mark.parametrize("wrong", [{"passes": 0}, {"tries": -1}, {"passes": 1.5}, {"tries": True}])
def test_passes_and_tries_out_of_range_are_refused(seeds, wrong):
    [name] = wrong
    with pytest.raises(ConfigError, match=f"^Expected {name} "):
        api.evaluate(api.load(seeds), [], **wrong)
