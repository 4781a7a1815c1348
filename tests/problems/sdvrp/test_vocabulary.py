import numpy as np
import pytest

from problems.samples import defined, samples
from specahd.core.program import Level
from specahd.core.seeding import generator
from specahd.problems.sdvrp.contracts import APPEND
from specahd.problems.sdvrp.problem import SDVRP
from specahd.routing.base import contracts
from specahd.routing.groups import concatenated, validate_groups
from specahd.sandbox.definition import define

select_next_delivery = define(APPEND.seed.source, "select_next_delivery")

CONTRACTS = contracts(SDVRP().operator)


def instance(size, capacity, seed):
    rng = generator(seed, "test")
    coords = rng.integers(0, 100, size=(size + 1, 2)).astype(float)
    # Two customers on one spot, and one at the depot.
    coords[2], coords[3] = coords[1], coords[0]
    gaps = coords[:, None] - coords[None]
    demands = np.concatenate(([0], rng.integers(1, 2 * capacity, size=size)))
    matrix = np.floor(np.hypot(gaps[..., 0], gaps[..., 1]) + 0.5)
    for array in (coords, demands, matrix):
        array.flags.writeable = False
    return coords, demands, matrix


@pytest.mark.filterwarnings("error")
def test_lower_samples_give_an_available_answer_in_every_state():
    _, demands, matrix = instance(12, 9, seed=1)
    rng = generator(2, "test")
    states = [(0, [1], 1), (0, [1, 2, 3], 9), (1, [1, 2, 3], 8), (3, [1, 2], 1), (5, [5], 3)]
    for _ in range(5):
        nodes = rng.permutation(np.arange(1, 13))
        states.append((int(nodes[0]), sorted(nodes[1:8].tolist()), int(rng.integers(1, 10))))
    for source in samples("sdvrp", Level.LOWER):
        program = defined(CONTRACTS[Level.LOWER], source)
        for current, unvisited, rest in states:
            residuals = np.where(np.isin(np.arange(13), unvisited), demands, 0)
            answer = program(current, 0, np.array(unvisited), rest, residuals, matrix)
            assert type(answer) is tuple, source
            customer, quantity = answer
            assert type(customer) is type(quantity) is int, source
            if customer == 0:
                assert current != 0, source
            else:
                assert customer in unvisited, source
                assert 1 <= quantity <= min(residuals[customer], rest), source


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "routes",
    [
        [[1]],
        [[1, 2, 3]],
        [[1], [1], [1]],
        [[3], [1, 2], [2, 4, 5], [5, 6], [12, 11, 10, 9, 8, 7, 6]],
        [[node] for node in range(1, 13)],
        [list(range(1, 13)), list(range(12, 0, -1))],
    ],
)
def test_upper_samples_propose_groups_that_the_validator_keeps(routes):
    size = max(node for route in routes for node in route)
    coords, demands, matrix = instance(max(size, 3), 9, seed=3)
    deliveries = [np.ones(len(route), np.int64) for route in routes]
    routes = [np.array(route) for route in routes]
    count, largest = 3, 5
    for source in samples("sdvrp", Level.UPPER):
        program = defined(CONTRACTS[Level.UPPER], source)
        groups = program(routes, deliveries, coords, demands, 9, matrix, count, largest)
        assert 1 <= len(groups) <= count, source
        # Customers that routes share may occur again: the validator drops them.
        assert all(1 <= node <= size for group in groups for node in group), source
        assert all(1 <= len(group) <= largest for group in groups), source
        kept = validate_groups(concatenated(groups), size, count, largest)
        assert all(rejection.reason == "empty" for rejection in kept.rejections), source


def test_the_lower_seed_takes_the_nearest_and_leaves_all_that_fits():
    matrix = np.array([[0, 5, 2, 2], [5, 0, 1, 1], [2, 1, 0, 9], [2, 1, 9, 0]], dtype=float)
    lacking = np.array([0, 4, 7, 3])
    everyone = np.array([1, 2, 3])
    assert select_next_delivery(0, 0, everyone, 9, lacking, matrix) == (2, 7)
    assert select_next_delivery(0, 0, everyone, 5, lacking, matrix) == (2, 5)
    assert select_next_delivery(2, 0, np.array([1, 3]), 9, lacking, matrix) == (1, 4)


@pytest.mark.parametrize(
    ("template", "lacking", "rest", "expected"),
    [
        ("most", 7, 5, 5),
        ("most", 3, 5, 3),
        ("max(1, int(0.5 * most))", 1, 5, 1),
        ("max(1, int(0.5 * most))", 9, 5, 2),
        ("int(residual_demands[customer]) % rest_capacity or most", 12, 5, 2),
        ("int(residual_demands[customer]) % rest_capacity or most", 10, 5, 5),
        ("int(residual_demands[customer]) % rest_capacity or most", 3, 5, 3),
    ],
)
def test_quantities_by_hand(template, lacking, rest, expected):
    source = CONTRACTS[Level.LOWER].seed.source.replace(
        "(customer, most)", f"(customer, {template})"
    )
    assert template in source
    program = defined(CONTRACTS[Level.LOWER], source)
    matrix = np.array([[0, 1.0], [1.0, 0]])
    assert program(0, 0, np.array([1]), rest, np.array([0, lacking]), matrix) == (1, expected)
