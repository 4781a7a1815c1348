"""Compiled programs in their child: whatever they try, they do what the interpreted ones do."""

import pytest

from specahd.core.program import Outcome
from specahd.problems.cvrp.problem import CVRP
from specahd.repair.cases import make_cases, share_arrays
from specahd.routing.base import Region
from specahd.sandbox.guard import guard
from specahd.sandbox.session import Call, Launch, Sandbox, SessionLimits

PROBLEM = CVRP()
CONTRACT = PROBLEM.operator.contract
U, D, M = "unvisited_nodes", "demands", "distance_matrix"
ATTACKS = [
    f"score = {M}[current_node, {U}]; score += {M}[0, {U}[:2]]; return {U}[np.argmin(score)]",
    f"score = np.zeros(({len(U)}, 3)); score += np.ones(2); return {U}[0]",
    f"score = {D} * 1.0; score[{U}] += {M}[0]; return {U}[np.argmax(score[{U}])]",
    f"score = {D} * 1.0; score[1:] += score[:-1]; return {U}[int(score[-1]) % len({U})]",
    f"mask = np.ones(len({U}) + 1) > 0; return {U}[mask][-1]",
    f"mask = np.ones(len({D}) - 1) > 0; score = {D} * 1; score[mask] = 0; return {U}[0]",
    f"return {U}[len(np.zeros((rest_capacity - 60, 2 ** 40)))]",
    f"return {U}[10 ** 9 * len({U})]",
    f"return {D}[-(10 ** 6) * len({U})]",
    f"items = [0]; items.pop(); return {U}[items.pop()]",
    f"first, second = {U}; return first",
    f"return {U}[int(1 / (rest_capacity - 50))]",
    f"return {U}[int({M}[0, 1] / {M}[0, 0])]",
    f"x = np.array([2, 0, 1]); x[x[::-1]] = 0; return {U}[x[0]]",
    f"score = {M} * 1.0; score *= score[:, :1]; return {U}[np.argmax(score[0, {U}])]",
    f"return {U}[len(np.zeros((rest_capacity * 0, 2 ** 60)))]",
]


@pytest.fixture(scope="module")
def case():
    [case] = make_cases(PROBLEM, [next(iter(PROBLEM.generate("upper_train", 2024)))])
    return case


@pytest.fixture(scope="module")
def results(case):
    """Return the results of every attack in both tiers, all from one child."""
    launches = []
    for attack in ATTACKS:
        body = "\n    ".join(attack.split("; "))
        text = f"def {CONTRACT.name}({', '.join(CONTRACT.arguments)}):\n    {body}\n"
        assert guard(text, CONTRACT.name, CONTRACT.arguments) is None
        launches += [
            Launch(text, CONTRACT.name, runner) for runner in (CONTRACT.compiled, CONTRACT.runner)
        ]
    region = Region(tuple(case.baseline[0]) + tuple(case.baseline[1]))
    inputs = PROBLEM.operator.inputs(case.instance, case.baseline, region)
    shared = share_arrays(PROBLEM, [case])
    with (
        Sandbox(shared, [CONTRACT.runner], compiled=[CONTRACT.compiled]) as sandbox,
        sandbox.session(launches, SessionLimits(20.0)) as session,
    ):
        assert session.launched is Outcome.OK, session.detail
        calls = [Call(number, 0, inputs) for number in range(len(launches))]
        found = list(session.call_many(calls))
        yield [(one, other) for one, other in zip(found[::2], found[1::2], strict=True)]
    shared.close()


@pytest.mark.parametrize("number", range(len(ATTACKS)))
def test_both_tiers_do_the_same(results, number):
    compiled, interpreted = results[number]
    assert compiled.outcome is interpreted.outcome
    assert compiled.detail == interpreted.detail
    assert [a.tolist() for a in compiled.output] == [a.tolist() for a in interpreted.output]
