"""The compiled tier acts as the interpreted one, or refuses the program."""

import functools
import math

import numpy as np
import pytest

from specahd.core.contract import Request
from specahd.core.errors import InvalidAnswer
from specahd.core.program import Level
from specahd.core.seeding import generator
from specahd.llm.offline import OfflineProposer
from specahd.llm.parsing import parse_reply
from specahd.methods.eoh import INITIAL
from specahd.problems.cvrp import construct
from specahd.problems.cvrp.compiled import REBUILD
from specahd.problems.cvrp.problem import CVRP
from specahd.routing.base import contracts
from specahd.routing.compiled.runner import Untranslatable

CONTRACTS = contracts(CVRP().operator)

NAME = CONTRACTS[Level.LOWER].name
ARGUMENTS = ", ".join(CONTRACTS[Level.LOWER].arguments)


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
    coords = rng.random((41, 2))
    gaps = coords[:, None] - coords[None]
    demands = np.concatenate(([0], rng.integers(1, 10, size=40)))
    arrays = {
        "distance_matrix": np.hypot(gaps[..., 0], gaps[..., 1]),
        "demands": demands,
        "capacity": np.array([25]),
    }
    for array in arrays.values():
        array.flags.writeable = False
    return arrays


def customers(count, seed=0):
    chosen = generator(seed, "test").choice(np.arange(1, 41), size=count, replace=False)
    return (np.sort(chosen),)


@functools.cache
def translated(source):
    return REBUILD.translate(source, NAME)


def both(source, arrays, inputs):
    compiled = REBUILD(translated(source), arrays, inputs)
    plain = construct.rebuild(interpreted(source), arrays, inputs)
    assert compiled.fallbacks == plain.fallbacks
    for one, other in zip(compiled.arrays, plain.arrays, strict=True):
        assert one.dtype == other.dtype == np.int64
        assert one.tolist() == other.tolist()
    return compiled


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


@pytest.mark.parametrize("count", [1, 2, 15, 40])
@pytest.mark.parametrize(
    "source",
    [
        APPENDIX_H,
        CONTRACTS[Level.LOWER].seed.source,
        program("return depot"),
        program("return unvisited_nodes[-1]"),
        program("return depot - 1"),
        program("return depot + 1000000"),
        program("return unvisited_nodes[0] + 1"),
    ],
    ids=["appendix-h", "seed", "depot", "last", "negative", "huge", "unavailable"],
)
def test_both_tiers_build_the_same(arrays, source, count):
    both(source, arrays, customers(count))


def test_unavailable_answers_are_counted(arrays):
    fallbacks = both(program("return depot - 7"), arrays, customers(12)).fallbacks
    assert fallbacks == 12


def test_offline_programs_that_compile_act_alike(arrays):
    contract = CONTRACTS[Level.LOWER]
    compiled = 0
    for index in range(6):
        reply = OfflineProposer().propose(Request(contract, 3, Level.LOWER, 0, index, INITIAL))
        source, _ = parse_reply(reply.text, contract)
        try:
            both(source, arrays, customers(20, seed=index))
        except Untranslatable:
            continue
        compiled += 1
    assert compiled >= 2


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
        "unvisited_nodes.flat[0] = 7\nreturn depot",
        "np.fill_diagonal(distance_matrix, 1.0)\nreturn depot",
        "np.dot(distance_matrix, distance_matrix, distance_matrix)\nreturn depot",
        "np.add(demands, demands, out=demands)\nreturn depot",
        "return np.take_along_axis(demands, unvisited_nodes * 1000, 0)[0]",
        "return np.delete(demands, unvisited_nodes * 1000)[0]",
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
