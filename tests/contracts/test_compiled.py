"""Every problem with a compiled construction loop builds with it what it builds without."""

import importlib
import math

import numpy as np
import pytest
from hydra.utils import instantiate
from omegaconf import OmegaConf

from specahd.config import CONF_DIR
from specahd.core.contract import Request
from specahd.core.errors import InvalidAnswer
from specahd.core.program import Level
from specahd.llm.offline import OfflineProposer
from specahd.llm.parsing import parse_reply
from specahd.methods.eoh import INITIAL
from specahd.routing.base import Region, contracts
from specahd.routing.compiled.runner import Untranslatable

PROBLEMS = sorted(path.stem for path in (CONF_DIR / "problem").glob("*.yaml"))
SAMPLES = 8


def named(name):
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def block(problem, instance):
    arrays = {
        name: np.zeros(shape, dtype) for name, (dtype, shape) in problem.layout(instance).items()
    }
    problem.fill(instance, arrays)
    for array in arrays.values():
        array.flags.writeable = False
    return arrays


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
    return [*found, *(Region(region.nodes[:6]) for region in found)]


@pytest.fixture(scope="module", params=PROBLEMS)
def bench(request):
    conf = OmegaConf.load(CONF_DIR / "problem" / f"{request.param}.yaml")
    problem, whole = (instantiate(conf, repair=repair) for repair in ("append", "construct"))
    pool = sorted(problem.generate("lower_train", 7), key=lambda instance: instance.size)
    calls = []
    for instance in pool[:3]:
        solution = problem.baseline(instance)
        arrays = block(problem, instance)
        for region in regions(problem, instance, solution, arrays):
            calls.append((arrays, problem.operator.inputs(instance, solution, region)))
    # The same loop builds whole instances.
    instance = pool[0]
    solution = problem.baseline(instance)
    [region] = whole.operator.selector.validate(instance, solution, []).regions
    inputs = whole.operator.inputs(instance, solution, region)
    calls.append((block(problem, instance), inputs))
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


@pytest.mark.parametrize(
    "answer",
    [
        "unvisited_nodes[0]",
        "unvisited_nodes[-1]",
        "current_node",
        "unvisited_nodes[0] + 1",
        "current_node - 10 ** 12",
        "unvisited_nodes[3]",
    ],
)
def test_so_do_odd_answers(bench, answer):
    contract = bench[0]
    if contract.name == "select_next_delivery":
        answer = f"{answer}, 1 + rest_capacity // 2"
    alike(bench, f"def {contract.name}({', '.join(contract.arguments)}):\n    return {answer}\n")


def test_so_do_offline_programs_that_compile(bench):
    contract = bench[0]
    translated = 0
    for index in range(SAMPLES):
        reply = OfflineProposer().propose(Request(contract, 3, Level.LOWER, 0, index, INITIAL))
        source, _ = parse_reply(reply.text, contract)
        try:
            alike(bench, source)
        except Untranslatable:
            continue
        translated += 1
    assert translated >= 1
