"""Problems and a repair operator that a user adds: nothing of specahd is edited for them.

``added`` holds a problem that is trained, one that the engine trains and solves (each is one
folder and one file of configuration), and a second repair operator of the CVRP, with a lower
contract of its own.
"""

import inspect
import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import test_bad_input
import test_problems
import test_repair_operators
import test_vocabulary
from small_cases import problem_of

import offered
from problems.described import described
from specahd import api
from specahd.api.instance_files import instance_files
from specahd.api.plans import TrainingPlan
from specahd.api.problems import settings_of
from specahd.api.programs import BY_HAND
from specahd.api.training import load_budget
from specahd.checkpoint.frozen import thaw
from specahd.config import files
from specahd.core import journal
from specahd.core.errors import CheckpointError, ConfigError
from specahd.core.loop_cache import LOOPS, LoopCache, folders, keep
from specahd.core.program import Level
from specahd.core.settings import Settings
from specahd.design.coupled import Coupled
from specahd.engine.passes import improve
from specahd.llm.offline import OfflineProposer
from specahd.methods.eoh import EoH
from specahd.routing.base import POOLS
from test_commands import call

ADDED = Path(__file__).parent / "added"
DATA = Path(__file__).parents[1] / "data"
ENV = {"PYTHONPATH": str(ADDED)}
# What these suites ask of every problem; one that is added has its own ``described.py``.
REFUSED = {
    name: test
    for name, test in vars(test_bad_input).items()
    if name.startswith("test_") and "name" in inspect.signature(test).parameters
}
# Its vocabularies are those of the TSP, whose samples the suite reads back already.
SPOKEN = {
    name: test
    for name, test in vars(test_vocabulary).items()
    if name.startswith("test_") and "samples" not in name
}
KEPT = {
    name: test
    for suite in (test_problems, test_repair_operators)
    for name, test in vars(suite).items()
    if name.startswith("test_")
}
OF_OPERATORS = [
    "test_regions_are_identified_by_what_a_rebuild_sees",
    "test_no_answer_makes_a_solution_infeasible",
    "test_an_honest_answer_is_merged",
]
SMALL = [
    f"hydra.searchpath=[file://{ADDED}]",
    "budget=smoke",
    "budget.programs=8",
    "budget.rounds=1",
    "budget.lower_train=4",
    "budget.upper_train=2",
    "budget.selection=2",
    "budget.validation=2",
    "tracking=none",
    "executor.workers=1",
    "hydra.run.dir=run",
]
WRITTEN = """{{Near customers first, {power} times.}}
```python
def order_customers(demands, distance_matrix):
    left, here, order = list(range(1, len(demands))), 0, []
    while left:
        here = min(left, key=lambda node: distance_matrix[here, node] - 0.{power} * demands[node])
        left.remove(here)
        order.append(here)
    return order
```
"""


def lines(place, name):
    return list(journal.read_records(place / "run" / f"{name}.jsonl"))


@pytest.fixture(autouse=True, scope="module")
def _cached_as_before() -> Iterator[None]:
    """Let later tests read specahd's loops: a process caches all apart for the problem it adds."""
    yield
    for loop in LOOPS:
        keep(loop)


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(ADDED)
    for module in (test_bad_input, offered):
        monkeypatch.setattr(module, "CONF_DIR", ADDED)


def test_it_reads_what_its_class_says_of_tables_and_folders():
    limited = problem_of("limited_cvrp")
    table = DATA / "stops.csv"
    assert api.read(table, limited, capacity=10).problem is limited
    ignored = ["ready", "due", "service"]
    read = api.read("samples/stops.csv", limited, capacity=30, ignore=ignored)
    assert limited.check(read.data, limited.baseline(read.data)) == ()
    assert api.read(table, capacity=10).problem.name == "cvrp"
    assert instance_files(limited, [DATA]) == instance_files(api.make_problem("cvrp"), [DATA])
    with pytest.raises(ConfigError, match=r"a table for cvrp, expected .*, got problem=open_tsp"):
        api.read(table, problem_of("open_tsp"), capacity=10)


@pytest.mark.parametrize(
    ("name", "test"),
    [
        *(("open_tsp", test) for test in KEPT),
        # The engine is compiled for it.
        *(pytest.param("limited_cvrp", test, marks=pytest.mark.integration) for test in KEPT),
        *(("cvrp_giant_tour", test) for test in OF_OPERATORS),
    ],
)
def test_it_keeps_what_every_problem_keeps(name, test, tmp_path, monkeypatch):
    asked = inspect.signature(KEPT[test]).parameters
    given = {
        "name": name,
        "problem": problem_of(name),
        "tmp_path": tmp_path,
        "monkeypatch": monkeypatch,
    }
    for pool in POOLS if "pool" in asked else POOLS[:1]:
        arguments = {**given, "pool": pool}
        KEPT[test](**{argument: arguments[argument] for argument in asked})


