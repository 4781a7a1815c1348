"""What programs leave of routes when they take their ends, or strings of stops."""

from inspect import signature
from itertools import pairwise

import numpy as np
import pytest

from specahd.engine import interfaces
from specahd.engine.route_ends import strings_and_ends
from specahd.engine.timed_strings import strings_in_time

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


PROGRAMS = [strings_and_ends, strings_in_time]
OPENS, WIDTH = np.arange(81.0) * 7 % 50, np.arange(81.0) * 11 % 30
"""When windows open, and how wide they are: not in the order of the stops."""


def groups_of(program, solution, seed, ends, drawn=()):
    """Return the groups of passes in which all groups are ends of routes, or none are.

    Parameters
    ----------
    drawn
        Pairs of a place among the 32 numbers of each group and what is drawn there.
    """
    noise = np.random.default_rng(seed).random(32 * 8)
    noise[31::32] = 0.0 if ends else 0.9
    for place, number in drawn:
        noise[place::32] = number
    one = np.ones(81)
    # A vehicle is early at every second stop.
    starts = OPENS + np.arange(81) % 2 * WIDTH
    times = (OPENS, OPENS + WIDTH, starts, starts + 1.0) if program is strings_in_time else ()
    arguments = one, one.astype(int), 20, *times, one, noise, 0.5, 8, 100
    interface = interfaces.TIMED_GROUPS if times else interfaces.GROUPS
    given = dict(zip(interface.names, (*solution, *arguments), strict=True))
    answer = program(**{name: given[name] for name in signature(program).parameters})
    parts = np.split(answer, np.flatnonzero(answer == 0))
    return [[node for node in part if node] for part in parts if part.any()]


@pytest.mark.parametrize("program", PROGRAMS)
def test_one_side_of_a_cut_leaves(program, solution):
    groups = [
        set(group) for seed in range(20) for group in groups_of(program, solution, seed, ends=True)
    ]
    assert len(groups) == 20 * 8
    for group in groups:
        parts = [sorted(group & set(route)) for route in ROUTES]
        taken = [part for part in parts if part]
        at_an_end = [part for part in taken if part[0] % 20 == 1 or part[-1] % 20 == 0]
        # The last one may be cut off where the group is full.
        assert 2 <= len(taken) <= 4 or len(group) >= 12
        assert len(at_an_end) >= len(taken) - 1
        assert all(part == list(range(part[0], part[-1] + 1)) for part in taken)
        assert len(group) <= 32


@pytest.mark.parametrize("program", PROGRAMS)
def test_strings_are_short(program, solution):
    groups = [
        group for seed in range(20) for group in groups_of(program, solution, seed, ends=False)
    ]
    parts = [set(group) & set(route) for group in groups for route in ROUTES]
    assert max(map(len, parts)) == 10


@pytest.mark.parametrize(
    ("drawn", "key"),
    [
        (11.5, lambda node: WIDTH[node]),
        (13.5, lambda node: OPENS[node] + node % 2 * WIDTH[node]),
        (15.5, lambda node: -(OPENS[node] + node % 2 * WIDTH[node])),
    ],
    ids=["width", "service", "latest service first"],
)
def test_strings_are_inserted_in_an_order_of_time(solution, drawn, key):
    for group in groups_of(strings_in_time, solution, 3, False, [(2, drawn / 17.0)]):
        assert group == sorted(group, key=key)


@pytest.mark.parametrize(("drawn", "sign"), [(0.1, 1.0), (0.9, -1.0)])
def test_most_ends_are_inserted_in_the_order_of_service(solution, drawn, sign):
    def key(node):
        return sign * (OPENS[node] + node % 2 * WIDTH[node])

    for group in groups_of(strings_in_time, solution, 3, True, [(29, 0.79), (28, drawn)]):
        assert group == sorted(group, key=key)
    others = groups_of(strings_in_time, solution, 3, True, [(29, 0.81), (28, drawn), (2, 0.1)])
    assert any(group != sorted(group, key=key) for group in others)
