"""The Python API as a script uses it; its docstrings' examples and docs/reference/python.md run."""

import doctest
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from hydra.utils import instantiate
from omegaconf import OmegaConf

from commands import call
from frozen import freeze_seeds, problem_of, seed_checkpoint
from offered import COMPOSED, METHODS
from specahd import api
from specahd.api.problems import settings_of
from specahd.checkpoint import freeze, thaw
from specahd.config import CONF_DIR
from specahd.config.files import choices, declared_options, factory_of
from specahd.core import journal
from specahd.core.compilation import report_compilation
from specahd.core.errors import ConfigError, FileError
from specahd.core.events import Observer
from specahd.methods.eoh import EoH
from specahd.model import SpecAHDModel
from specahd.problems.cvrp.problem import CVRP
from specahd.routing.base import POOLS
from specahd.sandbox.executor import LocalExecutor

ROOT = Path(__file__).parent.parent

MODULES = ("checkpoints", "evaluation", "problems", "solutions", "solving", "training")
SMALL = api.Budget(4, rounds=1, lower_train=2, upper_train=2, selection=2, validation=2)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with pools, and a run that the API made there."""
    place = tmp_path_factory.mktemp("api")
    api.train("cvrp", budget=SMALL, out=place / "run", pools=place / "pools")
    return place


@pytest.fixture
def user(place, tmp_path, monkeypatch):
    """Where a user stands who has the repository's small instances."""
    shutil.copytree(ROOT / "tests" / "data", tmp_path / "tests" / "data")
    for kind in ("vrp", "sol"):
        shutil.copy(ROOT / "tests" / "data" / f"tiny.{kind}", tmp_path / f"my.{kind}")
    (tmp_path / "pools").symlink_to(place / "pools")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def other(place):
    """A run with another seed beside it."""
    api.train("cvrp", budget=SMALL, seed=1, out=place / "other", pools=place / "pools")
    return place / "other"


def instances(run, pool):
    return [row["instance"] for row in journal.read_records(run / f"{pool}.jsonl")]


def test_seeds_train_on_instances_of_their_own_and_are_compared_on_the_same(place, other):
    for pool in ("selection", "validation"):
        assert instances(other, pool) == instances(place / "run", pool)
    tasks = [next(journal.read_records(run / "responses.jsonl")) for run in (place / "run", other)]
    assert tasks[0]["tasks"][0]["key"] != tasks[1]["tasks"][0]["key"]


def test_a_run_whose_seed_drew_the_instances_that_it_was_chosen_on_is_refused(
    place, other, tmp_path
):
    run = tmp_path / "run"
    shutil.copytree(other, run)
    options = {"budget": SMALL, "seed": 1, "out": run, "pools": place / "pools", "resume": True}
    api.train("cvrp", **options)
    assert (run / "journal.jsonl").read_bytes() == (other / "journal.jsonl").read_bytes()
    path = run / "journal.jsonl"
    mark, *samples = path.read_text().splitlines(keepends=True)
    assert json.loads(mark) == {"record": "subsets", "seed": 0}
    path.write_text("".join(samples))
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    with pytest.raises(FileError, match=r"run was written by specahd .*, which alone can go on"):
        api.train("cvrp", **options)
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before


@pytest.mark.integration
@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_the_docstrings_are_true(place, user, module):
    found = importlib.import_module(f"specahd.api.{module}")
    given = {"checkpoint": place / "run" / "checkpoint", "pools": place / "pools"}
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
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == ["set()"] * 3, done.stdout + done.stderr