@pytest.mark.parametrize("test", REFUSED)
def test_it_refuses_what_every_problem_refuses(test, tmp_path, monkeypatch):
    kind = described("open_tsp")
    formats = [
        {"good": good, "spoil": spoil, "words": words}
        for good, listed in kind.formats.items()
        for spoil, words in listed
    ]
    of_tests = {
        "test_a_spoilt_file_gets_one_sentence": [{"what": what} for what in kind.spoilt],
        "test_a_spoilt_file_of_another_format_gets_one_sentence": formats,
    }
    asked = inspect.signature(REFUSED[test]).parameters
    readers = [{"reader": reader} for reader in ("read", "read_solution")]
    each = of_tests.get(test, readers if "reader" in asked else [{}])
    for index, arguments in enumerate(each):
        place = tmp_path / str(index)
        place.mkdir()
        if "monkeypatch" in asked:
            arguments = {**arguments, "monkeypatch": monkeypatch}
        REFUSED[test](name="open_tsp", tmp_path=place, **arguments)


@pytest.mark.parametrize("level", Level)
@pytest.mark.parametrize("test", SPOKEN)
def test_its_programs_are_composed_as_every_problem_s(test, level):
    SPOKEN[test]("open_tsp", level)


def test_a_fifth_problem_is_trained_offline(tmp_path):
    call("train", *SMALL, "problem=open_tsp", cwd=tmp_path, env=ENV)
    samples = [record for record in lines(tmp_path, "journal") if "sample" in record]
    assert len(samples) == 8
    assert {record["contract"] for record in samples} == {"append", "path_segments"}
    rows = lines(tmp_path, "validation")
    assert len(rows) == 2
    assert all(row["cost"] <= row["baseline_cost"] for row in rows)
    # Its solution files begin with node 1, which a picture of routes would not understand.
    assert not (tmp_path / "run" / "routes.json").exists()
    # A checkpoint names no code: who has the problem hands it over.
    problem, checkpoint = problem_of("open_tsp"), tmp_path / "run" / "checkpoint"
    with pytest.raises(ConfigError, match="problem 'open_tsp'"):
        api.load(checkpoint)
    with pytest.raises(ConfigError, match="not both"):
        api.load(checkpoint, problem=problem, baseline="nearest")
    with pytest.raises(CheckpointError, match="is one of open_tsp, not cvrp_giant_tour"):
        api.load(checkpoint, problem=problem_of("cvrp_giant_tour"))
    assert settings_of(problem) == thaw(checkpoint).settings
    [instance, _] = api.read_pool(problem, "selection", tmp_path / "pools", count=2)
    solution = api.load(checkpoint, problem=problem).repair(instance)
    assert solution.cost < solution.incumbent_cost

    # The run remembers the folder, so these name none.
    shown = call("evaluate", "checkpoint=run", "pool=validation", cwd=tmp_path, env=ENV).stdout
    assert "open_tsp: nearest, repaired by run" in shown
    told = ["runs=.", "tracking=none", "hydra.run.dir=report"]
    assert "1 runs" in call("report", *told, cwd=tmp_path, env=ENV).stdout
    assert "follow from" in call("report", "audit=run", cwd=tmp_path, env=ENV).stdout
    call("train", "resume=run", cwd=tmp_path, env=ENV)
    [own, *_] = sorted((tmp_path / "pools" / "open_tsp" / "validation").glob("*.tsp"))
    asked = ["checkpoint=run", "problem=open_tsp", f"instance={own}"]
    assert "problem.max_size=12" in call("solve", *asked, "-h", cwd=tmp_path, env=ENV).stdout
    done = call("solve", *asked, cwd=tmp_path, env=ENV, check=False)
    assert "open_tsp cannot be solved yet" in done.stderr
    # So do its files to verify, with solutions.
    asked = ["verify=pools", "problem=open_tsp", SMALL[0]]
    own.with_suffix(".sol").write_text("Route #1: 1\nCost 1\n")
    done = call("prepare", *asked, cwd=tmp_path, env=ENV, check=False)
    assert f"pools/open_tsp/validation/{own.name}: read, open_tsp of size 12" in done.stdout
    assert (done.returncode, "does not solve" in done.stderr) == (2, True)
    done = call("evaluate", "checkpoint=run", "pool=validation", cwd=tmp_path, check=False)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert "PYTHONPATH" in done.stderr
    # A checkpoint without its run: the option says where the problem is.
    checkpoint.rename(tmp_path / "alone")
    words = ["checkpoint=alone", "pool=validation"]
    done = call("evaluate", *words, cwd=tmp_path, env=ENV, check=False)
    assert "hydra.searchpath" in done.stderr
    call("evaluate", *words, SMALL[0], cwd=tmp_path, env=ENV)


