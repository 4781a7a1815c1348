"""Neighbours of customers with time windows are near in time as well."""

import numpy as np

from specahd.engine import timed_neighbours
from specahd.engine.neighbours import nearest_neighbours
from specahd.engine.timed_neighbours import LATENESS, WAITING, candidates, neighbours_in_time
from specahd.routing.formats.vrplib import TimeWindows
from specahd.routing.geometry import Convention

NODES = 60


def lists(windows, coords, count):
    near = nearest_neighbours(coords, Convention.EXACT_2D, None, NODES - 2, True)
    return neighbours_in_time(*near, windows, count)


def measure(one, other, windows, away):
    """Return what Vidal's measure says of a drive from one customer to another."""
    leaves = windows.ready[one] + windows.service[one]
    at_last = windows.due[one] + windows.service[one]
    waiting = max(0.0, windows.ready[other] - at_last - away)
    late = max(0.0, leaves + away - windows.due[other])
    return away + WAITING * waiting + LATENESS * late


def drawn():
    rng = np.random.default_rng(4)
    coords = rng.uniform(0, 100, (NODES, 2))
    ready = rng.uniform(0, 900, NODES).round()
    due = ready + rng.uniform(10, 100, NODES).round()
    windows = TimeWindows(ready, due, np.full(NODES, 10.0))
    return coords, windows


def test_they_are_those_of_the_least_measure_in_the_better_direction(monkeypatch):
    monkeypatch.setattr(timed_neighbours, "_ROWS", 7)
    coords, windows = drawn()
    neighbours, away = lists(windows, coords, 8)
    for one in range(1, NODES):
        costs = {}
        for other in set(range(1, NODES)) - {one}:
            far = np.hypot(*(coords[one] - coords[other]))
            costs[other] = min(measure(one, other, windows, far), measure(other, one, windows, far))
        assert set(neighbours[one].tolist()) == set(sorted(costs, key=costs.__getitem__)[:8])
    assert (np.diff(away, axis=1) >= 0.0).all()
    assert np.allclose(away, np.hypot(*(coords[:, None] - coords[neighbours]).transpose(2, 0, 1)))


def test_without_windows_they_are_the_nearest():
    coords, _ = drawn()
    open_all_day = TimeWindows(np.zeros(NODES), np.full(NODES, 1e6), np.zeros(NODES))
    neighbours, _ = lists(open_all_day, coords, 8)
    nearest, _ = nearest_neighbours(coords, Convention.EXACT_2D, None, 8, True)
    assert np.array_equal(neighbours, nearest)


def test_of_many_customers_fewer_candidates_are_looked_at():
    assert candidates(1000, 50) == 500
    assert candidates(10**6, 50) == 50
    assert candidates(10**5, 50) < 500
