import numpy as np
import pytest

from specahd.problems.sdvrp.baseline import cut, nearest, splitting, unsplit
from specahd.problems.sdvrp.checker import check, cost
from specahd.problems.sdvrp.deliveries import Delivery
from specahd.problems.sdvrp.generator import generate
from specahd.problems.sdvrp.instance import SDVRPInstance
from specahd.routing.base import POOLS
from specahd.routing.geometry import Convention, distances


def plan(*routes):
    return tuple(tuple(Delivery(*stop) for stop in route) for route in routes)


def line(demands, capacity):
    coords = np.array([(10.0 * i, 0) for i in range(len(demands) + 1)])
    return SDVRPInstance("line", coords, np.array([0, *demands]), capacity)


def slow_nearest(instance):
    if instance.matrix is None:
        coords = instance.coords
        matrix = distances(coords[:, None], coords[None], instance.convention)
    else:
        matrix = instance.matrix
    lacking = dict(enumerate(instance.demands.tolist()))
    del lacking[0]
    routes = []
    while lacking:
        route, rest = [], instance.capacity
        while rest and lacking:
            current = route[-1][0] if route else 0
            node = min(lacking, key=lambda node: (matrix[current, node], node))
            quantity = min(rest, lacking[node])
            route.append(Delivery(node, quantity))
            rest -= quantity
            lacking[node] -= quantity
            if not lacking[node]:
                del lacking[node]
        routes.append(tuple(route))
    return tuple(routes)


def test_by_hand():
    instance = line([2, 4, 3, 12], 5)
    assert nearest(instance) == plan(
        [(1, 2), (2, 3)], [(2, 1), (3, 3), (4, 1)], [(4, 5)], [(4, 5)], [(4, 1)]
    )
    assert unsplit(instance) == plan([(4, 5)], [(4, 5)], [(1, 2), (3, 3)], [(2, 4)], [(4, 2)])


@pytest.mark.parametrize("pool", POOLS)
def test_feasible_on_every_pool_and_splitting_pays(pool):
    ratios = []
    # Every seventh: of all families and sizes.
    for instance in list(generate(pool, 2024))[::7]:
        first, second = nearest(instance), unsplit(instance)
        assert check(instance, first) == check(instance, second) == ()
        # No load is wasted: the vehicles are full, but for the last.
        assert len(first) == -(-instance.demands.sum() // instance.capacity)
        ratios.append(cost(instance, first) / cost(instance, second))
    assert np.mean(ratios) < 0.9


def test_nearest_agrees_with_a_slow_one():
    rng = np.random.default_rng(1)
    for convention in (Convention.EUC_2D, Convention.CEIL_2D, Convention.EXACT_2D):
        # Few places, so that ties abound.
        coords = rng.integers(0, 6, (60, 2)).astype(float)
        demands = np.concatenate(([0], rng.integers(1, 30, 59)))
        instance = SDVRPInstance("ties", coords, demands, 13, convention)
        assert nearest(instance) == slow_nearest(instance)
        matrix = distances(coords[:, None], coords[None], convention)
        explicit = SDVRPInstance("same", coords, demands, 13, Convention.EXPLICIT, matrix)
        assert nearest(explicit) == nearest(instance)
        assert unsplit(explicit) == unsplit(instance)
        assert splitting(explicit, 3) == splitting(instance, 3)
        assert check(explicit, unsplit(explicit)) == check(explicit, splitting(explicit, 3)) == ()


@pytest.mark.parametrize("solve", [nearest, unsplit, lambda instance: splitting(instance, 2)])
@pytest.mark.parametrize(
    ("demands", "capacity"),
    [([7], 10), ([10], 10), ([25], 10), ([1, 1], 10), ([10, 30], 10), ([3, 3, 3], 1)],
)
def test_small_and_odd_instances(solve, demands, capacity):
    for instance in (
        line(demands, capacity),
        SDVRPInstance("heap", np.zeros((len(demands) + 1, 2)), np.array([0, *demands]), capacity),
    ):
        assert check(instance, solve(instance)) == ()


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
    demands = np.concatenate(([0], rng.integers(30, 90, 30)))
    instance = SDVRPInstance("few", rng.integers(0, 1000, (31, 2)).astype(float), demands, 100)
    first, second = splitting(instance, 1), splitting(instance, 400)
    assert second == splitting(instance, 400)
    assert check(instance, first) == check(instance, second) == ()
    assert cost(instance, second) < cost(instance, first)
    # What one route brings to one customer is one delivery.
    assert all(len({stop.customer for stop in route}) == len(route) for route in second)
