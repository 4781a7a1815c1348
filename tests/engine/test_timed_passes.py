"""Passes over routes with time windows: feasible at every step, times exact, the same again."""

from itertools import pairwise

import numpy as np
import pytest
from cases import block_of, translated

from specahd.engine import interfaces, links, strings, timed, timed_strings
from specahd.engine.orders import Order, Report
from specahd.problems.vrptw import runners as vrptw
from specahd.problems.vrptw.contracts import ORDERED_GROUPS
from specahd.problems.vrptw.instance import VRPTWInstance
from specahd.problems.vrptw.problem import VRPTW
from specahd.routing.formats.vrplib import TimeWindows
from specahd.routing.geometry import Convention

SIZE = 50


@pytest.fixture(scope="module")
def instance():
    rng = np.random.default_rng(2)
    coords = 10.0 * rng.integers(0, 100, (SIZE + 1, 2))
    demands = rng.integers(1, 10, SIZE + 1)
    service = np.full(SIZE + 1, 100.0)
    away = np.floor(np.hypot(*(coords - coords[0]).T))
    ready = away + rng.integers(0, 4000, SIZE + 1)
    due = ready + rng.integers(300, 2500, SIZE + 1)
    demands[0] = service[0] = ready[0] = 0
    due[0] = 10_000
    return VRPTWInstance(
        "timed", coords, demands, 60, Convention.DIMACS, windows=TimeWindows(ready, due, service)
    )


@pytest.fixture(scope="module")
def block(instance):
    return block_of(VRPTW(), instance, near=15)


ALONE = np.array([node for one in range(1, SIZE + 1) for node in (0, one)][1:], np.int64)
"""Each customer on a route of its own."""


@pytest.fixture(scope="module")
def search(block):
    upper = translated(vrptw.GROUPS, timed_strings.strings_in_time)
    translated(vrptw.POSITIONS, strings.greedy_in_time)

    def call(seed, repairs=5000, temperature=100.0, start=ALONE, upper=upper, exchanges=0):
        heats = temperature, 0.05 * temperature
        order = Order(seed, repairs, 0.0, 4, 30, 0.0, 1.0, *heats, exchanges=exchanges)
        return vrptw.GROUPS(upper, block, [order.encode(), start]).arrays

    return call


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
def test_solutions_are_in_time_and_cost_what_is_said(search, instance, exchanges):
    report, flat = search(1, exchanges=exchanges)
    routes = [part[part > 0].tolist() for part in np.split(flat, np.flatnonzero(flat == 0))]
    problem = VRPTW()
    assert problem.check(instance, routes) == ()
    assert Report.decode(report).best == 10 * problem.cost(instance, routes)
    alone = problem.cost(instance, [[node] for node in range(1, SIZE + 1)])
    assert problem.cost(instance, routes) < 0.6 * alone
    assert Report.decode(report).mended == 0


@EXCHANGES
def test_times_are_those_of_a_walk_along_the_routes(search, instance, block, exchanges):
    """After annealing, hot to the end, what was kept up to date is what a walk finds."""
    search(2, temperature=2000.0, exchanges=exchanges)
    held = vrptw.GROUPS._search
    state = held._state
    ready, due, service, start, latest, *_ = state.own
    kept = [start.copy(), latest.copy()]
    for route in range(len(state.route_loads)):
        timed.refresh_route(state, route)
    assert (kept[0] == start).all()
    assert (kept[1] == latest).all()
    customers = slice(1, SIZE + 1)
    assert (start[customers] >= ready[customers]).all()
    assert (start[customers] <= latest[customers]).all()
    assert (latest[customers] <= due[customers]).all()
    ahead = state.nodes[customers, links.BEFORE]
    left = np.where(ahead > SIZE, 0.0, start[ahead] + service[np.where(ahead > SIZE, 0, ahead)])
    reached = left + state.edges[customers, links.BEFORE]
    assert (start[customers] == np.maximum(reached, ready[customers])).all()


@EXCHANGES
def test_programs_see_the_times_of_the_current_solution(search, block, exchanges):
    """After annealing, hot to the end, they are those that a walk along the routes finds."""
    search(4, temperature=2000.0, exchanges=exchanges)
    held = vrptw.GROUPS._search
    held.propose(vrptw.GROUPS.nobody, Order.asking(0, 4, 30, 0.5))
    views = held._state.own.views
    following = np.ascontiguousarray(held._state.nodes[:, links.BEHIND])
    times = walked(links.flat_routes(following, SIZE), block)
    assert (views == (block["ready_times"], block["due_times"], *times)).all()
    assert not any(np.shares_memory(views, kept) for kept in held._state.own[:5])


def test_each_parameter_is_what_its_name_says(search, block):
    _, flat = search(5)
    earliest, latest = walked(flat, block)
    names = ("ready_times", "due_times", "earliest_starts", "latest_starts")
    kept = (block["ready_times"], block["due_times"], earliest, latest)
    order = Order.asking(0, 1, SIZE, 0.5).encode()
    for name, times in zip(names, kept, strict=True):
        chosen = f"def choose({', '.join(interfaces.TIMED_GROUPS.names)}):"
        source = f"{chosen}\n    return np.argsort({name}[1:]) + 1\n"
        program = vrptw.GROUPS.translate(source, "choose")
        _, customers = vrptw.GROUPS(program, block, [order, flat]).arrays
        assert len(customers) == SIZE
        assert (times[customers] == np.sort(times[1:])).all(), name


def test_nothing_of_a_search_follows_from_what_programs_see_of_times(search):
    """Whatever a program may have written there."""
    nothing = np.zeros(0, np.int64)
    # A program that does not look at them.
    upper = vrptw.GROUPS.translate(ORDERED_GROUPS.seed.source, ORDERED_GROUPS.name)
    search(6, upper=upper)
    expected = search(6, start=nothing, upper=upper)
    search(6, upper=upper)
    vrptw.GROUPS._search._state.own.views[:] = -1e9
    again = search(6, start=nothing, upper=upper)
    assert all((one == other).all() for one, other in zip(expected, again, strict=True))


@EXCHANGES
def test_the_same_seed_gives_the_same_bytes(search, exchanges):
    first, second = (search(3, exchanges=exchanges) for _ in range(2))
    assert all((one == other).all() for one, other in zip(first, second, strict=True))
