"""Every problem with a compiled construction loop builds with it what it builds without."""

import importlib
import math

import numpy as np
import pytest

from offered import OFFERED, arrays_of, contract_of
from offered import problem as problem_of
from problems.samples import samples
from specahd.core.contract import Request
from specahd.core.errors import InvalidAnswer
from specahd.core.program import Level, Tier
from specahd.llm.offline import OfflineProposer
from specahd.llm.parsing import parse_reply
from specahd.methods.eoh import INITIAL
from specahd.routing.base import Region, contracts
from specahd.routing.compiled.runner import Untranslatable
from specahd.routing.whole_instance import is_whole
from specahd.sandbox.guard import guard

pytestmark = pytest.mark.integration

ODD = (
    "unvisited_nodes[0]",
    "unvisited_nodes[-1]",
    "current_node",
    "unvisited_nodes[0] + 1",
    "current_node - 10 ** 12",
    "unvisited_nodes[3]",
)
"""Expressions of which some are no answer."""
TWINS = [name for name in OFFERED if contract_of(name, Level.LOWER).runner]
"""What runs with and without a compiler."""


def named(name):
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def defined(source, name):
    scope = {"np": np, "math": math}
    exec(source, scope)
    return scope[name]


def regions(problem, instance, solution, arrays):
    """Return what the seed upper program proposes, and some small parts of it."""
    contract = contracts(problem.operator)[Level.UPPER]
    program = defined(contract.seed.source, contract.name)
    inputs = problem.operator.selector.inputs(instance, solution)
    output = named(contract.runner)(program, arrays, inputs).arrays
    found = problem.operator.selector.validate(instance, solution, output).regions
    assert found
    parts = () if is_whole(problem.operator.selector) else found
    return [*found, *(Region(region.nodes[:6]) for region in parts)]


@pytest.fixture(scope="module", params=TWINS)
def bench(request):
    problem = problem_of(request.param)
    pool = sorted(problem.generate("lower_train", 7), key=lambda instance: instance.size)
    calls = []
    for instance in pool[: 1 if is_whole(problem.operator.selector) else 3]:
        solution = problem.baseline(instance)
        arrays = arrays_of(problem, instance)
        for region in regions(problem, instance, solution, arrays):
            calls.append((arrays, problem.operator.inputs(instance, solution, region)))
    contract = contracts(problem.operator)[Level.LOWER]
    return contract, named(contract.runner), named(contract.compiled), calls


def built(run, arrays, inputs):
    try:
        answer = run(arrays, inputs)
        return [array.tolist() for array in answer.arrays], answer.fallbacks
    except (InvalidAnswer, IndexError, ZeroDivisionError) as error:
        return type(error)


def alike(bench, source):
    contract, interpreted, compiled, calls = bench
    translated = compiled.translate(source, contract.name)
    program = defined(source, contract.name)
    for arrays, inputs in calls:
        one = built(lambda a, i: compiled(translated, a, i), arrays, inputs)
        other = built(lambda a, i: interpreted(program, a, i), arrays, inputs)
        assert one == other


def test_the_seed_builds_the_same(bench):
    alike(bench, bench[0].seed.source)


def test_so_do_varied_programs_and_otherwise_than_the_seed(bench):
    contract, run, _, calls = bench
    assert contract.varied

    def rebuilt(source):
        program = defined(source, contract.name)
        return [built(lambda a, i: run(program, a, i), *call) for call in calls]

    nearest = rebuilt(contract.seed.source)
    for program in contract.varied:
        assert guard(program.source, contract.name, contract.arguments) is None
        alike(bench, program.source)
        answers = rebuilt(program.source)
        # A single whole instance may be built alike.
        assert answers != nearest or contract.id == "construct", program.id
        assert {fallbacks for _, fallbacks in answers} == {0}


def test_so_do_odd_answers(bench):
    contract = bench[0]
    # The loop of whole instances is that of their parts.
    for answer in ODD if contract.id == "append" else ODD[-2:]:
        if contract.name == "select_next_delivery":
            answer = f"{answer}, 1 + rest_capacity // 2"
        arguments = ", ".join(contract.arguments)
        alike(bench, f"def {contract.name}({arguments}):\n    return {answer}\n")


@pytest.mark.parametrize("drawn", [8, pytest.param(24, marks=pytest.mark.slow)])
def test_so_do_offline_programs_that_compile(bench, drawn):
    contract = bench[0]
    translated = 0
    for index in range(drawn):
        reply = OfflineProposer().propose(Request(contract, 3, Level.LOWER, 0, index, INITIAL))
        source, _ = parse_reply(reply.text, contract)
        try:
            alike(bench, source)
        except Untranslatable:
            continue
        translated += 1
    assert translated >= 1


@pytest.mark.parametrize(
    ("name", "level"),
    [
        (name, level)
        for name in OFFERED
        for level, contract in contracts(problem_of(name).operator).items()
        if contract.tier is Tier.COMPILED
    ],
)
@pytest.mark.parametrize("count", [3, pytest.param(300, marks=pytest.mark.slow)])
def test_where_nothing_else_runs_every_offline_program_compiles_and_runs(name, level, count):
    problem = problem_of(name)
    contract = contracts(problem.operator)[level]
    runner = named(contract.compiled)
    instance = min(problem.generate("lower_train", 7), key=lambda instance: instance.size)
    # One whose routes have several stops each.
    solution = problem.baseline(instance, problem.construction)
    arrays = arrays_of(problem, instance)
    inputs = problem.operator.selector.inputs(instance, solution)
    if level is Level.LOWER:
        region = Region(tuple(range(1, min(9, instance.size))))
        inputs = problem.operator.inputs(instance, solution, region)
    sources = samples(name, level)[:count]
    for source in (*(program.source for program in contract.seeds), *sources):
        answer = runner(runner.translate(source, contract.name), arrays, inputs)
        if level is Level.UPPER:
            assert problem.operator.selector.validate(instance, solution, answer.arrays).regions
        else:
            assert answer.fallbacks == 0
