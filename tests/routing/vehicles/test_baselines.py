from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, permutations

import numpy as np
import pytest

from offered import problem
from specahd.core.errors import ConfigError, NotEnoughMemory
from specahd.routing.formats.vrplib import TimeWindows
from specahd.routing.geometry import Convention, distances
from specahd.routing.vehicles.baselines import pyvrp
from specahd.routing.vehicles.instance import VehicleInstance

SEARCH = {"iterations": 50, "seed": 1}


def solve(distances, demands, capacity, iterations, seed, **times):
    coords, windows = np.zeros((len(demands), 2)), TimeWindows(**times) if times else None
    shape = Convention.EXPLICIT, distances
    instance = VehicleInstance("x", coords, demands, capacity, *shape, windows=windows)
    return pyvrp(instance, iterations, seed)


def plane(rng, customers, side=100, convention=Convention.EUC_2D):
    points = rng.integers(0, side, (customers + 1, 2)).astype(float)
    return distances(points[:, None], points[None], convention)


def weights(rng, customers, most=9):
    return np.concatenate(([0], rng.integers(0, most + 1, customers)))


def length(matrix, route):
    return sum(matrix[i, j] for i, j in pairwise([0, *route, 0]))


def covers(solution, customers):
    return sorted(node for route in solution for node in route) == list(range(1, customers + 1))


@pytest.mark.parametrize("customers", [1, 2, 5])
def test_few_customers(customers):
    rng = np.random.default_rng(customers)
    matrix = plane(rng, customers)
    demands = np.concatenate(([0], np.ones(customers, np.int64)))
    solution = solve(distances=matrix, demands=demands, capacity=customers, **SEARCH)
    assert covers(solution, customers)
    best = min(length(matrix, route) for route in permutations(range(1, customers + 1)))
    assert sum(length(matrix, route) for route in solution) <= best


def test_the_same_arguments_give_the_same_routes_and_the_capacity_holds():
    rng = np.random.default_rng(3)
    matrix, demands = plane(rng, 60), weights(rng, 60)
    first, second = (
        solve(distances=matrix, demands=demands, capacity=20, iterations=30, seed=7)
        for _ in range(2)
    )
    assert first == second
    assert covers(first, 60)
    assert all(demands[list(route)].sum() <= 20 for route in first)


def test_seconds_without_feasible_routes_are_told_and_not_spent_otherwise():
    """Another start and another bound would be another solver's routes."""
    demands = np.array([0, *[7] * 12])
    instance = VehicleInstance(
        *("x", np.zeros((13, 2)), demands, 20),
        *(Convention.EXPLICIT, plane(np.random.default_rng(3), 12)),
        fleet=5,  # of the six that two customers each take
    )
    with pytest.raises(ConfigError, match=r"^PyVRP found no feasible routes in 0\.05 s\.$"):
        pyvrp(instance, 1, seconds=0.05)
    with pytest.raises(ConfigError, match=r"^PyVRP found no feasible routes in 1 iterations, "):
        pyvrp(instance, 1)


@pytest.mark.parametrize("convention", [Convention.EUC_2D, Convention.EXACT_2D, Convention.DIMACS])
def test_windows_hold_in_exact_arithmetic(convention):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        matrix, demands = plane(rng, 40, convention=convention), weights(rng, 40)
        home = matrix[0]
        service = np.concatenate(([0.0], rng.integers(0, 9, 40) / 3))
        closing = 2 * home.max() + 60.7
        # Wide enough for the rounding of a customer served alone.
        ready = np.minimum(home + rng.random(41) * 30, closing - home - service - 0.01)
        due = np.minimum(ready + 0.01 + rng.random(41) * 25, closing - home - service)
        ready[0], due[0] = 0.0, closing
        solution = solve(
            distances=matrix,
            demands=demands,
            capacity=40,
            ready=ready,
            due=due,
            service=service,
            **SEARCH,
        )
        assert covers(solution, 40)
        for route in solution:
            time = Fraction(ready[0])
            for before, node in pairwise([0, *route, 0]):
                time = max(time + Fraction(matrix[before, node]), Fraction(ready[node]))
                assert time <= Fraction(due[node])
                time += Fraction(service[node])


def test_integral_windows_are_kept_to_the_last_unit():
    # Out at 0, at customer 1 at 10 sharp, at 2 at 25 sharp, back at 45 sharp.
    matrix = np.array([[0, 10, 20], [10, 0, 10], [20, 10, 0]], float)
    windows = {
        "ready": np.array([0, 10, 25.0]),
        "due": np.array([45, 10, 25.0]),
        "service": np.array([0, 5, 0.0]),
    }
    for parts in (1, 10):
        solution = solve(
            distances=matrix / parts,
            demands=np.array([0, 1, 1]),
            capacity=2,
            **{name: times / parts for name, times in windows.items()},
            **SEARCH,
        )
        assert solution == ((1, 2),)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"iterations": 0}, "solver_iterations of at least 1"),
        ({"seed": -1}, "solver seed of at least 0"),
        # Nobody is in time.
        ({"due": np.array([100, 9.0])}, "no feasible routes in 50 iterations"),
        ({"ready": np.array([0, 10.0005]), "due": np.array([99, 10.0005])}, "no whole 1/1000"),
    ],
)
def test_what_cannot_be_solved_is_reported(wrong, words):
    given = {
        "distances": np.array([[0, 10.0], [10, 0]]),
        "demands": np.array([0, 1]),
        "capacity": 1,
        "ready": np.zeros(2),
        "due": np.array([100, 100.0]),
        "service": np.zeros(2),
    }
    with pytest.raises(ConfigError, match=words):
        solve(**given | SEARCH | wrong)


@pytest.mark.parametrize("name", ["cvrp", "vrptw"])
def test_an_instance_whose_matrices_would_not_fit_is_refused(name):
    solved = problem(name)
    instance = next(solved.generate("lower_train", 1))
    huge = replace(instance, name="huge", coords=np.zeros((2_000_000, 2)))
    with pytest.raises(NotEnoughMemory, match=r"pyvrp of huge needs 149,011\.6 GiB"):
        solved.baseline(huge, "pyvrp")
