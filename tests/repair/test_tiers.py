"""The tier of a lower program is fixed once, by counts and a probe, and used everywhere."""

from dataclasses import replace

import pytest

from specahd.core.program import Level, Outcome, Program, Tier
from specahd.core.settings import CallLimits, TierRule
from specahd.problems.cvrp.problem import CVRP
from specahd.repair.cases import Incumbent, make_cases, share_arrays
from specahd.repair.evaluator import Evaluator
from specahd.routing.base import contracts

PROBLEM = CVRP()
CONTRACT = contracts(PROBLEM.operator)[Level.LOWER]
FIRST = "unvisited_nodes[0]"


@pytest.fixture(scope="module")
def cases():
    instances = [x for x, _ in zip(PROBLEM.generate("upper_train", 2024), range(2), strict=False)]
    return make_cases(PROBLEM, instances)


@pytest.fixture(scope="module")
def evaluator(cases):
    shared = share_arrays(PROBLEM, cases)
    made = Evaluator(PROBLEM, cases, shared, CallLimits(), TierRule(steps=200, probes=4))
    yield made
    made.close()


@pytest.fixture(scope="module")
def tasks(evaluator):
    tasks = evaluator.expose(
        [contracts(PROBLEM.operator)[Level.UPPER].seed], list(map(Incumbent, [0, 1]))
    )
    assert sum(len(task.region.nodes) for task in tasks) >= 200
    return tasks


def lower(body):
    head = f"def {CONTRACT.name}({', '.join(CONTRACT.arguments)}):\n    "
    return Program("h", Level.LOWER, head + body + "\n", "", "i1", contract="append")


def test_enough_steps_compile_a_program(evaluator, tasks):
    seed = CONTRACT.seed
    compiled = evaluator.respond(seed, tasks)
    assert compiled.tier is Tier.COMPILED
    plain = evaluator.respond(replace(seed, tier=Tier.INTERPRETED), tasks)
    assert plain.tier is Tier.INTERPRETED
    assert compiled.responses == plain.responses
    # Few steps do not, unless the tier is fixed.
    assert evaluator.respond(seed, tasks[:1]).tier is Tier.INTERPRETED
    fixed = replace(seed, tier=Tier.COMPILED)
    assert evaluator.respond(fixed, tasks[:1]).tier is Tier.COMPILED


@pytest.mark.parametrize(
    "body",
    [
        "return max(unvisited_nodes, key=lambda node: demands[node])",
        f"return {FIRST} + 0 * np.zeros(0, np.int64).reshape((2 ** 32, 2 ** 32)).size",
    ],
    ids=["numba refuses", "the language has no reshape"],
)
def test_what_is_not_in_the_language_is_interpreted(evaluator, tasks, body):
    assert evaluator.respond(lower(body), tasks).tier is Tier.INTERPRETED


@pytest.mark.parametrize(
    "body",
    [
        f"return {FIRST} if 1 / (rest_capacity - 49) > 0 else 0",
        f"return {FIRST} + (2 ** 62 if rest_capacity % 7 else 2 ** 40 * rest_capacity ** 9) % 2",
        f"score = demands * 1.0\n    score += demands[: {FIRST} * 1000]\n    return {FIRST}",
    ],
    ids=["division", "overflow", "shapes"],
)
def test_both_tiers_do_the_same_where_python_raises(evaluator, tasks, body):
    compiled, plain = (
        evaluator.respond(replace(lower(body), tier=tier), tasks[:12])
        for tier in (Tier.COMPILED, Tier.INTERPRETED)
    )
    assert compiled.launched, compiled.detail
    assert compiled.responses == plain.responses
    assert compiled.detail == plain.detail


def test_a_compiled_program_that_fails_costs_its_own_tasks(evaluator, tasks):
    crash = lower("return unvisited_nodes[999]")
    result = evaluator.respond(replace(crash, tier=Tier.COMPILED), tasks)
    assert {response.outcome for response in result.responses} == {Outcome.CRASHED}
    assert "IndexError" in result.detail


def test_a_compiled_loop_that_never_ends_is_ended(cases, tasks):
    limits = CallLimits(lower_call=0.2, candidate=0.5)
    evaluator = Evaluator(PROBLEM, cases, share_arrays(PROBLEM, cases), limits)
    body = f"while rest_capacity > 0:\n        pass\n    return {FIRST}"
    try:
        result = evaluator.respond(replace(lower(body), tier=Tier.COMPILED), tasks[:4])
    finally:
        evaluator.close()
    assert result.launched
    assert {response.outcome for response in result.responses} == {Outcome.TIMEOUT}
