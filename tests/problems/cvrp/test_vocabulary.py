import numpy as np
import pytest

from problems.samples import defined, samples
from specahd.core.program import Level
from specahd.core.seeding import generator
from specahd.problems.cvrp.contracts import APPEND
from specahd.problems.cvrp.problem import CVRP
from specahd.routing.base import contracts
from specahd.sandbox.definition import define

select_next_node = define(APPEND.seed.source, "select_next_node")

CONTRACTS = contracts(CVRP().operator)


def instance(size, capacity, seed):
    rng = generator(seed, "test")
    coords = rng.integers(0, 100, size=(size + 1, 2)).astype(float)
    # Two customers on one spot, and one at the depot.
    coords[2], coords[3] = coords[1], coords[0]
    gaps = coords[:, None] - coords[None]
    demands = np.concatenate(([0], rng.integers(0, capacity, size=size)))
    matrix = np.floor(np.hypot(gaps[..., 0], gaps[..., 1]) + 0.5)
    for array in (coords, demands, matrix):
        array.flags.writeable = False
    return coords, demands, matrix


@pytest.mark.filterwarnings("error")
def test_lower_samples_give_an_available_answer_in_every_state():
    _, demands, matrix = instance(12, 9, seed=1)
    rng = generator(2, "test")
    states = [(0, [1], 1), (0, [1, 2, 3], 9), (1, [2, 3], 8), (3, [1, 2], 0), (5, [7], 3)]
    for _ in range(5):
        nodes = rng.permutation(np.arange(1, 13))
        states.append((int(nodes[0]), sorted(nodes[1:8].tolist()), int(rng.integers(1, 10))))
    for source in samples("cvrp", Level.LOWER):
        program = defined(CONTRACTS[Level.LOWER], source)
        for current, unvisited, rest in states:
            answer = program(current, 0, np.array(unvisited), rest, demands, matrix)
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
    coords, demands, matrix = instance(max(size, 3), 9, seed=3)
    routes = [np.array(route) for route in routes]
    count, largest = 3, 5
    for source in samples("cvrp", Level.UPPER):
        program = defined(CONTRACTS[Level.UPPER], source)
        groups = program(routes, coords, demands, 9, matrix, count, largest)
        assert 1 <= len(groups) <= count, source
        entries = [int(node) for group in groups for node in group]
        assert len(entries) == len(set(entries)), source
        assert all(1 <= node <= size for node in entries), source
        assert all(1 <= len(group) <= largest for group in groups), source


def test_the_lower_seed_takes_the_nearest_and_the_lowest_index_on_ties():
    matrix = np.array([[0, 5, 2, 2], [5, 0, 1, 1], [2, 1, 0, 9], [2, 1, 9, 0]], dtype=float)
    assert select_next_node(0, 0, np.array([1, 2, 3]), 9, np.array([0, 1, 1, 1]), matrix) == 2
    assert select_next_node(2, 0, np.array([1, 3]), 9, np.array([0, 1, 1, 1]), matrix) == 1
