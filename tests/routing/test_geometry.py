import math

import numpy as np
import pytest

from specahd.routing.geometry import Convention, classical_scaling, distances, path_length
from specahd.routing.kernels.distances import fill_distance_matrix


def test_conventions_by_hand():
    ends = np.array([(3, 4), (1.5, 2), (1, 1), (0, 0.5), (0, 0)])
    for convention, expected in (
        (Convention.EUC_2D, [5, 3, 1, 1, 0]),
        (Convention.CEIL_2D, [5, 3, 2, 1, 0]),
        (Convention.EXACT_2D, [5, 2.5, math.sqrt(2), 0.5, 0]),
    ):
        assert distances(np.zeros(2), ends, convention).tolist() == expected


def test_tenths_held_as_integers_are_those_of_dimacs():
    points = np.random.default_rng(4).integers(0, 500, (300, 2)).astype(float)
    tenths = distances(10 * points[:, None], 10 * points[None], Convention.FLOOR_2D)
    dimacs = distances(points[:, None], points[None], Convention.DIMACS)
    np.testing.assert_array_equal(tenths / 10, dimacs)


def test_explicit_has_no_coordinates_to_measure():
    with pytest.raises(ValueError, match="EXPLICIT"):
        distances(np.zeros(2), np.ones(2), Convention.EXPLICIT)
    with pytest.raises(ValueError):
        fill_distance_matrix(np.zeros((2, 2)), Convention.EXPLICIT, np.empty((2, 2)))
    with pytest.raises(ValueError):
        fill_distance_matrix(np.zeros((2, 2)), Convention.EUC_2D, np.empty((3, 3)))


def test_path_length():
    coords = np.array([[0, 0], [3, 4], [3, 5]], float)
    assert path_length(coords, np.array([0, 1, 2]), Convention.EXACT_2D) == 6
    matrix = np.array([[0, 7, 1], [7, 0, 2], [1, 2, 0]], float)
    walk = np.array([0, 1, 2, 0])
    assert path_length(coords, walk, Convention.EXPLICIT, matrix) == 10


def test_classical_scaling_recovers_points():
    coords = np.random.default_rng(5).random((30, 2)) * 100
    matrix = distances(coords[:, None], coords[None], Convention.EXACT_2D)
    found = classical_scaling(matrix)
    again = distances(found[:, None], found[None], Convention.EXACT_2D)
    np.testing.assert_allclose(again, matrix, atol=1e-5)
    np.testing.assert_array_equal(classical_scaling(matrix), found)
    # Points that coincide, and a matrix that no points have, still give finite points.
    assert np.isfinite(classical_scaling(np.zeros((4, 4)))).all()
    assert np.isfinite(classical_scaling(np.array([[0, 1, 9], [1, 0, 1], [9, 1, 0.0]]))).all()


def test_classical_scaling_of_many_points_is_near_that_of_few(monkeypatch):
    rng = np.random.default_rng(5)
    coords = rng.random((300, 2)) * [100, 60]
    # Roads make ways longer, each by a share of its own, so that no points have these distances.
    detours = 1 + np.triu(rng.random((300, 300)), 1) / 2
    matrix = distances(coords[:, None], coords[None], Convention.EXACT_2D) * detours * detours.T
    exact = classical_scaling(matrix)
    monkeypatch.setattr("specahd.routing.geometry._MANY", 299)
    found = classical_scaling(matrix)
    np.testing.assert_array_equal(classical_scaling(matrix), found)
    np.testing.assert_allclose(found, exact, atol=1e-5)
