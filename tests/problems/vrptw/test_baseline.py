import time

import numpy as np
import pytest

from specahd.problems.vrptw.baseline import cheapest, insertion, nearest, pyvrp
from specahd.problems.vrptw.checker import check, cost
from specahd.problems.vrptw.instance import VRPTWInstance
from specahd.problems.vrptw.problem import VRPTW
from specahd.routing.base import POOLS
from specahd.routing.formats.vrplib import TimeWindows
from specahd.routing.geometry import Convention, distances

QUICK = (nearest, insertion, cheapest, lambda instance: pyvrp(instance, iterations=5))
PLANE = (Convention.EUC_2D, Convention.EXACT_2D, Convention.DIMACS)


def slow_nearest(instance):
    matrix = distances(instance.coords[:, None], instance.coords[None], instance.measure)
    ready, due = instance.windows.ready, instance.windows.due
    unserved = set(range(1, instance.size + 1))
    routes = []
    while unserved:
        route, current, time, rest = [], 0, ready[0], instance.capacity
        while True:
            left = {
                node: max(time + matrix[current, node], ready[node])
                + instance.windows.service[node]
                for node in unserved
                if instance.demands[node] <= rest
                and max(time + matrix[current, node], ready[node]) <= due[node]
            }
            fitting = [node for node in left if left[node] + matrix[node, 0] <= due[0]]
            if not fitting:
                break
            current = min(fitting, key=lambda node: (matrix[current, node], node))
            time = left[current]
            rest -= instance.demands[current]
            route.append(current)
            unserved.remove(current)
        routes.append(tuple(route))
    return tuple(routes)


def crowded(rng, customers, convention):
    """Few places, so that ties abound, and windows that close at the first arrival or later."""
    coords = rng.integers(0, 6, (customers + 1, 2)).astype(float)
    away = distances(coords[0], coords, Convention.EXACT_2D) + 1
    ready = rng.integers(0, 20, customers + 1).astype(float)
    start = np.maximum(away, ready)
    service = rng.integers(0, 3, customers + 1) / (1 if convention is Convention.EUC_2D else 3)
    due = start + rng.integers(0, 10, customers + 1)
    ready[0], service[0] = 0, 0
    due[0] = (due + service + away).max() + 1
    return VRPTWInstance(
        "crowded",
        coords,
        np.concatenate(([0], rng.integers(0, 6, customers))),
        13,
        windows=TimeWindows(ready, due, service),
        convention=convention,
    )


def test_by_hand(line):
    assert nearest(line) == ((1, 2, 3), (4,))
    # Customer 4, the farthest, opens a route; 1 or 2 would make it late or leave 3 too heavy.
    for solve in QUICK:
        assert check(line, solve(line)) == ()
        assert cost(line, solve(line)) <= cost(line, ((1,), (2,), (3,), (4,)))


@pytest.mark.parametrize("convention", PLANE)
def test_nearest_agrees_with_a_slow_one(convention):
    for seed in range(10):
        instance = crowded(np.random.default_rng(seed), 60, convention)
        assert nearest(instance) == slow_nearest(instance)
        assert check(instance, insertion(instance)) == check(instance, cheapest(instance)) == ()


def test_nobody_is_late_by_a_rounding_error():
    """The last on each of thirty rays is late by the last bit if the vehicle serves all on it."""
    rng = np.random.default_rng(0)
    angles = np.repeat(np.linspace(0, 2 * np.pi, 30, endpoint=False), 20)
    away = np.tile(np.linspace(20, 77, 20), 30)
    rays = away[:, None] * np.stack((np.cos(angles), np.sin(angles)), axis=1)
    coords = np.concatenate((np.zeros((1, 2)), rays + rng.uniform(-0.1, 0.1, rays.shape)))
    due = np.full(601, 1e3)
    for first in range(1, 601, 20):
        time, place = 0.0, 0
        for node in range(first, first + 20):
            time += distances(coords[place], coords[node], Convention.EXACT_2D)
            place = node
            due[node] = time + 0.5
        due[place] = np.nextafter(time, 0)
    windows = TimeWindows(np.zeros(601), due, np.zeros(601))
    instance = VRPTWInstance(
        "rays",
        coords,
        np.append(0, np.ones(600, np.int64)),
        20,
        windows=windows,
        convention=Convention.EXACT_2D,
    )
    for solve in (insertion, cheapest):
        assert check(instance, solve(instance)) == ()


