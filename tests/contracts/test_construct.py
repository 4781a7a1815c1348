"""The repair operator that every problem of conf/problem has for complete solutions: construct."""

import functools
import importlib
import itertools

import numpy as np
import pytest

import offered
from commands import SMALL, call
from specahd.core import journal
from specahd.core.program import Level
from specahd.core.settings import Settings
from specahd.repair.cases import make_case
from specahd.repair.passes import check_extensions
from specahd.routing.base import POOLS, contracts

NEAREST = "nearest"
"""The construction that seed programs repeat."""


def problem_of(name):
    return offered.problem(f"{name}-construct")


@functools.cache
def case_of(name):
    """Return the case of the smallest instance for training."""
    pool = list(problem_of(name).generate("lower_train", 7))
    return make_case(problem_of(name), min(pool, key=lambda instance: instance.size))


@pytest.fixture
def problem(name):
    return problem_of(name)


def built(problem, case, wrap=lambda program: program):
    """Return what the seed program builds, as the loop of a pass puts it together."""
    operator = problem.operator
    [region] = operator.selector.validate(case.instance, case.baseline, []).regions
    contract = operator.contract
    module, _, function = contract.runner.partition(":")
    space = {"np": np}
    exec(contract.seed.source, space)
    program = wrap(space[contract.name])
    inputs = operator.inputs(case.instance, case.baseline, region)
    answer = getattr(importlib.import_module(module), function)(
        program, offered.arrays_of(problem, case.instance), inputs
    )
    return region, operator.merge(case.instance, case.baseline, region, answer.arrays)


def test_the_seed_program_builds_the_nearest_construction(name, problem):
    case = case_of(name)
    region, solution = built(problem, case)
    assert problem.check(case.instance, solution) == ()
    expected = problem.baseline(case.instance, NEAREST)
    cost = problem.cost(case.instance, expected)
    assert problem.cost(case.instance, solution) == pytest.approx(cost, rel=1e-12)
    assert np.isfinite(problem.describe(case.instance, case.baseline, region)).all()


def test_nothing_of_the_incumbent_shows(name, problem):
    case = case_of(name)
    operator = problem.operator
    others = [problem.baseline(case.instance, other) for other in problem.references]
    assert len({problem.cost(case.instance, each) for each in others}) > 1
    seen = set()
    for solution in others:
        [region] = operator.selector.validate(case.instance, solution, []).regions
        inputs = operator.inputs(case.instance, solution, region)
        seen.add((operator.identity(region), *(array.tobytes() for array in inputs)))
    assert len(seen) == 1


def test_waiting_nodes_come_in_ascending_order_as_the_docstring_says(name, problem):
    case, contract = case_of(name), problem.operator.contract
    place = contract.arguments.index("unvisited_nodes")
    shown = []

    def spied(program):
        def spy(*arguments):
            shown.append(arguments[place].tolist())
            return program(*arguments)

        return spy

    built(problem, case, spied)
    assert len(shown) >= case.instance.size - 1
    assert all(nodes == sorted(nodes) for nodes in shown)
    assert max(map(len, shown)) > 1
    assert (
        "ascending" in contract.document.partition("unvisited_nodes\n")[2].partition("    rest")[0]
    )


def test_its_text_says_nothing_of_parts_and_incumbents(name, problem):
    contract = problem.operator.contract
    told = " ".join((contract.task + contract.document).split())
    for word in ("group", "the run", "exists already", "rebuil", "removed", "local to"):
        assert word not in told
    append = offered.problem(name).operator.contract
    assert contract.id == contract.seed.contract == "construct"
    assert (append.id, append.seed.contract) == ("append", "append")
    assert contract.runner == append.runner
    assert contract.arguments == append.arguments


def test_there_is_nothing_to_choose_above_it(problem):
    bearing = contracts(problem.operator)
    assert problem.operator.whole
    assert bearing[Level.UPPER].seed.contract == "whole_instance"
    assert not offered.problem(problem.name).operator.whole


