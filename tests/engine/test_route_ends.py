"""What the program leaves of routes when it takes their ends, or strings of stops."""

from itertools import pairwise

import numpy as np
import pytest

from specahd.engine.route_ends import strings_and_ends

ROUTES = [range(1 + 20 * route, 21 + 20 * route) for route in range(4)]
"""Four routes that run beside each other."""


@pytest.fixture(scope="module")
def solution():
    preceding, following, route_of = (np.zeros(81, np.int64) for _ in range(3))
    for number, route in enumerate(ROUTES):
        route_of[list(route)] = number
        for before, behind in pairwise(route):
            following[before], preceding[behind] = behind, before
    coords = np.array([(0.0, 0.0), *((5.0 + s, 3.0 * r) for r in range(4) for s in range(20))])
    away = np.linalg.norm(coords[:, None] - coords, axis=2)
    near = np.argsort(away[:, 1:], axis=1, kind="stable")[:, 1:21] + 1
    return preceding, following, route_of, near, np.take_along_axis(away, near, 1), away[0]


def groups_of(solution, seed, ends):
    """Return the groups of passes in which all groups are ends of routes, or none are."""
    noise = np.random.default_rng(seed).random(32 * 8)
    noise[31::32] = 0.0 if ends else 0.9
    one = np.ones(81)
    answer = strings_and_ends(*solution, one, one.astype(int), 20, one, noise, 0.5, 8, 100)
    return [list(part) for part in np.split(answer, np.flatnonzero(answer == 0)) if part.any()]


@pytest.mark.parametrize("seed", range(20))
def test_one_side_of_a_cut_leaves(solution, seed):
    groups = [set(group) - {0} for group in groups_of(solution, seed, ends=True)]
    assert len(groups) == 8
    for group in groups:
        parts = [sorted(group & set(route)) for route in ROUTES]
        taken = [part for part in parts if part]
        at_an_end = [part for part in taken if part[0] % 20 == 1 or part[-1] % 20 == 0]
        # The last one may be cut off where the group is full.
        assert 2 <= len(taken) <= 4 or len(group) >= 12
        assert len(at_an_end) >= len(taken) - 1
        assert all(part == list(range(part[0], part[-1] + 1)) for part in taken)
        assert len(group) <= 32


def test_strings_are_short(solution):
    groups = [group for seed in range(20) for group in groups_of(solution, seed, ends=False)]
    parts = [set(group) & set(route) for group in groups for route in ROUTES]
    assert max(map(len, parts)) == 10
