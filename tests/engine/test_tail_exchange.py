"""Exchanges of tails alone: which are made, and that everything is kept up to date."""

from itertools import pairwise

import numpy as np
import pytest
from cases import have_compiled

from specahd.engine import changes, links, timed
from specahd.engine.orders import Order
from specahd.problems.vrptw import engine as vrptw

CLOSES = 1000.0


def block(coords, demands, capacity, ready=0.0, due=CLOSES):
    """Return what a child is given of customers at such places, each of whom knows all others."""
    coords = np.array(coords, float)
    count = len(coords)
    matrix = np.hypot(*(coords[:, None] - coords[None]).transpose(2, 0, 1))
    near = np.argsort(matrix[:, 1:], axis=1, kind="stable") + 1
    others = np.array([row[row != node][: count - 2] for node, row in enumerate(near)])
    windows = {"ready_times": np.zeros(count), "due_times": np.full(count, CLOSES)}
    windows["ready_times"][1:], windows["due_times"][1:] = ready, due
    arrays = {
        "coords": coords,
        "demands": np.array([0, *demands]),
        "capacity": np.array([capacity]),
        "distance_matrix": matrix,
        "neighbours": others,
        "neighbour_distances": np.take_along_axis(matrix, others, 1),
        "service_times": np.zeros(count),
        **windows,
    }
    for array in arrays.values():
        array.flags.writeable = False
    return arrays


def exchanged(arrays, routes, exchanges=20, temperature=0.0):
    """Return a search in which nothing but tails changed places, and its routes."""
    flat = np.array([node for route in routes for node in (0, *route)][1:])
    flat.flags.writeable = False
    have_compiled(vrptw.POSITIONS)
    search = vrptw.GROUPS.search_for(arrays, [flat], 0)
    lowers = vrptw.POSITIONS.always("int(np.argmin(a0))")
    limits = (0, 1, 0.0, 1, 2, 0.0, 1.0, temperature, temperature)
    # A hundred passes whose upper program names nobody.
    search.run(vrptw.GROUPS.nobody, lowers, Order(*limits, exchanges=exchanges))
    return search, routes_of(search)


def routes_of(search):
    following = np.ascontiguousarray(search._state.nodes[:, links.BEHIND])
    flat = links.flat_routes(following, len(search._state.gains) - 1)
    parts = np.split(flat, np.flatnonzero(flat == 0))
    return sorted(part[part > 0].tolist() for part in parts)


TWO_LINES = [[0, 0], [10, 10], [20, 12], [30, 14], [10, -10], [20, -12], [30, -14]]
"""The depot, three customers above and three below it."""
CROSSED, ALONG = [[1, 5, 6], [4, 2, 3]], [[1, 2, 3], [4, 5, 6]]


def test_tails_that_lie_wrong_change_places():
    arrays = block(TWO_LINES, [1] * 6, 6)
    assert exchanged(arrays, CROSSED)[1] == ALONG
    assert exchanged(arrays, CROSSED, exchanges=0)[1] == CROSSED
    # Dearer ones do not where nothing dearer is accepted.
    assert exchanged(arrays, ALONG)[1] == ALONG


def test_no_vehicle_is_overloaded():
    for demands in ([2, 2, 2, 1, 1, 1], [1, 1, 1, 2, 2, 2]):
        assert exchanged(block(TWO_LINES, demands, 6), CROSSED)[1] == ALONG
        assert exchanged(block(TWO_LINES, demands, 5), CROSSED)[1] == CROSSED


def test_no_customer_is_reached_too_late():
    """The one route would be: its first customer is waited for until 30, and the next is 10 away.

    Across, the next is reached at 38.
    """
    for waited, hurried in ((1, 2), (4, 5)):
        ready, due = np.zeros(6), np.full(6, CLOSES)
        ready[waited - 1], due[hurried - 1] = 30.0, 39.0
        assert exchanged(block(TWO_LINES, [1] * 6, 3, ready, due), CROSSED)[1] == CROSSED
        due[hurried - 1] = 41.0
        assert exchanged(block(TWO_LINES, [1] * 6, 3, ready, due), CROSSED)[1] == ALONG


def test_a_route_that_lost_all_customers_is_free():
    arrays = block([[0, 0], [10, 0], [20, 0]], [1, 1], 2, ready=[0.0, 20.0])
    search, routes = exchanged(arrays, [[1], [2]])
    assert routes == [[1, 2]]
    state = search._state
    count = len(state.route_loads)
    assert state.integers[changes.FREE] == count - 1
    [used] = set(range(count)) - set(state.free[: count - 1].tolist())
    assert state.route_loads[used] == 2
    assert state.route_loads.sum() == 2


def test_whatever_is_accepted_all_is_kept_up_to_date():
    rng = np.random.default_rng(5)
    ready = rng.integers(0, 500, 30)
    arrays = block(rng.integers(0, 100, (31, 2)), rng.integers(1, 9, 30), 25, ready, ready + 300)
    distances = arrays["distance_matrix"]
    alone = [[node] for node in range(1, 31)]
    before = sum(2 * distances[0, 1:])
    for temperature in (0.0, 10.0, 100.0):
        search, routes = exchanged(arrays, alone, temperature=temperature)
        state = search._state
        assert sorted(node for route in routes for node in route) == list(range(1, 31))
        cost = sum(distances[one, other] for route in routes for one, other in stops(route))
        assert state.costs[changes.CURRENT] == pytest.approx(cost)
        assert state.costs[changes.BEST] < 0.9 * before
        loads = {}
        for route in routes:
            [number] = {int(state.nodes[node, links.ROUTE]) for node in route}
            loads[number] = arrays["demands"][route].sum()
            terminal = 31 + number
            around = [terminal, *route, terminal]
            assert state.nodes[around[:-1], links.BEHIND].tolist() == around[1:]
            assert state.nodes[around[1:], links.BEFORE].tolist() == around[:-1]
            ways = [distances[one, other] for one, other in stops(route)]
            assert state.edges[around[:-1], links.BEHIND].tolist() == ways
            assert state.edges[around[1:], links.BEFORE].tolist() == ways
            time = 0.0
            for one, other in stops(route)[:-1]:
                time = max(time + distances[one, other], arrays["ready_times"][other])
                assert time <= arrays["due_times"][other]
        assert max(loads.values()) <= 25
        assert {number: state.route_loads[number] for number in loads} == loads
        free = state.free[: state.integers[changes.FREE]].tolist()
        assert sorted(free + list(loads)) == list(range(len(state.route_loads)))
        start, latest = state.own.start, state.own.latest
        kept = start.copy(), latest.copy()
        for number in range(len(state.route_loads)):
            timed.refresh_route(state, number)
        assert (kept[0] == start).all()
        assert (kept[1] == latest).all()
        best = links.flat_routes(state.best, 30)
        between = np.concatenate(([0], best, [0]))
        length = distances[between[:-1], between[1:]].sum()
        assert state.costs[changes.BEST] == pytest.approx(length)


def stops(route):
    return list(pairwise([0, *route, 0]))
