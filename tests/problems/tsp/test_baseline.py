from itertools import pairwise, product

import numpy as np
import pytest

from offered import problem
from problems.instances import instance_of, matrix_of
from specahd.core.seeding import generator
from specahd.problems.tsp.baseline import (
    LONGEST_RUN,
    greedy,
    improve_tour,
    nearest,
    space_filling,
    two_opt,
)
from specahd.problems.tsp.problem import TSP
from specahd.routing.geometry import Convention, hilbert_places

BASELINES = [nearest, greedy, space_filling, two_opt]


def exact(coords):
    return instance_of("tsp", coords, convention=Convention.EXACT_2D)


def slow_nearest(instance):
    matrix = matrix_of(instance)
    tour, waiting = [0], set(range(1, instance.size))
    while waiting:
        tour.append(min(waiting, key=lambda node: (matrix[tour[-1], node], node)))
        waiting.remove(tour[-1])
    return tuple(tour)


def slow_greedy_edges(instance):
    """Try all edges, shortest first, one by one; return those taken."""
    matrix, size = matrix_of(instance), instance.size
    pairs = sorted(
        ((i, j) for i in range(size) for j in range(i + 1, size)),
        key=lambda pair: (matrix[pair], pair),
    )
    degree, path = [0] * size, list(range(size))
    taken = set()
    for i, j in pairs:
        if degree[i] < 2 and degree[j] < 2 and path[i] != path[j]:
            taken.add((i, j))
            degree[i] += 1
            degree[j] += 1
            path = [path[i] if name == path[j] else name for name in path]
    [closing] = [tuple(node for node in range(size) if degree[node] < 2)]
    return taken | {closing}


def edges(tour):
    return {tuple(sorted(pair)) for pair in pairwise((*tour, tour[0]))}


@pytest.mark.parametrize("convention", [each for each in Convention if each != "EXPLICIT"])
def test_nearest_agrees_with_a_slow_one(convention):
    """Where ties abound and where cities are scattered, in clusters, or nearly on a line."""
    rng = np.random.default_rng(8)
    clusters = rng.random((6, 2))[rng.integers(6, size=200)] * 80 + rng.normal(size=(200, 2))
    for coords in (
        *(rng.integers(0, 7, (80, 2)) for _ in range(4)),
        rng.random((200, 2)) * 80,
        clusters,
        clusters * [1.0, 1e-3] - 40.0,
    ):
        instance = instance_of("tsp", coords, convention=convention)
        assert nearest(instance) == slow_nearest(instance)


def test_greedy_agrees_with_a_slow_one_while_all_are_neighbours():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        instance = exact(rng.random((int(rng.integers(4, 12)), 2)))
        assert edges(greedy(instance)) == slow_greedy_edges(instance)


def test_greedy_costs_about_as_much_as_a_slow_one_on_many_cities():
    instance = exact(np.random.default_rng(2).random((150, 2)))
    matrix = matrix_of(instance)
    slow = sum(matrix[pair] for pair in slow_greedy_edges(instance))
    assert TSP.cost(instance, greedy(instance)) == pytest.approx(slow, rel=0.05)


@pytest.mark.parametrize("size", [3, 4, 11, 12, 40])
def test_heaps_and_lines_and_twins(size):
    line = np.stack((np.arange(size), np.zeros(size)), axis=1)
    two_heaps = np.where(np.arange(size)[:, None] % 2, 0.0, 1e6) * np.ones((1, 2))
    heap = np.zeros((size, 2))
    odd = [
        instance_of("tsp", coords % 90, convention=convention)
        for coords in (heap, line, two_heaps)
        for convention in (Convention.EUC_2D, Convention.GEO)
    ]
    matrix = np.zeros((size, size))
    odd.append(instance_of("tsp", heap, convention=Convention.EXPLICIT, matrix=matrix))
    for instance, baseline in product(odd, BASELINES):
        assert TSP.check(instance, baseline(instance)) == ()


def test_crowds_in_few_places_are_joined_place_by_place():
    places = np.random.default_rng(9).random((12, 2))
    crowd, alone = exact(np.tile(places, (400, 1))), exact(places)
    assert TSP.cost(crowd, greedy(crowd)) == pytest.approx(TSP.cost(alone, greedy(alone)), rel=0.2)
    assert TSP.check(crowd, greedy(crowd)) == ()


def test_two_far_heaps_are_joined_once_each_way():
    rng = np.random.default_rng(4)
    instance = exact(np.concatenate((rng.random((60, 2)), rng.random((60, 2)) + 1000.0)))
    crossings = sum((i < 60) != (j < 60) for i, j in edges(greedy(instance)))
    assert crossings == 2


