"""The compiled tier acts as the interpreted one, or refuses the program."""

import math

import numpy as np
import pytest

from offered import arrays_of, contract_of, problem
from problems.instances import instance_of
from specahd.core.errors import InvalidAnswer
from specahd.core.program import Level
from specahd.core.seeding import generator
from specahd.problems.cvrp import construct
from specahd.problems.cvrp.compiled import REBUILD
from specahd.routing.compiled.runner import Untranslatable
from specahd.routing.geometry import Convention

CONTRACT = contract_of("cvrp", Level.LOWER)
NAME = CONTRACT.name
ARGUMENTS = ", ".join(CONTRACT.arguments)


def program(body):
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"def {NAME}({ARGUMENTS}):\n{lines}"


def interpreted(source):
    scope = {"np": np, "math": math}
    exec(source, scope)
    return scope[NAME]


@pytest.fixture(scope="module")
def arrays():
    rng = generator(0, "test")
    demands = np.append(0, rng.integers(1, 10, size=40))
    instance = instance_of("cvrp", rng.random((41, 2)), demands, 25, convention=Convention.EXACT_2D)
    return arrays_of(problem("cvrp"), instance)


def customers(count):
    chosen = generator(0, "test").choice(np.arange(1, 41), size=count, replace=False)
    return (np.sort(chosen),)


# Appendix H of the paper; its last line may return None.
APPENDIX_H = program(
    """max_demand = np.max(demands[unvisited_nodes])
factor = demands[current_node] / max_demand if max_demand > 0 else 0
factor = max(0.5 / rest_capacity, min(0.5, factor), 0.1)
capacity_ratio = rest_capacity / (max_demand + 1)
savings = distance_matrix[current_node][unvisited_nodes] - distance_matrix[depot][unvisited_nodes]
cost = savings * (1 + factor) * capacity_ratio
cost += distance_matrix[current_node][unvisited_nodes]
cost *= 1 / (distance_matrix[current_node][unvisited_nodes] + 1)
for index in np.argsort(cost):
    node = unvisited_nodes[index]
    if node != depot and rest_capacity >= demands[node]:
        return node
return None"""
)


@pytest.mark.parametrize(
    "source",
    [
        APPENDIX_H,
        CONTRACT.seed.source,
        program("return depot"),
        program("return unvisited_nodes[-1]"),
        program("return depot - 1"),
        program("return depot + 1000000"),
        program("return unvisited_nodes[0] + 1"),
    ],
    ids=["appendix-h", "seed", "depot", "last", "negative", "huge", "unavailable"],
)
def test_both_tiers_build_the_same(arrays, source):
    translated = REBUILD.translate(source, NAME)
    for count in (1, 2, 15, 40):
        inputs = customers(count)
        compiled = REBUILD(translated, arrays, inputs)
        plain = construct.rebuild(interpreted(source), arrays, inputs)
        assert compiled.fallbacks == plain.fallbacks
        for one, other in zip(compiled.arrays, plain.arrays, strict=True):
            assert one.dtype == other.dtype == np.int64
            assert one.tolist() == other.tolist()


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("if rest_capacity < 20:\n    return None\nreturn unvisited_nodes[0]", InvalidAnswer),
        ("if rest_capacity > 100:\n    return unvisited_nodes[0]", InvalidAnswer),
        ("return unvisited_nodes[1000]", IndexError),
        ("return unvisited_nodes[int(distance_matrix[0, 999])]", IndexError),
    ],
    ids=["none", "falls-off", "out-of-bounds", "out-of-row"],
)
def test_failures_fail_in_both_tiers(arrays, body, error):
    source = program(body)
    for run in (
        lambda: REBUILD(REBUILD.translate(source, NAME), arrays, customers(5)),
        lambda: construct.rebuild(interpreted(source), arrays, customers(5)),
    ):
        with pytest.raises(error):
            run()


@pytest.mark.parametrize(
    "body",
    [
        "return 0.5",
        "return None",
        "return unvisited_nodes[0] > 3",
        "return unvisited_nodes",
        "unvisited_nodes[0] = 3\nreturn 3",
        "distance_matrix[0, 0] = 3.0\nreturn 3",
        "return max(unvisited_nodes, key=lambda node: demands[node])",
        "return np.take_along_axis(demands, unvisited_nodes * 1000, 0)[0]",
        "if rest_capacity > 5:\n    return True\nreturn unvisited_nodes[0]",
        "return unvisited_nodes[0] if rest_capacity else rest_capacity > 3 and True",
    ],
)
def test_what_cannot_be_compiled_is_refused_in_one_line(body):
    with pytest.raises(Untranslatable) as caught:
        REBUILD.translate(program(body), NAME)
    assert "\n" not in str(caught.value)


def test_a_customer_that_outweighs_the_vehicle_fails(arrays):
    heavy = {**arrays, "capacity": np.array([3])}
    with pytest.raises(InvalidAnswer, match="outweighs"):
        REBUILD(REBUILD.translate(program("return depot"), NAME), heavy, customers(40))