@pytest.mark.integration
def test_a_problem_with_a_constraint_of_its_own_is_trained_and_solved_by_the_engine(tmp_path):
    asked = "problem=limited_cvrp", "problem.repairs_per_customer=5", "budget.programs=2"
    # The first time its loops are compiled, on a busy machine for minutes.
    call("train", *SMALL, *asked, cwd=tmp_path, env=ENV, timeout=900)
    samples = [record for record in lines(tmp_path, "journal") if "sample" in record]
    assert {record["contract"] for record in samples} == {"insertion", "ordered_groups"}
    rows = lines(tmp_path, "validation")
    assert all(row["feasible"] and row["cost"] < row["baseline_cost"] for row in rows)

    problem = problem_of("limited_cvrp")
    data = next(problem.generate("validation", 1))
    given = api.ProblemInstance(problem, data)
    costs = []
    for programs in (tmp_path / "run" / "checkpoint", BY_HAND):
        solved = api.solve(given, repairs=5000, seed=1, checkpoint=programs)
        assert solved.failure == ""
        assert problem.check(data, solved.data) == ()
        assert solved.cost < solved.incumbent_cost
        costs.append(solved.cost)
    # The command finds the same, if it is told whose file that is; the run remembers the folder.
    (tmp_path / "own.vrp").write_text(problem.dumps(data))
    asked = ["instance=own.vrp", "problem=limited_cvrp", "out=own.sol", "repairs=5000", "seed=1"]
    for words, cost in zip(["checkpoint=run", SMALL[0]], costs, strict=True):
        call("solve", words, *asked, cwd=tmp_path, env=ENV, timeout=900)
        told = json.loads((tmp_path / "own.json").read_text())
        assert (told["problem"], told["cost"]) == ("limited_cvrp", cost)
    # The same instance has a cheaper solution that the constraint forbids.
    free = api.solve(api.ProblemInstance(api.make_problem("cvrp"), data), repairs=5000, seed=1)
    assert {violation.kind for violation in problem.check(data, free.data)} == {"length"}
    assert free.cost < solved.cost
    # What numba keeps of its loops names its types, so it lies apart from that of other problems.
    others = tuple(sorted((ADDED / "limited_cvrp").glob("*.py")))
    apart, plain = (
        {
            file
            for folder in folders()
            for file in (folder / LoopCache(improve.py_func, more).cache_path).glob("improve-*")
        }
        for more in (others, ())
    )
    assert apart
    assert plain
    assert not apart & plain


def test_a_second_lower_contract_is_trained_with_a_language_model(tmp_path):
    replies = [
        {"sample": f"lower-1-{index:04d}", "hash": "", "reply": WRITTEN.format(power=index),
         "prompt_tokens": 1, "completion_tokens": 1, "cost": 0.0}
        for index in range(8)
    ]  # fmt: skip
    (tmp_path / "model.jsonl").write_text("".join(json.dumps(reply) + "\n" for reply in replies))
    asked = ["llm=recorded", "llm.path=model.jsonl", "llm.match=sample", "search.levels=lower"]
    call("train", *SMALL, "problem=cvrp_giant_tour", *asked, cwd=tmp_path, env=ENV)
    samples = [record for record in lines(tmp_path, "journal") if "sample" in record]
    assert [record["contract"] for record in samples] == ["giant_tour"] * 8
    assert {record["outcome"] for record in samples} == {"ok"}
    place = tmp_path / "run" / "checkpoint"
    checkpoint = thaw(place)
    assert checkpoint.upper.contract == "customer_groups"
    assert {program.contract for program in checkpoint.repertoire} == {"giant_tour"}
    assert checkpoint.settings["repair"] == "giant_tour"
    problem = problem_of("cvrp_giant_tour")
    assert api.load(place, problem=problem).problem is problem
    # With these programs given, the upper level needs no other lower programs.
    plan = TrainingPlan(
        problem=problem,
        proposer=OfflineProposer(),
        method=partial(Coupled, policy=EoH),
        memories={level: files.make_from("memory", "none") for level in Level},
        budget=load_budget("smoke", {"_target_": "specahd.problems.cvrp.problem.CVRP"}),
        seed=0,
        settings=Settings(levels="upper", repertoire=str(place)),
    )
    assert plan.check() is not None
    with pytest.raises(ConfigError, match="the contract giant_tour has none"):
        replace(plan, settings=Settings(levels="lower")).check()


def test_no_programs_are_composed_for_a_contract_without_a_vocabulary(tmp_path):
    done = call("train", *SMALL, "problem=cvrp_giant_tour", cwd=tmp_path, env=ENV, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("llm=offline composes programs")
    assert "giant_tour" in done.stderr
    assert not list(tmp_path.iterdir())
