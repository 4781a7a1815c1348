"""Every program of the offline proposer for a compiled contract compiles and runs."""

import importlib

import pytest

from offered import OFFERED, arrays_of
from offered import problem as problem_of
from problems.samples import samples
from specahd.core.program import Level, Tier
from specahd.routing.base import Region, contracts

pytestmark = pytest.mark.integration


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
def test_every_offline_program_compiles_and_runs(name, level, count):
    problem = problem_of(name)
    contract = contracts(problem.operator)[level]
    module, _, attribute = contract.runner.partition(":")
    runner = getattr(importlib.import_module(module), attribute)
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