@pytest.mark.parametrize("program", ["-c", "-m", "/usr/bin/specahd"])
def test_the_package_alone_imports_nothing_else(program):
    # Of a command not even what handles signals: Ctrl-C would be seen while it is imported.
    code = (
        f"import sys; sys.argv[0] = {program!r}; before = set(sys.modules)\n"
        "import specahd\n"
        "new = set(sys.modules) - before\n"
        "import signal; print(*new, signal.getsignal(signal.SIGINT) is signal.SIG_DFL)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == ["specahd", str(program != "-c")], done.stderr


def test_the_command_and_the_api_write_the_same_bytes(place):
    few = [f"budget.{pool}=2" for pool in POOLS]
    options = ["budget=smoke", "budget.programs=4", "budget.rounds=1", *few, "tracking=none"]
    call("train", *options, "hydra.run.dir=command", cwd=place)
    ours, theirs = place / "run", place / "command"
    for name in ("journal.jsonl", "responses.jsonl", "selection.jsonl", "validation.jsonl"):
        assert (ours / name).read_bytes() == (theirs / name).read_bytes(), name
    sums = Path("checkpoint", "SHA256SUMS")
    assert (ours / sums).read_bytes() == (theirs / sums).read_bytes()


def test_a_method_by_name_is_that_of_the_command_its_memory_too(place):
    few = [f"budget.{pool}=2" for pool in POOLS]
    options = ["budget=smoke", "budget.programs=4", *few, "tracking=none", "method=fun_search"]
    call("train", *options, "hydra.run.dir=named-command", cwd=place)
    ours, theirs = place / "named", place / "named-command"
    api.train("cvrp", method="fun_search", budget=SMALL, out=ours, pools=place / "pools")
    for name in ("journal.jsonl", "responses.jsonl", "selection.jsonl", "validation.jsonl"):
        assert (ours / name).read_bytes() == (theirs / name).read_bytes(), name


@pytest.mark.parametrize("name", COMPOSED)
def test_a_method_that_sets_other_options_is_for_commands(name):
    with pytest.raises(ConfigError, match=f"^method={name} is put together by the commands only"):
        factory_of("method", name)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_of_a_file_is_made_as_hydra_makes_it(name):
    conf = OmegaConf.load(CONF_DIR / "method" / f"{name}.yaml")
    conf.pop("defaults", None)
    theirs, ours = instantiate(conf, _convert_="all"), factory_of("method", name)
    assert ours.func is theirs.func
    assert ours.keywords.keys() == theirs.keywords.keys()
    policies = ours.keywords.pop("policy"), theirs.keywords.pop("policy")
    assert ours.keywords == theirs.keywords
    assert policies[0].func is policies[1].func
    assert policies[0].keywords == policies[1].keywords


def test_a_run_that_broke_off_is_resumed_to_the_same_bytes(place, tmp_path):
    told = []

    class Impatient(Observer):
        def on_round(self, end):
            raise KeyboardInterrupt

        def on_stop(self, reason):
            told.append(reason)

    run = partial(api.train, "cvrp", budget=SMALL, pools=place / "pools", out=tmp_path / "run")
    with pytest.raises(KeyboardInterrupt):
        run(observer=Impatient())
    assert told == ["Ctrl-C"]
    with pytest.raises(ConfigError, match="holds a run already"):
        run()
    run(resume=True)
    for name in ("journal.jsonl", "validation.jsonl"):
        assert (tmp_path / "run" / name).read_bytes() == (place / "run" / name).read_bytes()
    with pytest.raises(ConfigError, match="holds no run"):
        run(resume=True, out=tmp_path / "none")


def test_bad_arguments_of_a_training_are_refused_before_anything_is_written(tmp_path):
    out = tmp_path / "run"
    for arguments, sentence in (
        ({"budget": "huge"}, "Expected budget to be one of"),
        ({"method": "annealing"}, "Expected method to be one of"),
        ({"memory": "perfect"}, "Expected memory to be one of"),
        ({"proposer": "mixture"}, "make it in code"),
        ({"seed": -1}, "Expected seed"),
        ({"method": partial(EoH, population=1)}, "population"),
        ({"pools_seed": -1}, r"Expected pools\.seed"),
    ):
        with pytest.raises(ConfigError, match=sentence):
            api.train("cvrp", **{"budget": SMALL, "out": out, **arguments})
    with pytest.raises(ConfigError, match=r"budget\.rounds"):
        api.Budget(4, rounds=0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", choices("problem"))
def test_a_file_is_known_by_its_content_alone(tmp_path, name):
    problem = problem_of(name)
    instance = next(problem.generate("lower_train", 1))
    path = tmp_path / "instance"
    path.write_text(problem.dumps(instance))
    found = api.read(path)
    assert (found.problem.name, found.size) == (name, instance.size)
    assert settings_of(found.problem) == declared_options("problem", name)


def test_a_file_that_is_no_instance_is_refused_in_one_sentence(tmp_path, data):
    path = tmp_path / "poem.txt"
    path.write_text("Whose woods these are\n")
    with pytest.raises(FileError, match="line 1 is 'Whose woods these are', expected") as refused:
        api.read(path)
    assert ", ".join(choices("problem")) in str(refused.value)
    torn = tmp_path / "torn.vrp"
    torn.write_text((data / "tiny.vrp").read_text().replace("CAPACITY : 10", ""))
    for wrong, sentence in (
        (torn, "CAPACITY is missing"),
        (data / "tiny.sol", "this is a solution, expected an instance"),
        (tmp_path / "missing.vrp", "Cannot read"),
    ):
        with pytest.raises(FileError, match=sentence):
            api.read(wrong)


def test_a_table_tells_its_problem_and_takes_the_options_of_one_that_is_given(tmp_path, data):
    table = data / "stops.csv"
    given = api.make_problem("cvrp", baseline="nearest")
    assert api.read(table, given, capacity=10).problem is given
    assert api.read(table, "cvrp", capacity=10).problem.name == "cvrp"
    with pytest.raises(ConfigError, match=r"is a table for cvrp, expected no problem=tsp\."):
        api.read(table, "tsp", capacity=10)
    with pytest.raises(ConfigError, match="nosuch"):
        api.read(table, "nosuch", capacity=10)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"seed": 2**63}, "Expected seed in"),
        ({"seed": 1.5}, "Expected seed to be an integer, got 1.5."),
        ({"repairs": 10.5}, "Expected repairs to be an integer, got 10.5."),
        ({"time_limit": "1"}, "Expected time_limit to be a number, got '1'."),
        ({"target": "x"}, "Expected target to be a number, got 'x'."),
        ({"memory_gb": "4"}, "Expected memory_gb to be a number, got '4'."),
    ],
)
def test_an_option_of_another_kind_is_refused(data, options, sentence):
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        api.solve(data / "tiny.vrp", **options)


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
    [row] = model.predict(None, pd.DataFrame({"instance": [str(data / "tiny.vrp")]})).to_dict(
        "records"
    )
    assert (row["status"], row["cost"]) == ("T", row["baseline_cost"])
    observer = Warned()
    api.evaluate(tmp_path / "checkpoint", [data / "tiny.vrp"], observer=observer)
    assert observer.heard[-1:] == [
        "tiny: the upper program failed (crashed): IndexError: list index out of range"
    ]


