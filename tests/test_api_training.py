"""Trainings by the Python API: the bytes of the command, refusals, and several upper programs."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import partial
from math import isnan

import pytest
from hydra import compose, initialize_config_dir
from hydra.utils import instantiate
from omegaconf import OmegaConf

from commands import TINY, call
from foreign import look
from offered import COMPOSED, METHODS, PROBLEMS
from specahd import api
from specahd.api import training
from specahd.checkpoint.frozen import thaw
from specahd.config import CONF_DIR
from specahd.config.files import factory_of, method_of
from specahd.config.schemas import register_schemas
from specahd.core import journal
from specahd.core.errors import ConfigError, FileError
from specahd.core.events import Observer
from specahd.core.program import Level
from specahd.design.coupled import Coupled, contracts_of
from specahd.methods.eoh import EoH
from specahd.runs.reading import read_spending
from specahd.sandbox.executor import LocalExecutor

SMALL = api.Budget(4, rounds=1, lower_train=2, upper_train=2, selection=2, validation=2)
WRITTEN = ("journal.jsonl", "responses.jsonl", "selection.jsonl", "validation.jsonl")


@pytest.fixture(scope="module")
def other(api_run, tmp_path_factory):
    """A run with another seed."""
    out = tmp_path_factory.mktemp("other") / "run"
    api.train("cvrp", budget=SMALL, seed=1, out=out, pools=api_run / "pools")
    return out


def instances(run, pool):
    return [row["instance"] for row in journal.read_records(run / f"{pool}.jsonl")]


def test_seeds_train_on_instances_of_their_own_and_are_compared_on_the_same(api_run, other):
    for pool in ("selection", "validation"):
        assert instances(other, pool) == instances(api_run / "run", pool)
    tasks = [
        next(journal.read_records(run / "responses.jsonl")) for run in (api_run / "run", other)
    ]
    assert tasks[0]["tasks"][0]["key"] != tasks[1]["tasks"][0]["key"]


def test_a_budget_by_name_suits_the_problem(tmp_path, monkeypatch):
    register_schemas()
    plans = []
    monkeypatch.setattr(training, "run_training", lambda plan, *_, **__: plans.append(plan))
    for problem in ("cvrp", "vrptw"):
        api.train(problem, budget="smoke", out=tmp_path / problem, pools=tmp_path)
        with initialize_config_dir(str(CONF_DIR), version_base=None):
            words = [f"problem={problem}", "budget=smoke"]
            composed = compose("train", words).budget
        assert plans[-1].budget == api.Budget(**composed)
    assert plans[0].budget != plans[1].budget


def test_a_run_whose_seed_drew_the_instances_that_it_was_chosen_on_is_refused(
    api_run, other, tmp_path
):
    run = tmp_path / "run"
    shutil.copytree(other, run)
    go_on = partial(api.train, "cvrp", budget=SMALL, seed=1, pools=api_run / "pools", resume=True)
    go_on(out=run)
    path = run / "journal.jsonl"
    assert path.read_bytes() == (other / "journal.jsonl").read_bytes()
    mark, *samples = path.read_text().splitlines(keepends=True)
    assert json.loads(mark) == {"record": "subsets", "seed": 0}
    path.write_text("".join(samples))
    before = look(run)
    with pytest.raises(FileError, match="run was written by specahd"):
        go_on(out=run)
    assert look(run) == before


@pytest.mark.parametrize("method", ["specahd", "fun_search", "specahd_one_pass"])
def test_the_command_and_the_api_write_the_same_bytes(api_run, tmp_path, method):
    (tmp_path / "pools").symlink_to(api_run / "pools")
    budget = [word for word in TINY if word.startswith("budget")]
    options = [*budget, "tracking=none", f"method={method}", "hydra.run.dir=command"]
    call("train", *options, cwd=tmp_path)
    ours = api_run / "run"
    if method != "specahd":
        ours = tmp_path / "run"
        api.train("cvrp", method=method, budget=SMALL, out=ours, pools=api_run / "pools")
    for name in (*WRITTEN, "checkpoint/SHA256SUMS"):
        assert (ours / name).read_bytes() == (tmp_path / "command" / name).read_bytes(), name


def test_zero_tickets_freeze_the_seed_pair(api_run, tmp_path):
    budget = replace(SMALL, programs=0)
    api.train(
        "cvrp",
        method="specahd_one_pass",
        budget=budget,
        out=tmp_path / "run",
        pools=api_run / "pools",
    )
    frozen = thaw(tmp_path / "run" / "checkpoint")
    assert frozen.upper.id == "upper-seed"
    assert [program.id for program in frozen.repertoire] == ["lower-seed"]


@pytest.mark.parametrize("level", ["lower", "upper"])
def test_one_level_alone(api_run, tmp_path, level):
    given = api_run / "run" / "checkpoint"
    settings = api.Settings(levels=level, repertoire=str(given) if level == "upper" else None)
    run, pools = tmp_path / "run", api_run / "pools"
    api.train("cvrp", budget=SMALL, settings=settings, out=run, pools=pools)
    records = journal.read_records(run / "journal.jsonl")
    assert {record["level"] for record in records if "sample" in record} == {level}
    frozen = thaw(run / "checkpoint")
    if level == "upper":
        assert frozen.repertoire == thaw(given).repertoire
    else:
        assert frozen.upper.id == "upper-seed"


def test_a_training_says_what_it_took_unless_part_of_it_is_unknown(api_run, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(api_run / "run", run)
    assert 0 < read_spending(run).cpu_seconds < 100
    assert read_spending(run).evaluations > 0
    (run / "validation.jsonl").unlink()
    api.train("cvrp", budget=SMALL, out=run, pools=api_run / "pools", resume=True)
    assert isnan(read_spending(run).cpu_seconds)


def test_no_training_reads_confirmation(api_run, tmp_path):
    pools = tmp_path / "pools"
    shutil.copytree(api_run / "pools", pools)
    place = pools / "cvrp" / "confirmation"
    # It is written when it is first read.
    assert not place.exists()
    first, *_ = api.read_pool("cvrp", "confirmation", pools, count=3)
    found = api.load(api_run / "run" / "checkpoint").repair(first)
    assert found.improvement >= 0
    for path in place.glob("*.vrp"):
        path.write_text("altered")
    with pytest.raises(FileError, match=r"confirmation.* is missing or altered"):
        api.read_pool("cvrp", "confirmation", pools)
    api.train("cvrp", budget=SMALL, out=tmp_path / "run", pools=pools)
    validation = (tmp_path / "run" / "validation.jsonl").read_bytes()
    assert validation == (api_run / "run" / "validation.jsonl").read_bytes()


def test_a_search_begins_with_the_programs_of_a_run_in_place_of_those_by_hand(api_run, tmp_path):
    train = partial(api.train, pools=api_run / "pools")
    building = api.make_problem("cvrp", repair="construct")
    best = train(building, method="eoh_s", budget=SMALL, out=tmp_path / "best")
    evolved = {program.source for program in thaw(best.checkpoint).repertoire}
    unsearched = replace(SMALL, programs=0)
    for seeds in ("single", "varied"):
        settings = api.Settings(seeds=seeds, initial_programs=str(tmp_path / "best"))
        out = tmp_path / seeds
        train("cvrp", budget=unsearched, settings=settings, out=out)
        frozen = thaw(out / "checkpoint")
        seed, *others = sorted(frozen.repertoire, key=lambda one: one.id != "lower-seed")
        assert others
        assert {one.source for one in others} <= evolved
        assert all(one.id.startswith("lower-given-1-") for one in others)
        assert {one.contract for one in (seed, *others)} == {"append"}
        # A resumed run must get the same programs.
        given = next(journal.read_records(out / "journal.jsonl"))
        sums = (best.checkpoint / "SHA256SUMS").read_text()
        assert given == {"record": "given", "initial_programs": sums}


def test_a_search_begins_with_the_upper_programs_of_a_run_where_it_is_told_to(api_run, tmp_path):
    given = thaw(api_run / "run" / "checkpoint")
    kept = {Level.LOWER: given.repertoire, Level.UPPER: given.uppers}
    for levels, begun in (("lower", ["lower"]), ("upper", ["upper"]), ("both", Level)):
        settings = api.Settings(seeds="varied", initial_programs="run", initial_levels=levels)
        for level, contract in contracts_of(api.make_problem("cvrp"), settings, given).items():
            assert len(contract.others) > 1
            named = {one.id.startswith(f"{level}-given-") for one in contract.others}
            assert named == {level in begun}
            if level in begun:
                sources = {program.source for program in kept[level]}
                assert {one.source for one in contract.others} == sources - {contract.seed.source}
    named = {"initial_programs": str(api_run / "run"), "initial_levels": "upper"}
    settings = api.Settings(uppers=9, passes=9, **named)
    budget = replace(SMALL, programs=0)
    api.train("cvrp", budget=budget, settings=settings, out=tmp_path, pools=api_run / "pools")
    frozen = thaw(tmp_path / "checkpoint")
    assert {one.level for one in frozen.programs if "-given-" in one.id} == {"upper"}


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        (
            "cvrp",
            {"repair": "insertion"},
            r"search\.initial_programs=.*: .* must be called select_position",
        ),
        ("tsp", {}, r"^search\.initial_programs is a checkpoint of cvrp, not of tsp\.$"),
    ],
)
def test_programs_for_something_else_are_refused(api_run, tmp_path, name, options, sentence):
    settings = api.Settings(initial_programs=str(api_run / "run"))
    problem = api.make_problem(name, **options)
    with pytest.raises(ConfigError, match=sentence):
        api.train(problem, settings=settings, out=tmp_path / "run", pools=api_run / "pools")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("name", COMPOSED)
def test_a_method_sets_the_options_of_other_groups_as_for_the_command(name, problem):
    register_schemas()
    with initialize_config_dir(str(CONF_DIR), version_base="1.3"):
        config = compose("train", [f"problem={problem}", f"method={name}"])
    chosen = method_of(name, config.problem)
    policy = {key: value for key, value in config.method.policy.items() if key[0] != "_"}
    assert chosen.rounds.keywords["policy"].keywords == policy
    assert set(chosen.options) == {"search"}
    for group, options in chosen.options.items():
        assert options == {name: config[group][name] for name in options}


WHOLE = {"repair": "construct"}


def test_the_class_of_a_method_is_the_method_of_its_name():
    for name in METHODS:
        chosen = method_of(name, {})
        policy = chosen.rounds.keywords["policy"]
        if name != "specahd_one_pass":
            again = method_of(policy.func, WHOLE)
            assert (again.rounds.func, again.memory) == (chosen.rounds.func, chosen.memory)
            assert again.rounds.keywords["policy"].func is policy.func
            assert again.rounds.keywords["policy"].keywords == policy.keywords
    few = method_of(partial(EoH, population=5), WHOLE).rounds.keywords["policy"].keywords
    assert few == {**method_of("eoh", {}).rounds.keywords["policy"].keywords, "population": 5}
    coupled = partial(Coupled, policy=EoH)
    assert method_of(coupled, {}).rounds is coupled


class Mine:
    """A search method of one's own, which no file names."""


