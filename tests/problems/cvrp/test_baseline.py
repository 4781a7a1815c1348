import numpy as np
import pytest

from specahd.problems.cvrp import baseline
from specahd.problems.cvrp.baseline import nearest, savings
from specahd.problems.cvrp.checker import check, cost
from specahd.problems.cvrp.generator import generate
from specahd.problems.cvrp.instance import CVRPInstance, read
from specahd.routing import distances as computing
from specahd.routing.base import POOLS
from specahd.routing.geometry import Convention, distances
from specahd.routing.kernels.construction import neighbouring_pairs


def slow_nearest(instance):
    if instance.matrix is None:
        coords = instance.coords
        matrix = distances(coords[:, None], coords[None], instance.convention)
    else:
        matrix = instance.matrix
    unserved = list(range(1, instance.size + 1))
    routes = []
    while unserved:
        route, rest = [], instance.capacity
        while fitting := [node for node in unserved if instance.demands[node] <= rest]:
            current = route[-1] if route else 0
            node = min(fitting, key=lambda node: (matrix[current, node], node))
            route.append(node)
            rest -= instance.demands[node]
            unserved.remove(node)
        routes.append(tuple(route))
    return tuple(routes)


def test_by_hand(data):
    tiny = read(data / "tiny.vrp")
    assert nearest(tiny) == ((5,), (4, 1, 2), (3,))
    assert savings(tiny) == ((1, 3), (2, 4), (5,))
    explicit = read(data / "tiny-explicit.vrp")
    assert nearest(explicit) == savings(explicit) == ((1, 2), (3,))


@pytest.mark.parametrize("pool", POOLS)
def test_feasible_on_every_pool_and_savings_is_cheaper(pool):
    ratios = []
    # Every seventh: of all families and sizes.
    for instance in list(generate(pool, 2024))[::7]:
        first, second = nearest(instance), savings(instance)
        assert check(instance, first) == check(instance, second) == ()
        ratios.append(cost(instance, second) / cost(instance, first))
    assert np.mean(ratios) < 0.95


def test_nearest_agrees_with_a_slow_one(data):
    rng = np.random.default_rng(1)
    for convention in (Convention.EUC_2D, Convention.CEIL_2D, Convention.EXACT_2D):
        # Few places, so that ties abound.
        coords = rng.integers(0, 6, (60, 2)).astype(float)
        demands = np.concatenate(([0], rng.integers(0, 6, 59)))
        instance = CVRPInstance("ties", coords, demands, 13, convention)
        assert nearest(instance) == slow_nearest(instance)
        assert check(instance, savings(instance)) == ()
    explicit = read(data / "tiny-explicit.vrp")
    assert nearest(explicit) == slow_nearest(explicit)


@pytest.mark.parametrize("customers", [1, 2, 150])
def test_all_in_one_place(customers):
    coords = np.zeros((customers + 1, 2))
    demands = np.ones(customers + 1, np.int64)
    demands[0] = 0
    instance = CVRPInstance("heap", coords, demands, 10)
    assert check(instance, nearest(instance)) == ()
    assert check(instance, savings(instance)) == ()


@pytest.mark.parametrize("neighbours", [2, 7, 100])
def test_savings_looks_at_every_pair_of_near_customers_in_its_turn(neighbours, monkeypatch):
    monkeypatch.setattr(baseline, "NEIGHBOURS", neighbours)
    # Few places, so that many customers are equally far from another one.
    coords = np.random.default_rng(3).integers(0, 12, (80, 2)).astype(float)
    instance = CVRPInstance("crowded", coords, np.append(0, np.ones(79, np.int64)), 9)
    near, _ = baseline._nearest(instance)
    pairs = {
        (min(i, j) + 1, max(i, j) + 1) for i, row in enumerate(near.tolist()) for j in row if i != j
    }
    begins, ends = neighbouring_pairs(*baseline._nearest(instance))
    owners = np.repeat(np.arange(len(begins) - 1), np.diff(begins))
    assert list(zip(owners.tolist(), ends.tolist(), strict=True)) == sorted(pairs)


def test_many_customers_are_joined_among_fewer_neighbours(monkeypatch):
    monkeypatch.setattr(computing, "LARGEST_MATRIX", 50)
    instance = next(iter(generate("validation", 1)))
    assert instance.size > 50
    assert baseline._nearest(instance)[0].shape[1] == baseline.FEW_NEIGHBOURS + 1
    assert check(instance, savings(instance)) == ()
