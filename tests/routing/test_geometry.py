import math

import numpy as np
import pytest

from specahd.routing.geometry import Convention, classical_scaling, distances, path_length
from specahd.routing.kernels.distances import distances_of, fill_distance_matrix, leg_length

PLANE = [
    Convention.EUC_2D,
    Convention.CEIL_2D,
    Convention.EXACT_2D,
    Convention.FLOOR_2D,
    Convention.DIMACS,
]


@pytest.mark.parametrize(
    ("end", "rounded", "up"),
    [((3, 4), 5, 5), ((1.5, 2), 3, 3), ((1, 1), 1, 2), ((0, 0.5), 1, 1), ((0, 0), 0, 0)],
)
def test_conventions_by_hand(end, rounded, up):
    start, end = np.zeros(2), np.array(end, float)
    assert distances(start, end, Convention.EUC_2D) == rounded
    assert distances(start, end, Convention.CEIL_2D) == up
    assert distances(start, end, Convention.EXACT_2D) == math.hypot(*end)


@pytest.mark.parametrize("convention", PLANE)
def test_kernels_agree_bit_for_bit(convention):
    coords = np.random.default_rng(3).random((60, 2)) * 50
    out = np.full((60, 60), np.nan)
    fill_distance_matrix(coords, convention, out)
    np.testing.assert_array_equal(out, distances(coords[:, None], coords[None], convention))
    for i, j in [(0, 0), (3, 17), (59, 2)]:
        assert leg_length(distances_of(coords, convention, None), i, j) == out[i, j]


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