class Warned(Observer):
    def __init__(self):
        self.heard = []

    def on_warning(self, text):
        self.heard.append(text)


def test_an_instance_of_another_problem_is_refused(place, tmp_path):
    problem = problem_of("tsp")
    instance = api.ProblemInstance(problem, next(problem.generate("lower_train", 1)))
    with pytest.raises(ConfigError, match="an instance of tsp, and the checkpoint one of cvrp"):
        api.load(place / "run" / "checkpoint").repair(instance)


def test_a_missing_layer_of_the_sandbox_is_a_warning_of_python(place, monkeypatch):
    monkeypatch.setattr("specahd.repair.execution.inspect_host", lambda: {"landlock": "absent"})
    with pytest.warns(UserWarning, match=r"Programs run without landlock \(absent\)"):
        api.load(place / "run" / "checkpoint")
    with pytest.raises(ConfigError, match="and this host lacks landlock"):
        api.load(place / "run" / "checkpoint", execution=api.Execution(require="strict"))


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
        api.train("cvrp", budget=SMALL, out="other", pools="pools", observer=Hearer())


def test_commands_are_short_and_leave_the_work_to_the_library():
    for path in CONF_DIR.glob("*.yaml"):
        command = ROOT / "src" / "specahd" / f"{path.stem}.py"
        assert len(command.read_text().splitlines()) <= 150, command