@pytest.mark.parametrize("method", [Mine, lambda: Mine()])
def test_a_method_that_no_file_has_is_refused_with_the_names(method):
    with pytest.raises(ConfigError, match=r"one of eoh, .*vrpagent, the class.*policy=.*got "):
        method_of(method, WHOLE)


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


def test_a_run_that_broke_off_is_resumed_to_the_same_bytes(api_run, tmp_path):
    told = []

    class Impatient(Observer):
        def on_round(self, end):
            raise KeyboardInterrupt

        def on_stop(self, reason):
            told.append(reason)

    run = partial(api.train, "cvrp", budget=SMALL, pools=api_run / "pools", out=tmp_path / "run")
    with pytest.raises(KeyboardInterrupt):
        run(observer=Impatient())
    assert told == ["Ctrl-C"]
    with pytest.raises(ConfigError, match="holds a run already"):
        run()
    run(resume=True)
    for name in ("journal.jsonl", "validation.jsonl"):
        assert (tmp_path / "run" / name).read_bytes() == (api_run / "run" / name).read_bytes()
    with pytest.raises(ConfigError, match="holds no run"):
        run(resume=True, out=tmp_path / "none")


def test_bad_arguments_of_a_training_are_refused_before_anything_is_written(tmp_path):
    out = tmp_path / "run"
    for arguments, named in (
        ({"budget": "huge"}, "budget"),
        ({"method": "annealing"}, "method"),
        ({"memory": "perfect"}, "memory"),
        ({"proposer": "mixture"}, "make it in code"),
        ({"seed": -1}, "Expected seed"),
        ({"method": partial(EoH, population=1)}, "population"),
        ({"pools_seed": -1}, r"pools\.seed"),
    ):
        with pytest.raises(ConfigError, match=named):
            api.train("cvrp", **{"budget": SMALL, "out": out, **arguments})
    with pytest.raises(ConfigError, match=r"budget\.rounds"):
        api.Budget(4, rounds=0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("repair", "method", "names", "reason"),
    [
        ("append", "eoh", ("uppers", "incumbents"), "where a method searches one level"),
        ("append", "eoh_s", ("uppers", "incumbents"), "portfolio"),
        ("construct", "specahd", ("passes", "tries"), "where regions are whole"),
        ("insertion", "specahd", ("passes", "tries"), "where the engine makes"),
    ],
)
def test_a_setting_without_an_effect_is_refused(tmp_path, repair, method, names, reason):
    problem = api.make_problem("cvrp", repair=repair)
    others = {"uppers": 2, "incumbents": "repaired", "passes": 2, "tries": 2}
    train = partial(api.train, problem, method=method, budget=SMALL, pools=tmp_path / "pools")
    for name in names:
        passes = 2 if name == "uppers" else 1
        settings = api.Settings(**{"passes": passes, name: others[name]})
        with pytest.raises(ConfigError, match=rf"search\.{name}=.*{reason}"):
            train(settings=settings, out=tmp_path / "run")
    assert not list(tmp_path.iterdir())


