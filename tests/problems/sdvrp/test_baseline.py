from itertools import product

import numpy as np
import pytest

from offered import problem
from problems.instances import HEAP, instance_of, plan
from specahd.problems.sdvrp.baseline import cut, nearest, splitting, unsplit
from specahd.problems.sdvrp.problem import SDVRP


def line(demands, capacity):
    coords = [(10 * i, 0) for i in range(len(demands) + 1)]
    return instance_of("sdvrp", coords, [0, *demands], capacity)


def test_unsplit_by_hand():
    assert unsplit(line([2, 4, 3, 12], 5)) == plan(
        [(4, 5)], [(4, 5)], [(1, 2), (3, 3)], [(2, 4)], [(4, 2)]
    )


@pytest.mark.parametrize(
    ("demands", "capacity"),
    [([7], 10), ([10], 10), ([25], 10), ([1, 1], 10), ([10, 30], 10), ([3, 3, 3], 1)],
)
def test_small_and_odd_instances(demands, capacity):
    heap = instance_of("sdvrp", HEAP[: len(demands) + 1], [0, *demands], capacity)
    solvers = (nearest, unsplit, lambda instance: splitting(instance, 2))
    for solve, instance in product(solvers, (line(demands, capacity), heap)):
        assert SDVRP.check(instance, solve(instance)) == ()


def test_the_pieces_are_those_of_the_rule():
    # 20, 10, 5 and 1 percent of 200 are 40, 20, 10 and 2.
    owners, pieces = cut(np.array([0, 137, 40, 1, 19]), 200)
    assert pieces.tolist() == [0, 40, 40, 40, 10, 2, 2, 2, 1, 40, 1, 10, 2, 2, 2, 2, 1]
    assert owners.tolist() == [0] + [1] * 8 + [2] + [3] + [4] * 6
    # One percent of 30 is less than a unit.
    assert cut(np.array([0, 11]), 30)[1].tolist() == [0, 6, 3, 1, 1]


def test_pieces_add_up_and_fit():
    rng = np.random.default_rng(3)
    for capacity in rng.integers(1, 300, 50).tolist():
        demands = np.concatenate(([0], rng.integers(1, 2 * capacity + 1, 20)))
        owners, pieces = cut(demands, capacity)
        np.testing.assert_array_equal(np.bincount(owners, weights=pieces), demands)
        assert pieces[1:].min() >= 1
        assert pieces.max() <= max(1, capacity // 5)


def test_splitting_is_deterministic_and_gets_better_with_iterations():
    rng = np.random.default_rng(5)
    demands = np.append(0, rng.integers(30, 90, 30))
    instance = instance_of("sdvrp", rng.integers(0, 1000, (31, 2)), demands, 100)
    first, second = splitting(instance, 1), splitting(instance, 400)
    assert second == splitting(instance, 400)
    assert SDVRP.check(instance, first) == SDVRP.check(instance, second) == ()
    assert SDVRP.cost(instance, second) < SDVRP.cost(instance, first)
    # What one route brings to one customer is one delivery.
    assert all(len({stop.customer for stop in route}) == len(route) for route in second)


def test_the_bound_is_each_customers_share_of_its_round_trips():
    instance = instance_of("sdvrp", [[0, 0], [3, 4], [0, 10]], [0, 6, 15])
    # 6/10 of 2 x 5 and 15/10 of 2 x 10.
    assert problem("sdvrp").lower_bound(instance) == pytest.approx(6 + 30)
    assert SDVRP.cost(instance, unsplit(instance)) >= 36
