"""Passes over routes with time windows: in time at every step, and times exact."""

from itertools import pairwise

import numpy as np
import pytest
from cases import place_of

from specahd.engine import links
from specahd.engine.orders import Order
from specahd.problems.vrptw.contracts import ORDERED_GROUPS


@pytest.fixture
def place():
    return place_of("vrptw")


def walked(flat, block):
    """Return the earliest and the latest starts of service on routes, one stop after another."""
    matrix, service = block["distance_matrix"], block["service_times"]
    ready, due = block["ready_times"], block["due_times"]
    earliest, latest = ready.copy(), due.copy()
    for part in np.split(flat, np.flatnonzero(flat == 0)):
        stops = [0, *part[part > 0].tolist(), 0]
        for before, node in pairwise(stops[:-1]):
            reached = earliest[before] + service[before] + matrix[before, node]
            earliest[node] = max(reached, ready[node])
        for behind, node in pairwise(stops[:0:-1]):
            latest[node] = min(due[node], latest[behind] - matrix[node, behind] - service[node])
    return earliest, latest


EXCHANGES = pytest.mark.parametrize("exchanges", [0, 20])


@EXCHANGES
def test_solutions_are_in_time_and_cost_what_is_said(place, exchanges):
    report, found = place.slice(seed=1, repairs=5000, temperature=100.0, exchanges=exchanges)
    assert place.matches_the_checker(report, found)
    assert report.best < 0.6 * place.cost(place.start)
    assert report.invalid_positions == 0


@EXCHANGES
def test_programs_see_the_times_of_the_current_solution(place, exchanges):
    """After annealing, hot to the end, they are those that a walk along the routes finds."""
    place.slice(seed=4, repairs=5000, temperature=2000.0, exchanges=exchanges)
    state, block = place.search._state, place.block
    place.search.propose(place.groups.nobody, Order.asking(0, 4, 30, 0.5))
    views = state.own.views
    following = np.ascontiguousarray(state.nodes[:, links.BEHIND])
    earliest, latest = walked(links.flat_routes(following, place.instance.size), block)
    assert (views == (block["ready_times"], block["due_times"], earliest, latest)).all()
    assert (earliest <= latest).all()
    assert not any(np.shares_memory(views, kept) for kept in state.own[:5])


def test_each_parameter_is_what_its_name_says(place):
    _, found = place.slice(seed=5)
    block = place.block
    names = ("ready_times", "due_times", "earliest_starts", "latest_starts")
    kept = (block["ready_times"], block["due_times"], *walked(found[0], block))
    size = place.instance.size
    for name, times in zip(names, kept, strict=True):
        upper = place.upper_of(f"return np.argsort({name}[1:]) + 1")
        _, customers = place.proposed(upper, Order.asking(0, 1, size, 0.5), found)
        assert len(customers) == size
        assert (times[customers] == np.sort(times[1:])).all(), name


def test_nothing_of_a_search_follows_from_what_programs_see_of_times(place):
    """Whatever a program may have written there."""
    # A program that does not look at them.
    upper = place.groups.translate(ORDERED_GROUPS.seed.source, ORDERED_GROUPS.name)
    place.slice(upper, seed=6)
    expected, routes = place.resume(upper)
    place.slice(upper, seed=6)
    place.search._state.own.views[:] = -1e9
    report, found = place.resume(upper)
    assert report == expected
    assert all((one == other).all() for one, other in zip(found, routes, strict=True))
