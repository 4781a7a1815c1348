"""Lists of neighbours are those that a look at all distances gives."""

import numpy as np
import pytest

from specahd.engine.neighbours import nearest_neighbours
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