def test_a_method_of_one_level_begins_with_no_upper_programs(api_run, tmp_path):
    settings = api.Settings(initial_programs=str(api_run / "run"), initial_levels="both")
    train = partial(api.train, "cvrp", budget=SMALL, pools=api_run / "pools")
    with pytest.raises(ConfigError, match=r"initial_levels=lower where a method searches one"):
        train(method="eoh", settings=settings, out=tmp_path / "run")


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


TURNS = api.Settings(uppers=3, passes=8, tries=2)
BUDGET_OF_TURNS = api.Budget(16, rounds=2, lower_train=4, upper_train=3, selection=3, validation=3)


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
        "cvrp", budget=BUDGET_OF_TURNS, settings=TURNS, execution=execution, seed=4,
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
def undisturbed(tmp_path_factory):
    out = tmp_path_factory.mktemp("turns") / "run"
    turns(out, out.parent / "pools", 1)
    return out


@pytest.mark.integration
def test_several_upper_programs_in_turns_give_the_same_bytes(undisturbed, tmp_path):
    pools = undisturbed.parent / "pools"
    with pytest.raises(KeyboardInterrupt):
        turns(tmp_path / "run", pools, 4, observer=Interrupted(12))
    kept = thaw(tmp_path / "run" / "checkpoint")
    assert (kept.passes, kept.tries) == (8, 2)
    turns(tmp_path / "run", pools, 4, resume=True)
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
