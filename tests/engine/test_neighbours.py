"""Lists of neighbours are those that a look at all distances gives."""

import numpy as np
import pytest

from specahd.engine.neighbours import nearest_neighbours, neighbours_around
from specahd.routing.geometry import Convention, distances


def looked_at(coords, convention, count, depot):
    """Return the distances to the nearest others, from all there are."""
    away = distances(coords[:, None], coords[None], convention)
    np.fill_diagonal(away, np.inf)
    if depot:
        away[:, 0] = np.inf
    return np.sort(away, axis=1)[:, :count], away


@pytest.mark.parametrize("depot", [False, True])
@pytest.mark.parametrize("convention", [Convention.EXACT_2D, Convention.GEO])
@pytest.mark.parametrize("explicit", [False, True])
def test_they_are_the_nearest(convention, depot, explicit):
    rng = np.random.default_rng(5)
    coords = rng.uniform(-60, 60, (80, 2)).round()
    expected, away = looked_at(coords, convention, 7, depot)
    matrix = distances(coords[:, None], coords[None], convention) if explicit else None
    neighbours, measured = nearest_neighbours(coords, convention, matrix, 7, depot)
    assert np.array_equal(measured, expected)
    assert np.array_equal(np.take_along_axis(away, neighbours, 1), expected)
    assert all(len(set(row)) == 7 for row in neighbours.tolist())


@pytest.mark.parametrize("explicit", [False, True])
def test_of_those_that_are_equally_far_the_lower_index_comes_first(explicit):
    coords = np.random.default_rng(3).permutation(np.argwhere(np.ones((9, 9))) * 1.0)
    matrix = distances(coords[:, None], coords[None], Convention.EXACT_2D) if explicit else None
    neighbours, measured = nearest_neighbours(coords, Convention.EXACT_2D, matrix, 8, False)
    equal = np.diff(measured, axis=1) == 0.0
    assert equal.sum() > 200
    assert (np.diff(neighbours, axis=1)[equal] > 0).all()


def test_nobody_is_its_own_neighbour_where_many_share_a_place():
    coords = np.zeros((30, 2))
    neighbours, away = nearest_neighbours(coords, Convention.EXACT_2D, None, 5, True)
    assert (neighbours != np.arange(30)[:, None]).all()
    assert (neighbours > 0).all()
    assert not away.any()


@pytest.mark.parametrize(("size", "depot", "expected"), [(2, True, 0), (3, True, 1), (3, False, 2)])
def test_there_are_no_more_than_there_are_nodes(size, depot, expected):
    coords = np.arange(2.0 * size).reshape(size, 2)
    neighbours, _ = nearest_neighbours(coords, Convention.EXACT_2D, None, 40, depot)
    assert neighbours.shape == (size, expected)


def quadrant(one, other):
    """Return the quadrant around a place in which another place lies, each with one half axis."""
    across, along = other - one
    angle = np.degrees(np.arctan2(along, across)) % 360.0
    return int(angle // 90.0)


@pytest.mark.parametrize("clusters", [1, 3])
def test_neighbours_around_a_node_are_the_nearest_ones_and_the_nearest_of_each_quadrant(clusters):
    rng = np.random.default_rng(7)
    places = rng.integers(0, 30, (120, 2)) + 1000.0 * rng.integers(0, clusters, (120, 1))
    neighbours, away = neighbours_around(places, Convention.EXACT_2D, 12, 2)
    measured = distances(places[:, None], places[None], Convention.EXACT_2D)
    assert (away == np.take_along_axis(measured, neighbours, 1)).all()
    assert (np.diff(away) >= 0.0).all()
    outside = 0
    for node, near in enumerate(neighbours.tolist()):
        others = [other for other in range(1, 120) if other != node]
        assert len({*near} & {*others}) == 12
        sides = {other: quadrant(places[node], places[other]) for other in others}
        wanted = []
        for side in range(4):
            there = [
                measured[node, other]
                for other in others
                if sides[other] == side and measured[node, other]
            ]
            wanted += sorted(there)[:2]
            found = [
                measured[node, other]
                for other in near
                if sides[other] == side and measured[node, other]
            ]
            assert sorted(found)[:2] == sorted(there)[:2]
        rest = 12 - len(wanted)
        # All others are the nearest of the rest.
        left = sorted(measured[node, others])
        for each in wanted:
            left.remove(each)
        assert sorted(away[node]) == pytest.approx(sorted([*wanted, *left[:rest]]))
        # Of equal distances, those come first of which fewer came before from their quadrant.
        met = [sides[other] if measured[node, other] else None for other in near]
        ranks = [met[: place + 1].count(side) for place, side in enumerate(met)]
        ties = (np.diff(away[node]) == 0.0) & (away[node, 1:] > 0.0)
        assert (np.diff(ranks)[ties] >= 0).all()
        outside += away[node, -1] > 500.0
    assert (outside > 20) == (clusters > 1)


def test_of_neighbours_around_that_are_equally_far_the_quadrants_take_turns():
    places = np.argwhere(np.ones((9, 9))) * 1.0
    middle = 40
    neighbours, away = neighbours_around(places, Convention.EXACT_2D, 24, 2)
    knights = neighbours[middle][away[middle] == np.sqrt(5.0)]
    assert len(knights) == 8
    sides = [quadrant(places[middle], places[other]) for other in knights]
    assert sorted(sides[:4]) == sorted(sides[4:]) == [0, 1, 2, 3]


@pytest.mark.parametrize("size", [2, 3, 5])
def test_few_nodes_have_few_neighbours_around(size):
    neighbours, _ = neighbours_around(np.eye(size)[:, :2], Convention.EXACT_2D, 24, 2)
    assert neighbours.shape == (size, size - 2)


def test_many_nodes_at_one_place_have_neighbours_around_it():
    corners = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]], float)
    places = np.concatenate([np.zeros((30, 2)), corners, 2.0 * corners])
    neighbours, _ = neighbours_around(places, Convention.EXACT_2D, 12, 2)
    assert all({*range(30, 38)} <= {*near} for near in neighbours[1:30].tolist())
