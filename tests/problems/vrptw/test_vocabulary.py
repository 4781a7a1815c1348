import textwrap

import numpy as np
import pytest

from problems.samples import defined, samples
from specahd.core.program import Level
from specahd.core.seeding import generator
from specahd.problems.vrptw.contracts import APPEND
from specahd.problems.vrptw.problem import VRPTW
from specahd.routing.base import contracts
from specahd.sandbox.definition import define

select_next_node = define(APPEND.seed.source, "select_next_node")

CONTRACTS = contracts(VRPTW().operator)


def instance(size, capacity, seed):
    """Return coords, demands, the three times and the distances."""
    rng = generator(seed, "test")
    coords = rng.integers(0, 100, size=(size + 1, 2)).astype(float)
    # Two customers on one spot, and one at the depot.
    coords[2], coords[3] = coords[1], coords[0]
    gaps = coords[:, None] - coords[None]
    demands = np.concatenate(([0], rng.integers(0, capacity, size=size)))
    matrix = np.floor(np.hypot(gaps[..., 0], gaps[..., 1]) + 0.5)
    ready = rng.integers(0, 100, size=size + 1).astype(float)
    # Everybody is in time from every state below, as in every state that programs meet.
    due = 250.0 + rng.integers(0, 50, size=size + 1)
    service = np.full(size + 1, 5.0)
    ready[0], due[0], service[0] = 0, 500, 0
    arrays = coords, demands, ready, due, service, matrix
    for array in arrays:
        array.flags.writeable = False
    return arrays


@pytest.mark.filterwarnings("error")
def test_lower_samples_give_an_available_answer_in_every_state():
    _, demands, *times, matrix = instance(12, 9, seed=1)
    rng = generator(2, "test")
    states = [(0, [1], 1), (0, [1, 2, 3], 9), (1, [2, 3], 8), (3, [1, 2], 0), (5, [7], 3)]
    for _ in range(5):
        nodes = rng.permutation(np.arange(1, 13))
        states.append((int(nodes[0]), sorted(nodes[1:8].tolist()), int(rng.integers(1, 10))))
    for source in samples("vrptw", Level.LOWER):
        program = defined(CONTRACTS[Level.LOWER], source)
        for current, unvisited, rest in states:
            now = 7.0 * current
            answer = program(current, 0, np.array(unvisited), rest, now, demands, *times, matrix)
            assert type(answer) is int, source
            assert answer in unvisited or (answer == 0 and current != 0), source


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "routes",
    [
        [[1]],
        [[1, 2, 3]],
        [[3], [1, 2], [4, 5, 6], [12, 11, 10, 9, 8, 7]],
        [[node] for node in range(1, 13)],
        [list(range(1, 13))],
    ],
)
def test_upper_samples_propose_disjoint_groups_of_the_allowed_size(routes):
    size = max(node for route in routes for node in route)
    coords, demands, *times, matrix = instance(max(size, 3), 9, seed=3)
    routes = [np.array(route) for route in routes]
    count, largest = 3, 5
    for source in samples("vrptw", Level.UPPER):
        program = defined(CONTRACTS[Level.UPPER], source)
        groups = program(routes, coords, demands, 9, *times, matrix, count, largest)
        assert 1 <= len(groups) <= count, source
        entries = [int(node) for group in groups for node in group]
        assert len(entries) == len(set(entries)), source
        assert all(1 <= node <= size for node in entries), source
        assert all(1 <= len(group) <= largest for group in groups), source


def test_the_lower_seed_takes_the_nearest_and_the_lowest_index_on_ties():
    matrix = np.array([[0, 5, 2, 2], [5, 0, 1, 1], [2, 1, 0, 9], [2, 1, 9, 0]], dtype=float)
    rest = (9, 0.0, np.ones(4, np.int64), np.zeros(4), np.full(4, 9.0), np.zeros(4), matrix)
    assert select_next_node(0, 0, np.array([1, 2, 3]), *rest) == 2
    assert select_next_node(2, 0, np.array([1, 3]), *rest) == 1


def test_the_schedule_of_the_upper_vocabulary_is_that_of_the_routes():
    """Its running maximum against one stop after another."""
    contract = CONTRACTS[Level.UPPER]
    body = contract.vocabulary.productions[0]
    lines = body.template.split("limit =")[0] + "return held, spare, spent"
    source = f"def probe({', '.join(contract.arguments)}):\n" + textwrap.indent(lines, "    ")
    scope = {"np": np}
    exec(compile(source, "probe", "exec"), scope)
    for seed in range(20):
        coords, demands, ready, due, service, matrix = instance(30, 9, seed)
        rng = generator(seed, "routes")
        order = rng.permutation(np.arange(1, 31))
        routes = np.split(order, np.sort(rng.choice(np.arange(1, 30), 5, replace=False)))
        held, spare, spent = scope["probe"](
            routes, coords, demands, 9, ready, due, service, matrix, 3, 5
        )
        stops, leaves = [], []
        for route in routes:
            time, before = ready[0], 0
            for node in route:
                arrival = time + matrix[before, node]
                start = max(arrival, ready[node])
                stops.append((start - arrival, due[node] - start))
                time, before = start + service[node], node
            leaves.append(time / due[0])
        np.testing.assert_allclose(np.stack((held, spare), 1), stops, atol=1e-9)
        np.testing.assert_allclose(spent, leaves)