@pytest.mark.parametrize("pool", POOLS)
def test_feasible_on_every_pool_and_insertions_are_cheaper(pool):
    ratios = []
    # Every seventh: all six classes, and all sizes.
    for instance in list(VRPTW().generate(pool, 2024))[::7]:
        first = cost(instance, nearest(instance))
        for solution in (insertion(instance), cheapest(instance)):
            assert check(instance, solution) == ()
            ratios.append(cost(instance, solution) / first)
    assert np.mean(ratios[::2]) < 0.8
    assert np.mean(ratios[1::2]) < 0.8


def test_many_customers_take_seconds():
    """Solomon's insertion would take an hour."""
    rng = np.random.default_rng(0)
    size = 50_001
    coords = rng.uniform(0, 1000, (size, 2))
    away = distances(coords[0], coords, Convention.EXACT_2D)
    ready = away + rng.uniform(0, 3000, size)
    windows = TimeWindows(ready, ready + 200, np.full(size, 10.0))
    for times, opening in ((windows.ready, 0.0), (windows.due, 5000.0), (windows.service, 0.0)):
        times[0] = opening
    demands = np.append(0, rng.integers(1, 9, size - 1))
    instance = VRPTWInstance(
        "many", coords, demands, 100, windows=windows, convention=Convention.EXACT_2D
    )
    assert VRPTW().construction_of(instance) == "cheapest"
    began = time.thread_time()
    solution = cheapest(instance)
    assert time.thread_time() - began < 20
    assert check(instance, solution) == ()
    assert len(solution) < instance.size / 5


def test_pyvrp_is_cheapest_and_feasible():
    for instance in list(VRPTW().generate("selection", 2024))[:6]:
        solution = pyvrp(instance, iterations=50)
        assert check(instance, solution) == ()
        assert solution == pyvrp(instance, iterations=50)
        assert cost(instance, solution) < 0.99 * cost(instance, insertion(instance))


@pytest.mark.parametrize("customers", [1, 2, 80])
@pytest.mark.parametrize("solve", QUICK)
@pytest.mark.parametrize("convention", PLANE)
def test_all_in_one_place(customers, solve, convention):
    coords = np.zeros((customers + 1, 2))
    demands = np.ones(customers + 1, np.int64)
    demands[0] = 0
    service = np.full(customers + 1, 1.5)
    service[0] = 0.0
    # Nobody has a unit of time to lose.
    windows = TimeWindows(np.zeros(customers + 1), np.full(customers + 1, 1.5), service)
    instance = VRPTWInstance("heap", coords, demands, 10, windows=windows, convention=convention)
    assert check(instance, solve(instance)) == ()
    assert len(solve(instance)) == customers


def test_distances_from_a_matrix():
    matrix = np.array([[0, 3, 4.5], [3, 0, 5], [4.5, 5, 0]])
    windows = TimeWindows(np.array([0, 3.0, 0]), np.array([20, 3.5, 9.5]), np.array([0, 1.0, 1]))
    instance = VRPTWInstance(
        "matrix",
        np.zeros((3, 2)),
        np.array([0, 5, 5]),
        10,
        windows=windows,
        convention=Convention.EXPLICIT,
        matrix=matrix,
    )
    for solve in QUICK:
        assert check(instance, solve(instance)) == ()
        assert cost(instance, solve(instance)) == 12.5
