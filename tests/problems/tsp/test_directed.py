"""Tours on directed ways: costs, constructions, and what refuses them."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from offered import problem
from specahd import api
from specahd.core.errors import ConfigError
from specahd.problems.tsp import baseline
from specahd.problems.tsp.instance import TSPInstance
from specahd.problems.tsp.problem import TSP
from specahd.repair.cases import Case, share_arrays
from specahd.routing.geometry import Convention
from specahd.routing.vehicles import baselines
from specahd.routing.vehicles.instance import VehicleInstance


def directed(size, seed):
    rng = np.random.default_rng(seed)
    matrix = rng.integers(1, 60, (size, size)).astype(float)
    np.fill_diagonal(matrix, 0.0)
    return TSPInstance("directed", rng.random((size, 2)), Convention.EXPLICIT, matrix)


def length(matrix, tour):
    return sum(matrix[a][b] for a, b in zip(tour, (*tour[1:], tour[0]), strict=True))


def slow_greedy(matrix):
    """Try all ways, shortest first, one by one; return those taken."""
    size = len(matrix)
    pairs = [(i, j) for i in range(size) for j in range(size) if i != j]
    path, taken, left, entered = list(range(size)), {}, set(), set()
    for i, j in sorted(pairs, key=lambda pair: (matrix[pair], pair)):
        if i not in left and j not in entered and path[i] != path[j]:
            taken[i] = j
            left.add(i)
            entered.add(j)
            path = [path[i] if name == path[j] else name for name in path]
    [end], [start] = set(range(size)) - left, set(range(size)) - entered
    return set(taken.items()) | {(end, start)}


def test_greedy_takes_the_shortest_ways_first():
    for seed in range(30):
        instance = directed(int(np.random.default_rng(seed).integers(3, 12)), seed)
        tour = baseline.greedy(instance)
        assert set(zip(tour, (*tour[1:], tour[0]), strict=True)) == slow_greedy(instance.matrix)


@pytest.mark.parametrize("size", [3, 4, 7, 8, 9, 60, 150])
@pytest.mark.parametrize("name", TSP.baselines)
def test_constructions_are_feasible_and_lengths_are_those_of_their_direction(name, size):
    for seed in range(3):
        instance = directed(size, seed)
        tour = problem("tsp").baseline(instance, name)
        assert TSP.check(instance, tour) == ()
        assert TSP.cost(instance, tour) == length(instance.matrix, tour)


def test_moved_runs_leave_no_shorter_tour_among_near_nodes():
    instance = directed(12, 4)
    tour, matrix = baseline.two_opt(instance), instance.matrix
    assert length(matrix, tour) < length(matrix, baseline.greedy(instance))
    # All exchanges of two adjacent runs: every node is among the ten nearest or the eleventh.
    for first in range(12):
        turned = (*tour[first:], *tour[:first])
        for cut in range(1, 11):
            for end in range(cut + 1, 12):
                moved = (*turned[cut:end], *turned[:cut], *turned[end:])
                near = np.argsort(matrix[turned[end - 1]], kind="stable")[1:11]
                if turned[0] in near:
                    assert length(matrix, moved) >= length(matrix, tour)


@pytest.mark.parametrize("seed", range(10))
def test_two_cycles_are_joined_where_that_costs_least(seed):
    """Ways between the pairs are so long that no best tour takes four of them."""
    matrix = np.random.default_rng(seed).integers(50, 100, (4, 4)).astype(float)
    matrix[[0, 1, 2, 3], [1, 0, 3, 2]] = 1.0
    instance = replace(directed(4, 0), matrix=matrix)
    least = min(length(matrix, (0, *rest)) for rest in permutations((1, 2, 3)))
    assert TSP.cost(instance, baseline.patching(instance)) == least


def test_patching_is_no_shorter_than_its_assignment_and_shortest_where_that_is_a_tour():
    instance = directed(40, 3)
    ways = np.where(np.eye(40) > 0, np.inf, instance.matrix)
    least = ways[linear_sum_assignment(ways)].sum()
    assert least <= TSP.cost(instance, baseline.patching(instance)) < 1.3 * least
    ring = np.full((9, 9), 50.0)
    ring[np.arange(9), (np.arange(9) + 1) % 9] = 1.0
    np.fill_diagonal(ring, 0.0)
    assert baseline.patching(replace(directed(9, 0), matrix=ring)) == tuple(range(9))


def test_solving_agrees_with_pyvrp_on_the_cost():
    """One vehicle without loads: the second opinion on the length of a tour."""
    pytest.importorskip("pyvrp")
    import pyvrp

    for given in (directed(6, 1), directed(40, 9)):
        solved = api.solve(api.ProblemInstance(TSP(), given), repairs=20_000)
        nothing = np.zeros(given.size, np.int64)
        vehicle = VehicleInstance(
            "x", given.coords, nothing, 1, given.convention, given.matrix, fleet=1
        )
        model = baselines.problem_data(vehicle, given.matrix)
        ours = pyvrp.Solution(model, [[node - 1 for node in solved.data[1:]]])
        assert ours.is_feasible()
        assert ours.distance() == solved.cost == length(given.matrix, solved.data)
        theirs = pyvrp.solve(model, pyvrp.stop.MaxIterations(300), seed=0).best
        assert solved.cost <= theirs.distance()


def test_programs_of_runs_refuse_directed_ways_and_those_of_insertion_take_them():
    instance = directed(20, 1)
    case = Case(instance, tuple(range(20)), 0.0, "x")
    for name in ("tsp", "tsp-construct"):
        with pytest.raises(ConfigError, match=r"directed has ways that differ .*repair=insertion"):
            share_arrays(problem(name), [case])
    share_arrays(problem("tsp-insertion"), [case]).close()