def test_what_one_tour_solves_is_no_region():
    problem = problem_of("tsp")
    instance = next(iter(problem.generate("lower_train", 7)))
    few = type(instance)("three", instance.coords[:3], instance.convention)
    assert problem.operator.selector.validate(few, (0, 1, 2), []).regions == ()


METHOD = """
_target_: specahd.design.single.Single
_partial_: true
policy:
  _target_: specahd.methods.eoh.EoH
  _partial_: true
  population: 4
"""


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A run of a method of one level on complete instances."""
    place = tmp_path_factory.mktemp("construct")
    (place / "conf" / "method").mkdir(parents=True)
    (place / "conf" / "method" / "single.yaml").write_text(METHOD)
    call(
        "train", f"hydra.searchpath=[file://{place}/conf]", "method=single", "problem=cvrp",
        "problem.repair=construct", *SMALL, "hydra.run.dir=run", cwd=place,
    )  # fmt: skip
    return place


def samples(directory):
    return [
        record
        for record in journal.read_records(directory / "journal.jsonl")
        if "sample" in record and "record" not in record
    ]


def test_a_method_of_one_level_leaves_one_program_for_whole_instances(trained):
    assert len(list((trained / "run" / "checkpoint" / "programs").glob("lower-*"))) == 1
    rows = list(journal.read_records(trained / "run" / "validation.jsonl"))
    for row in rows:
        assert [len(step["nodes"]) for step in row["steps"]] == [row["size"]]
    assert max(row["improvement"] for row in rows) > 0
    levels = [record["level"] for record in samples(trained / "run")]
    assert levels == ["lower"] * 12


def smallest_row(directory):
    return min(journal.read_records(directory / "validation.jsonl"), key=lambda row: row["size"])


def evaluated(place, checkpoint, instance, *options):
    """Return the row of a frozen evaluation of one instance of the validation pool."""
    directory = "-".join(["row", *checkpoint.split("/"), *options]).replace(":", "")
    call(
        "evaluate", f"checkpoint={checkpoint}",
        f"instance=pools/cvrp/validation/{instance}.vrp", *options,
        f"hydra.run.dir={directory!r}", cwd=place,
    )  # fmt: skip
    [row] = journal.read_records(place / directory / "rows.jsonl")
    return row


def test_its_checkpoint_evaluates_as_training_did(trained):
    row = smallest_row(trained / "run")
    assert evaluated(trained, "run", row["instance"]).items() >= row.items()


def test_where_any_solution_may_replace_the_incumbent_the_built_one_stands(trained):
    instance = smallest_row(trained / "run")["instance"]
    row = evaluated(trained, "run", instance, "accept=feasible")
    assert [row["cost"]] == [step["cost_merged"] for step in row["steps"]]


def test_upper_programs_are_not_searched_for(trained):
    done = call(
        "train", "problem=cvrp", "problem.repair=construct", "search.levels=upper",
        "search.repertoire=run/checkpoint", *SMALL, "hydra.run.dir=refused",
        cwd=trained, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.endswith(
        "Expected search.levels=lower where regions are whole instances, got upper.\n"
    )
    assert not (trained / "refused").exists()


def test_the_coupled_search_gives_it_all_tickets_of_all_rounds(trained):
    pools = [f"budget.{pool}=1" for pool in POOLS]
    call(
        "train", "problem=cvrp", "problem.repair=construct", *SMALL, *pools, "budget.programs=4",
        "hydra.run.dir=coupled", cwd=trained,
    )  # fmt: skip
    levels = [(record["round"], record["level"]) for record in samples(trained / "coupled")]
    assert [(key, len(list(group))) for key, group in itertools.groupby(levels)] == [
        ((1, "lower"), 2),
        ((2, "lower"), 2),
    ]


def test_any_method_may_begin_with_the_programs_by_hand(problem, name):
    """So that a comparison tells what they are worth from what a method adds to them."""
    settings = Settings(seeds="varied")
    check_extensions(problem, settings, portfolio=True, judged_singly=True)
    by_hand = contracts(problem.operator, varied=True)[Level.LOWER].seeds
    assert len(by_hand) > len(contracts(problem.operator)[Level.LOWER].seeds)
    assert {one.contract for one in by_hand} == {problem.operator.contract.id}
