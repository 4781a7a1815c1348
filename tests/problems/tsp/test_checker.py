"""The checker against corruptions, judged by a slow checker that shares nothing with it."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specahd.problems.tsp.baseline import nearest
from specahd.problems.tsp.checker import check, cost
from specahd.problems.tsp.instance import TSPInstance
from specahd.routing.geometry import Convention


def reference(instance, tour):
    """Count the violations by kind, one node at a time."""
    kinds = Counter()
    for node in range(instance.size):
        times = sum(visit == node for visit in tour)
        if times == 0:
            kinds["missing_node"] += 1
        if times > 1:
            kinds["duplicated_node"] += 1
    for visit in tour:
        if not 0 <= visit < instance.size:
            kinds["unknown_node"] += 1
    return kinds


def reference_cost(instance, tour):
    total = 0
    for place, node in enumerate(tour):
        across, along = instance.coords[node] - instance.coords[tour[place - 1]]
        total += int((across * across + along * along) ** 0.5 + 0.5)
    return total


def drop(tour, rng, size):
    tour.pop(rng.integers(len(tour)))


def duplicate(tour, rng, size):
    insert(tour, rng, int(rng.integers(size)))


def close(tour, rng, size):
    tour.append(tour[0])


def stranger(tour, rng, size):
    insert(tour, rng, int(rng.choice([-(2**40), -1, size, 2**40])))


def replace(tour, rng, size):
    # The swap of two nodes that goes wrong: one of them is written twice.
    first, second = rng.choice(len(tour), 2, replace=False)
    tour[first] = tour[second]


def beyond(tour, rng, size):
    tour[rng.integers(len(tour))] += size


def insert(tour, rng, node):
    tour.insert(int(rng.integers(len(tour) + 1)), node)


CORRUPTIONS = [drop, duplicate, close, stranger, replace, beyond]


@pytest.mark.parametrize("seed", range(20))
def test_thousands_of_corruptions_are_rejected(seed):
    rng = np.random.default_rng(seed)
    for _ in range(10):
        size = int(rng.integers(5, 40))
        instance = TSPInstance("random", rng.integers(0, 100, (size, 2)).astype(float))
        feasible = nearest(instance)
        assert check(instance, feasible) == ()
        assert reference(instance, feasible) == {}
        assert cost(instance, feasible) == reference_cost(instance, feasible)
        for _ in range(25):
            tour = list(feasible)
            CORRUPTIONS[rng.integers(len(CORRUPTIONS))](tour, rng, size)
            assert check(instance, tuple(tour)) != ()
            assert kinds(instance, tour) == reference(instance, tour)
            # Several at once may undo each other.
            for corruption in rng.choice(CORRUPTIONS, size=2):
                corruption(tour, rng, size)
            assert kinds(instance, tour) == reference(instance, tour)


def kinds(instance, tour):
    return Counter(violation.kind for violation in check(instance, tuple(tour)))


@given(st.lists(st.integers(-1, 6), max_size=8))
def test_any_nodes(tour):
    instance = TSPInstance("x", np.zeros((6, 2)))
    assert kinds(instance, tour) == reference(instance, tour)


@given(st.permutations(range(7)))
def test_every_permutation_is_feasible_and_costs_the_same_turned_and_reversed(order):
    coords = np.random.default_rng(1).integers(0, 90, (7, 2)).astype(float)
    instance = TSPInstance("x", coords)
    assert check(instance, tuple(order)) == ()
    length = cost(instance, tuple(order))
    assert length == reference_cost(instance, order)
    assert cost(instance, (*order[3:], *order[:3])) == length
    assert cost(instance, tuple(order[::-1])) == length


def test_violations_say_what_is_wrong():
    instance = TSPInstance("x", np.zeros((4, 2)))
    assert [violation.detail for violation in check(instance, (0, 1, 1, 7))] == [
        "Node 8 does not exist.",
        "Node 3 is not visited.",
        "Node 4 is not visited.",
        "Node 2 is visited 2 times.",
    ]


def test_cost_by_hand():
    triangle = TSPInstance("x", np.array([[0, 0], [3, 4], [0, 4]], float))
    assert cost(triangle, (0, 1, 2)) == 12
    assert cost(triangle, ()) == 0
    matrix = np.array([[0, 7, 1], [7, 0, 2], [1, 2, 0]], float)
    assert cost(TSPInstance("x", triangle.coords, Convention.EXPLICIT, matrix), (2, 0, 1)) == 10


SQUARE = np.array([[0, 0], [9, 0], [9, 9], [0, 9]], float)


@pytest.mark.parametrize(
    ("tour", "kind"),
    [
        ((0, 1, 2, 3, 3), "duplicated_node"),
        ((0, 1, 2, 3, 4), "unknown_node"),
        ((0, 1, 2, 3, -1), "unknown_node"),
        ((0, 1, 2, 3, 2**63 - 1), "unknown_node"),
        ((0, 1, 2), "missing_node"),
    ],
)
def test_a_tour_with_one_fault_is_refused(tour, kind):
    assert kinds(TSPInstance("x", SQUARE), tour) == {kind: 1}


@pytest.mark.parametrize(
    ("edge", "broken"), [((1, 2), 0), ((2, 1), 0), ((3, 0), 0), ((0, 3), 0), ((0, 2), 1)]
)
def test_a_fixed_edge_may_be_driven_either_way(edge, broken):
    instance = TSPInstance("x", SQUARE, fixed_edges=(edge,))
    assert kinds(instance, (0, 1, 2, 3))["fixed_edge"] == broken
