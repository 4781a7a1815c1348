"""2-opt and Or-opt: no move is left that shortens the tour, and none was counted wrongly."""

import numpy as np
import pytest

from specahd.problems.tsp.baseline import LONGEST_RUN, improve_tour


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