def test_a_missing_key_is_told_before_what_only_a_run_imports(tmp_path):
    code = (
        "import runpy, sys\n"
        "for name in ('openai', 'numba', 'mlflow', 'specahd.api'): sys.modules[name] = None\n"
        "sys.argv[0] = 'train'\n"
        "runpy.run_module('specahd.train', run_name='__main__', alter_sys=True)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "llm=deepseek"],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if not name.endswith("KEY")},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert "DEEPSEEK_API_KEY" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_an_evaluation_may_make_more_passes_than_training_did(place, user):
    pool = api.read_pool("cvrp", "validation", "pools", count=2)
    loaded = api.load(place / "run" / "checkpoint")
    once, again = (api.evaluate(loaded, pool, passes=passes, tries=2) for passes in (None, 50))
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
def test_passes_and_tries_out_of_range_get_a_sentence(place, wrong):
    [name] = wrong
    with pytest.raises(ConfigError, match=f"Expected {name} (of at least 1|to be an integer), got"):
        api.load(place / "run" / "checkpoint").repair_cases([], **wrong)


@pytest.mark.parametrize("method", ["eoh", "eoh_s"])
@pytest.mark.parametrize(
    ("option", "expected", "given"),
    [("uppers", 1, 2), ("incumbents", "baseline", "repaired")],
)
def test_only_the_coupled_search_has_what_extends_its_upper_level(
    tmp_path, method, option, expected, given
):
    where = {"eoh": "where a method searches one level", "eoh_s": "where every program of a port"}
    settings = api.Settings(**{"passes": 2 if option == "uppers" else 1, option: given})
    with pytest.raises(
        ConfigError, match=f"search.{option}={expected} {where[method]}.*, got {given}"
    ):
        api.train("cvrp", method=method, settings=settings, out=tmp_path / "run", pools=tmp_path)


@pytest.mark.parametrize("repair", ["construct", "insertion"])
@pytest.mark.parametrize("name", ["passes", "tries"])
def test_where_there_is_one_pass_no_more_are_asked_for(tmp_path, repair, name):
    problem = api.make_problem("cvrp", repair=repair)
    where = {"construct": "where regions are whole", "insertion": "where the engine makes"}[repair]
    settings = api.Settings(**{name: 2})
    with pytest.raises(ConfigError, match=rf"Expected search\.{name}=1 {where} .*, got 2\."):
        api.train(problem, settings=settings, budget=SMALL, out=tmp_path / "run", pools=tmp_path)
    assert not list(tmp_path.iterdir())


TURNS = api.Settings(uppers=3, passes=8, tries=2)
BUDGET_OF_TURNS = api.Budget(24, rounds=2, lower_train=6, upper_train=4, selection=4, validation=4)


class Interrupted(Observer):
    """Presses Ctrl-C at a commit."""

    def __init__(self, at):
        self.left = at

    def on_commit(self, committed, spent):
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt


def turns(directory, pools, workers, **options):
    execution = api.Execution(partial(LocalExecutor, workers=workers))
    api.train(
        "cvrp", budget=BUDGET_OF_TURNS, settings=TURNS, execution=execution, seed=1,
        out=directory, pools=pools, **options,
    )  # fmt: skip


def told(directory):
    """Return the bytes of a run that say nothing of time and place."""
    files = (path for path in directory.rglob("*") if path.is_file())
    left_out = ("timings", "wal.jsonl", "machine.json", "sandbox.json")
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in files
        if not any(word in path.name for word in left_out)
    }


@pytest.fixture(scope="module")
def undisturbed(place):
    turns(place / "turns", place / "pools", 1)
    return place / "turns"


@pytest.mark.integration
def test_several_upper_programs_in_turns_give_the_same_bytes(place, undisturbed, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        turns(tmp_path / "run", place / "pools", 4, observer=Interrupted(20))
    kept = thaw(tmp_path / "run" / "checkpoint")
    assert (kept.passes, kept.tries) == (8, 2)
    turns(tmp_path / "run", place / "pools", 4, resume=True)
    assert told(tmp_path / "run") == told(undisturbed)


def test_several_upper_programs_are_frozen_and_repair_in_turns(undisturbed):
    frozen = thaw(undisturbed / "checkpoint")
    assert len(frozen.uppers) > 1
    rows = [json.loads(line) for line in (undisturbed / "validation.jsonl").open()]
    named = {step["upper"] for row in rows for step in row["steps"]}
    assert 1 < len(named) <= len(frozen.uppers)
    assert named <= {program.id for program in frozen.uppers}
    assert all(row["feasible"] for row in rows)
    assert max(row["passes"] for row in rows) > len(frozen.uppers)
