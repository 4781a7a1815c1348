"""Tiles of routes: together the solution, of about as many customers, cut elsewhere each time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specahd.engine.tiles import LEAST_CUSTOMERS, portions, slice_count, tile_count, tiles
from specahd.routing.groups import separated


def solution(seed, routes, customers):
    """Return routes with a 0 behind each, as none is empty, and places of the customers."""
    rng = np.random.default_rng(seed)
    ends = np.sort(rng.choice(np.arange(1, customers), routes - 1, replace=False))
    order = 1 + rng.permutation(customers)
    parts = np.split(order, ends)
    return np.concatenate([[*part, 0] for part in parts]), 100 * rng.random((customers + 1, 2))


def places_of(parts):
    return [set(separated(part)) for part in parts]


@given(st.integers(0, 99), st.integers(1, 30), st.integers(1, 9))
def test_tiles_are_disjoint_and_complete(seed, routes, count):
    flat, coords = solution(seed, routes, 60)
    parts = tiles(flat, coords, count, np.random.default_rng(seed))
    assert sorted(route for part in parts for route in separated(part)) == sorted(separated(flat))
    assert 1 <= len(parts) <= min(count, routes)
    assert all(part[-1] == 0 and separated(part) for part in parts)


@pytest.mark.parametrize("count", [2, 3, 8])
def test_tiles_have_about_as_many_customers_and_lie_apart(count):
    flat, coords = solution(1, 400, 1600)
    # The customers of a route stand at one place.
    for route in separated(flat):
        coords[list(route)] = coords[route[0]]
    parts = tiles(flat, coords, count, np.random.default_rng(2))
    sizes = [np.count_nonzero(part) for part in parts]
    assert len(sizes) == count
    assert max(sizes) - min(sizes) < 0.1 * 1600 / count
    spread = [np.linalg.norm(coords[part[part > 0]].std(axis=0)) for part in parts]
    assert np.mean(spread) < 0.9 * np.linalg.norm(coords[1:].std(axis=0))


def test_borders_move_from_round_to_round_and_are_the_same_for_a_seed():
    flat, coords = solution(1, 40, 160)
    rounds = [
        [places_of(tiles(flat, coords, 2, generator)) for _ in range(2)]
        for generator in map(np.random.default_rng, (1, 1, 2))
    ]
    assert rounds[0] == rounds[1] != rounds[2]
    assert rounds[0][0] != rounds[0][1]


@given(st.integers(1, 10**6), st.lists(st.integers(1, 10**6), min_size=1, max_size=64))
def test_portions_are_fair_and_none_is_nothing(amount, sizes):
    shares = portions(amount, sizes)
    exact = [amount * size / sum(sizes) for size in sizes]
    assert all(1 <= share < fair + 1.0 + 1e-9 for share, fair in zip(shares, exact, strict=True))
    assert all(share > fair - 1.0 - 1e-9 for share, fair in zip(shares, exact, strict=True))
    if min(exact) >= 2.0:
        assert sum(shares) == amount


def test_small_instances_keep_few_workers_busy():
    assert [tile_count(customers, 4) for customers in (1, 2 * LEAST_CUSTOMERS, 10**6)] == [1, 2, 4]


def test_rounds_are_longer_where_tiles_take_longer_to_make():
    assert slice_count(10_000, 2, matrix=False) == 1
    assert slice_count(1000, 2, matrix=True) == 1
    assert slice_count(1_000_000, 2, matrix=False) == 51
    assert slice_count(10_000, 2, matrix=True) == 11
