"""Compiled programs in their child: whatever they try, they do what the interpreted ones do."""

import pytest

from specahd.core.program import Outcome
from specahd.problems.cvrp.problem import CVRP
from specahd.repair.cases import make_cases, share_arrays
from specahd.routing.base import Region
from specahd.sandbox.guard import guard
from specahd.sandbox.session import Call, Launch, Sandbox, SessionLimits

pytestmark = pytest.mark.integration

PROBLEM = CVRP()
CONTRACT = PROBLEM.operator.contract
U, D, M = "unvisited_nodes", "demands", "distance_matrix"
ATTACKS = [
    f"score = {M}[current_node, {U}]; score += {M}[0, {U}[:2]]; return {U}[np.argmin(score)]",
    f"score = {D} * 1.0; score[1:] += score[:-1]; return {U}[int(score[-1]) % len({U})]",
    f"return {U}[len(np.zeros((rest_capacity - 60, 2 ** 40)))]",
    f"return {D}[-(10 ** 6) * len({U})]",
    f"return {U}[int(1 / (rest_capacity - 50))]",
    f"x = np.array([2, 0, 1]); x[x[::-1]] = 0; return {U}[x[0]]",
    f"return {U}[len(np.zeros((rest_capacity * 0, 2 ** 60)))]",
]


@pytest.fixture(scope="module")
def case():
    [case] = make_cases(PROBLEM, [next(iter(PROBLEM.generate("upper_train", 2024)))])
    return case


def launches(attack):
    """Return a program of both tiers: lines in one, parted by semicolons."""
    body = "\n    ".join(attack.split("; "))
    text = f"def {CONTRACT.name}({', '.join(CONTRACT.arguments)}):\n    {body}\n"
    assert guard(text, CONTRACT.name, CONTRACT.arguments) is None
    return [Launch(text, CONTRACT.name, runner) for runner in (CONTRACT.compiled, CONTRACT.runner)]


@pytest.fixture(scope="module")
def inputs(case):
    region = Region(tuple(case.baseline[0]) + tuple(case.baseline[1]))
    return PROBLEM.operator.inputs(case.instance, case.baseline, region)


@pytest.fixture(scope="module")
def sandbox(case):
    shared = share_arrays(PROBLEM, [case])
    with Sandbox(shared, [CONTRACT.runner], compiled=[CONTRACT.compiled]) as sandbox:
        yield sandbox
    shared.close()


@pytest.fixture(scope="module")
def results(sandbox, inputs):
    """Return the results of every attack in both tiers, all from one child."""
    programs = [launch for attack in ATTACKS for launch in launches(attack)]
    with sandbox.session(programs, SessionLimits(20.0)) as session:
        assert session.launched is Outcome.OK, session.detail
        found = list(
            session.call_many([Call(number, 0, inputs) for number in range(len(programs))])
        )
        yield [(one, other) for one, other in zip(found[::2], found[1::2], strict=True)]


@pytest.mark.parametrize("number", range(len(ATTACKS)))
def test_both_tiers_do_the_same(results, number):
    compiled, interpreted = results[number]
    assert compiled.outcome is interpreted.outcome
    assert compiled.detail == interpreted.detail
    assert [a.tolist() for a in compiled.output] == [a.tolist() for a in interpreted.output]


def test_an_endless_loop_ends_both_by_the_limit(sandbox, inputs):
    """The compiler leaves no such loop out, and turns none into one that ends."""
    attack = f"while depot == 0:;     current_node = 0; return {U}[current_node]"
    for launch in launches(attack):
        with sandbox.session([launch], SessionLimits(0.2)) as session:
            result = session.call(Call(0, 0, inputs))
        assert (result.outcome, result.detail) == (Outcome.TIMEOUT, "the CPU time is spent")
