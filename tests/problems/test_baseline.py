"""What the baselines of every problem have in common."""

from dataclasses import replace

import numpy as np
import pytest

from offered import PROBLEMS, problem
from problems.conftest import generated
from problems.instances import VEHICLES, instance_of, matrix_of
from specahd.routing.geometry import Convention
from specahd.routing.vehicles.routes import Delivery


def slow_routes(instance):
    """Append the nearest customer that fits and is in time, and else return to the depot."""
    matrix, still = matrix_of(instance), np.zeros(instance.size + 1)
    windows = getattr(instance, "windows", None)
    ready, due, service = (
        (windows.ready, windows.due, windows.service) if windows else (still, still + 1e9, still)
    )
    unserved = set(range(1, instance.size + 1))
    routes = []
    while unserved:
        route, current, time, rest = [], 0, ready[0], instance.capacity
        while True:
            left = {
                node: max(time + matrix[current, node], ready[node]) + service[node]
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


def slow_deliveries(instance):
    matrix, lacking = matrix_of(instance), dict(enumerate(instance.demands.tolist()))
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


def crowded(name, rng, convention):
    """Few places, so that ties abound, and windows that close at the first arrival or later."""
    coords = rng.integers(0, 6, (61, 2)).astype(float)
    demands = np.append(0, rng.integers(1, 30, 60) if name == "sdvrp" else rng.integers(0, 6, 60))
    away = np.hypot(*(coords - coords[0]).T) + 1
    ready = rng.integers(0, 20, 61).astype(float)
    start = np.maximum(away, ready)
    service = rng.integers(0, 3, 61) / (1 if convention is Convention.EUC_2D else 3)
    due = start + rng.integers(0, 10, 61)
    ready[0], service[0] = 0, 0
    due[0] = (due + service + away).max() + 1
    times = {"ready": ready, "due": due, "service": service}
    return instance_of(name, coords, demands, 13, convention=convention, **times)


@pytest.mark.parametrize("name", VEHICLES)
def test_nearest_agrees_with_a_slow_one(name):
    solved = type(problem(name))(solver_iterations=3)
    slow = slow_deliveries if name == "sdvrp" else slow_routes
    for convention in (Convention.EUC_2D, Convention.EXACT_2D, Convention.DIMACS):
        for seed in range(4):
            instance = crowded(name, np.random.default_rng(seed), convention)
            explicit = replace(instance, convention=Convention.EXPLICIT, matrix=matrix_of(instance))
            expected = slow(instance)
            for each in (instance, explicit):
                assert solved.baseline(each, "nearest") == expected
                for other in solved.baselines if seed == 0 else ():
                    assert solved.check(each, solved.baseline(each, other)) == ()


COSTS = {
    "cvrp": [("savings", 0.95, "nearest")],
    "sdvrp": [("nearest", 0.9, "unsplit")],
    "tsp": [
        ("two_opt", 0.95, "greedy"), ("greedy", 0.97, "nearest"),
        ("nearest", 0.98, "space_filling"),
    ],
    "vrptw": [("insertion", 0.8, "nearest"), ("cheapest", 0.8, "nearest")],
}  # fmt: skip
"""Of two baselines, the first costs less than this share of the other's over a pool."""


@pytest.mark.parametrize("name", PROBLEMS)
def test_feasible_on_a_pool_and_better_ones_are_cheaper(name):
    solved = problem(name)
    named = {one for row in COSTS[name] for one in row[::2]}
    costs = {one: [] for one in named}
    # Every eleventh: of all families and sizes.
    for instance in generated(name)["validation"][::11]:
        for one in named:
            solution = solved.baseline(instance, one)
            assert solved.check(instance, solution) == ()
            costs[one].append(solved.cost(instance, solution))
    for better, share, worse in COSTS[name]:
        assert sum(costs[better]) < share * sum(costs[worse])


@pytest.mark.parametrize("name", VEHICLES)
@pytest.mark.parametrize("customers", [1, 2, 150])
def test_all_in_one_place(name, customers):
    solved = type(problem(name))(solver_iterations=3)
    instance = instance_of(name, np.zeros((customers + 1, 2)))
    for baseline in solved.baselines:
        assert solved.check(instance, solved.baseline(instance, baseline)) == ()