def test_explicit_baselines_follow_the_matrix():
    scattered = exact(np.random.default_rng(6).random((50, 2)))
    matrix = matrix_of(scattered)
    explicit = instance_of("tsp", np.zeros((50, 2)), convention=Convention.EXPLICIT, matrix=matrix)
    assert nearest(explicit) == nearest(scattered)
    assert greedy(explicit) == greedy(scattered)


def test_the_hilbert_curve_visits_every_cell_and_steps_to_the_next():
    bits = 5
    x, y = np.divmod(np.arange(4**bits), 2**bits)
    places = hilbert_places(x, y, bits)
    assert sorted(places.tolist()) == list(range(4**bits))
    order = np.argsort(places)
    steps = np.abs(np.diff(x[order])) + np.abs(np.diff(y[order]))
    assert (steps == 1).all()


def test_space_filling_on_a_grid_costs_what_the_grid_must():
    side = 16
    instance = exact(np.stack(np.divmod(np.arange(side**2), side), axis=1))
    # Each step of the curve has length 1; the way back runs along one side.
    assert TSP.cost(instance, space_filling(instance)) == side**2 - 1 + side - 1


def test_every_baseline_follows_fixed_edges_that_make_paths():
    solved = problem("tsp")
    for number in range(30):
        rng = generator(number, "fixed")
        size = int(rng.integers(6, 30))
        nodes = rng.permutation(size).tolist()
        # Paths of one to five edges over distinct nodes, in any direction.
        edges, place = [], 0
        while place < size - 2 and len(edges) < 12:
            length = int(rng.integers(1, 6))
            path = nodes[place : place + length + 1]
            edges += [tuple(rng.permutation(pair).tolist()) for pair in pairwise(path)]
            place += length + 1
        coords = rng.integers(0, 50, size=(size, 2))
        instance = instance_of("tsp", coords, fixed_edges=tuple(edges))
        for name in solved.baselines:
            tour = solved.baseline(instance, name)
            assert solved.check(instance, tour) == (), (number, name)


def length(matrix, tour):
    return matrix[tour, np.roll(tour, -1)].sum()


def instance(seed, size):
    rng = np.random.default_rng(seed)
    coords = rng.integers(0, 1000, (size, 2))
    matrix = np.rint(np.hypot(*(coords[:, None] - coords).transpose(2, 0, 1)))
    away = matrix + np.diag(np.full(size, np.inf))
    return matrix, np.argsort(away, axis=1, kind="stable")[:, :-1], rng.permutation(size)


def moved(matrix, tour):
    """Yield the tours that one move makes, of a run only to where one of its ends comes nearer
    to a node than leaving saves.
    """
    size = len(tour)
    for start in range(size):
        turned = np.roll(tour, -start)
        for count in range(2, size - 1):
            yield np.concatenate((turned[:count][::-1], turned[count:]))
        for count in range(1, LONGEST_RUN + 1):
            run, rest = turned[:count], turned[count:]
            saved = matrix[rest[-1], run[0]] + matrix[run[-1], rest[0]] - matrix[rest[-1], rest[0]]
            for place in range(1, len(rest)):
                for put in (run, run[::-1]):
                    if min(matrix[rest[place - 1], put[0]], matrix[put[-1], rest[place]]) < saved:
                        yield np.concatenate((rest[:place], put, rest[place:]))


@pytest.mark.parametrize("seed", range(3))
def test_no_move_shortens_the_tour_any_more(seed):
    matrix, neighbours, tour = instance(seed, 14 + 3 * seed)
    found, before = length(matrix, tour), np.inf
    # A queue passes nodes over around which only the ends of longer runs changed.
    while found < before:
        before = found
        improve_tour(matrix, neighbours, tour, len(tour))
        found = length(matrix, tour)
        assert sorted(tour.tolist()) == list(range(len(tour)))
    assert all(length(matrix, other) >= found for other in moved(matrix, tour))


def test_long_turns_are_left_out():
    matrix, neighbours, drawn = instance(9, 300)
    lengths = []
    for longest in (0, 5, 300):
        tour = drawn.copy()
        improve_tour(matrix, neighbours[:, :10].copy(), tour, longest)
        assert sorted(tour.tolist()) == list(range(300))
        lengths.append(length(matrix, tour))
    assert lengths[0] == length(matrix, drawn)
    assert lengths[0] > lengths[1] > 2 * lengths[2]


@pytest.mark.parametrize("size", [3, 7])
def test_tours_of_few_nodes_stay_as_they_are(size):
    matrix, neighbours, drawn = instance(1, size)
    tour = drawn.copy()
    improve_tour(matrix, neighbours, tour, size)
    assert (tour == drawn).all()
