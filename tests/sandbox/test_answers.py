"""What programs may answer, through the real runners of CVRP in the real sandbox."""

import itertools

import numpy as np
import pytest

from specahd.core.program import Level, Outcome
from specahd.problems.cvrp.problem import CVRP
from specahd.programs.guard import guard
from specahd.repair.cases import make_case, share_arrays
from specahd.routing.base import Region, contracts
from specahd.sandbox.calls import Call, Launch, SessionLimits
from specahd.sandbox.session import Sandbox

PROBLEM = CVRP()


@pytest.fixture(scope="module")
def case():
    [instance] = itertools.islice(PROBLEM.generate("lower_train", 5), 1)
    return make_case(PROBLEM, instance)


@pytest.fixture(scope="module")
def sandbox(case):
    shared = share_arrays(PROBLEM, [case])
    runners = [contracts(PROBLEM.operator)[level].runner for level in Level]
    with Sandbox(shared, runners) as sandbox:
        yield sandbox
    shared.close()


def answer(sandbox, level, body, inputs):
    contract = contracts(PROBLEM.operator)[level]
    source = f"def {contract.name}({', '.join(contract.arguments)}):\n    {body}\n"
    assert guard(source, contract.name, contract.arguments) is None
    launch = Launch(source, contract.name, contract.runner)
    with sandbox.session([launch], SessionLimits(5.0)) as session:
        return session.call(Call(0, 0, inputs))


def rebuilt(sandbox, case, body):
    customers = tuple(case.baseline[0])
    inputs = PROBLEM.operator.inputs(case.instance, case.baseline, Region(customers))
    return customers, answer(sandbox, Level.LOWER, body, inputs)


KINDS = {
    "1.0": "float",
    "float('nan')": "float",
    "np.float64(1)": "float64",
    "True": "bool",
    "np.bool_(True)": "bool",
    "None": "NoneType",
    "'1'": "str",
    "{1}": "set",
    "lambda: 1": "function",
}


@pytest.mark.parametrize("value", KINDS)
def test_a_lower_answer_that_is_no_integer_fails_the_task(sandbox, case, value):
    _, result = rebuilt(sandbox, case, f"return {value}")
    assert result.outcome is Outcome.INVALID_OUTPUT
    assert f"integer, got {KINDS[value]}." in result.detail


@pytest.mark.parametrize("value", ["-1", "10**30", "2**63", "len(demands)", "np.int64(-5)"])
def test_a_node_that_is_unavailable_is_replaced(sandbox, case, value):
    customers, result = rebuilt(sandbox, case, f"return {value}")
    assert result.outcome is Outcome.OK
    [route] = result.output
    assert sorted(route[route > 0].tolist()) == list(range(1, len(customers) + 1))
    assert result.fallbacks == len(customers)


def test_the_fallback_is_the_nearest_customer(sandbox, case):
    _, forced = rebuilt(sandbox, case, "return -1")
    nearest = "unvisited_nodes[np.argmin(distance_matrix[current_node][unvisited_nodes])]"
    _, chosen = rebuilt(sandbox, case, f"return {nearest}")
    assert forced.output[0].tolist() == chosen.output[0].tolist()
    assert chosen.fallbacks == 0


def proposed(sandbox, case, body):
    """Return the result of an upper program, and what its validation keeps, if it has an output."""
    inputs = PROBLEM.operator.selector.inputs(case.instance, case.baseline)
    result = answer(sandbox, Level.UPPER, body, inputs)
    if result.outcome is not Outcome.OK:
        return result, None
    return result, PROBLEM.operator.selector.validate(case.instance, case.baseline, result.output)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("None", "malformed"),
        ("1", "malformed"),
        ("'123'", "malformed"),
        ("coords", "malformed"),
        ("[1, 2]", "malformed"),
        ("[[], 'ab']", "malformed"),
        ("[coords]", "malformed"),
        ("{1: 2}", "malformed"),
        ("[[-1, -5], [10**30, 2**63], [0]]", ""),
        ("[[float('nan'), float('inf'), True, None]]", ""),
        ("[[1.5, 'a', [1], np.array([1])]]", ""),
    ],
)
def test_an_upper_answer_that_proposes_nothing_yields_no_region(sandbox, case, value, reason):
    result, validation = proposed(sandbox, case, f"return {value}")
    assert result.outcome is Outcome.OK, result
    assert validation.regions == ()
    assert any(reason in rejection.reason for rejection in validation.rejections)


@pytest.mark.parametrize("value", ["[[1]] * 20_000", "[[1] * 10**6]"])
def test_a_flood_of_regions_is_refused(sandbox, case, value):
    result, _ = proposed(sandbox, case, f"return {value}")
    assert result.outcome is Outcome.INVALID_OUTPUT


def test_a_good_answer_passes(sandbox, case):
    _, validation = proposed(sandbox, case, "return [list(routes[0])]")
    [region] = validation.regions
    assert np.array_equal(sorted(region.nodes), sorted(case.baseline[0]))
