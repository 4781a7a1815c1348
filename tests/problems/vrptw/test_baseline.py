import time
from dataclasses import replace

import numpy as np
import pytest

from offered import problem
from problems.instances import instance_of
from specahd.problems.vrptw.baseline import _margin, cheapest, insertion
from specahd.problems.vrptw.problem import VRPTW
from specahd.routing.geometry import Convention, distances
from specahd.routing.vehicles.baselines import pyvrp


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
    instance = instance_of("vrptw", coords, capacity=20, convention=Convention.EXACT_2D, due=due)
    for solve in (insertion, cheapest):
        assert VRPTW.check(instance, solve(instance)) == ()


@pytest.mark.parametrize(("part", "exact"), [(0.0, True), (0.5, False)])
def test_only_sums_of_whole_times_are_exact(part, exact):
    coords = np.array([[0.0, 0.0], [3.0, 4.0]])
    ways = np.array([[0.0, 5.0], [5.0, 0.0]])
    plain = instance_of("vrptw", coords, convention=Convention.EUC_2D, due=np.full(2, 99.0))
    times = ways + part
    instance = replace(plain, convention=Convention.EXPLICIT, matrix=ways, durations=times)
    assert (_margin(instance, ways) == 0) is exact


def test_many_customers_take_seconds():
    """Solomon's insertion would take many minutes."""
    rng = np.random.default_rng(0)
    size = 30_001
    coords = rng.uniform(0, 1000, (size, 2))
    ready = distances(coords[0], coords, Convention.EXACT_2D) + rng.uniform(0, 3000, size)
    times = {"ready": ready, "due": ready + 200, "service": np.full(size, 10.0)}
    for name, opening in (("ready", 0.0), ("due", 5000.0), ("service", 0.0)):
        times[name][0] = opening
    demands = np.append(0, rng.integers(1, 9, size - 1))
    instance = instance_of("vrptw", coords, demands, 100, convention=Convention.EXACT_2D, **times)
    assert problem("vrptw").construction_of(instance) == "cheapest"
    began = time.thread_time()
    solution = cheapest(instance)
    assert time.thread_time() - began < 10
    assert VRPTW.check(instance, solution) == ()
    assert len(solution) < instance.size / 5


@pytest.mark.parametrize("convention", [Convention.EXACT_2D, Convention.DIMACS])
def test_nobody_has_a_unit_of_time_to_lose(convention):
    still = np.zeros(81)
    times = {"due": still + 1.5, "service": np.append(0, still[1:] + 1.5)}
    instance = instance_of("vrptw", np.zeros((81, 2)), convention=convention, **times)
    solvers = (insertion, cheapest, lambda instance: pyvrp(instance, iterations=5))
    for solve in solvers:
        solution = solve(instance)
        assert VRPTW.check(instance, solution) == ()
        assert len(solution) == 80
