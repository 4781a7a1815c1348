"""The scale of a search follows from the instance."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from specahd.core.program import Outcome
from specahd.engine.improver import SandboxedEngine
from specahd.engine.orders import Order
from specahd.engine.schedule import (
    group_count,
    neighbour_count,
    on_short_routes,
    temperature_by_spread,
    temperature_by_stops,
    temperatures,
)
from specahd.problems.cvrp.problem import CVRP
from specahd.problems.tsp.problem import TSP
from specahd.problems.vrptw.problem import VRPTW
from specahd.sandbox.calls import Result


def test_temperatures_are_in_the_unit_of_the_nearest_distances():
    away = np.tile(np.arange(1.0, 21.0), (6, 1))
    away[0] = 1e6
    start_temperature, cold = temperatures(away)
    assert 0.0 < cold < start_temperature
    assert temperatures(10.0 * away) == pytest.approx((10.0 * start_temperature, 10.0 * cold))
    farther = away.copy()
    farther[:, 10:] = 1e6
    assert temperatures(farther) == (start_temperature, cold)


def test_one_customer_has_no_neighbours_and_no_heat():
    assert temperatures(np.zeros((2, 0))) == (0.0, 0.0)


def test_a_search_may_begin_hotter():
    away = np.tile(np.arange(1.0, 21.0), (6, 1))
    assert temperatures(away, 3.0) == pytest.approx((3.0 * 5.5, 0.05 * 5.5))


@pytest.mark.parametrize(
    ("capacity", "demands", "start"),
    [(240, [0, 8, 12], 1.5), (640, [0, 5, 15], 4.0), (640, [0, 0, 1], 12.0), (9, [0, 0, 0], 12.0)],
)
def test_a_search_begins_hotter_where_a_vehicle_has_room_for_many_stops(capacity, demands, start):
    instance, near = SimpleNamespace(capacity=capacity, demands=np.array(demands)), np.zeros((1, 0))
    assert temperature_by_stops(instance) == start
    assert CVRP.engine.construction_temperature(instance, near) == start
    assert CVRP.engine.start_temperature(instance, near) == 1.5


def test_a_tour_begins_hotter_where_distances_of_neighbours_differ():
    near = np.array([[9.0, 9.0], [1.0, 1.0], [1.0, 5.0]])
    for distances in (near, 10.0 * near):
        assert temperature_by_spread(distances) == pytest.approx(7.0 / 4.0)
    for nothing in (np.zeros((3, 2)), np.zeros((2, 0))):
        assert temperature_by_spread(nothing) == 1.0
    tour, roads = SimpleNamespace(directed=False), SimpleNamespace(directed=True)
    assert TSP.engine.construction_temperature(tour, near) == pytest.approx(7.0 / 4.0)
    assert TSP.engine.construction_temperature(roads, near) == 1.0
    assert TSP.engine.start_temperature(tour, near) == 1.0


def test_large_instances_have_more_groups_and_fewer_neighbours():
    assert [group_count(size) for size in (1, 1000, 10_000, 10**6)] == [1, 8, 64, 64]
    assert neighbour_count(5000) > neighbour_count(5001)


@pytest.mark.parametrize(
    ("capacity", "short", "neighbours", "exchanges"),
    [
        (199, True, 100, {"vrptw": 0, "cvrp": 0}),
        (200, False, 50, {"vrptw": 128, "cvrp": 0}),
        (400, False, 50, {"vrptw": 128, "cvrp": 32}),
    ],
)
def test_on_long_routes_tails_are_exchanged_and_with_windows_fewer_neighbours_looked_at(
    capacity, short, neighbours, exchanges
):
    instance = SimpleNamespace(capacity=capacity, demands=np.array([0, 5, 15]))
    assert on_short_routes(instance) is short
    assert VRPTW.engine.neighbours(instance) == neighbours
    assert exchanges == {
        problem.name: problem.engine.exchanges(instance) for problem in (VRPTW, CVRP)
    }


def ordered_by(problem, stops, given):
    """Return the order of a search's first slice, where a vehicle has room for some stops."""
    instance = next(problem.generate("lower_train", 0))
    capacity = int(stops * instance.demands[1:].mean()) + 1
    near = np.ones((instance.size + 1, 1))
    return first_order(problem, replace(instance, capacity=capacity), near, given)


def first_order(problem, instance, near, given):
    """Return the order of a search's first slice."""
    orders = []

    def call(asked):
        orders.append(Order.decode(asked.inputs[0]))
        return Result(Outcome.CRASHED)

    engine = SandboxedEngine(SimpleNamespace(call=call), problem, instance, near, 1, seed=0)
    engine.start(problem.trivial_solution(instance), given=given)
    engine.improve(None, 5, 0.0, 1.0)
    return orders[0]


@pytest.mark.parametrize(
    ("problem", "stops", "exchanges"), [(VRPTW, 10, 0), (VRPTW, 30, 128), (CVRP, 64, 32)]
)
def test_every_search_of_an_instance_tries_the_same_exchanges(problem, stops, exchanges):
    for given in (False, True):
        assert ordered_by(problem(), stops, given).exchanges == exchanges


def test_a_search_from_a_given_solution_begins_no_hotter_on_long_routes():
    hot, usual = (ordered_by(CVRP(), 64, given).temperature for given in (False, True))
    assert usual == 1.5
    assert hot == pytest.approx(4.0, rel=0.01)
    assert ordered_by(CVRP(), 10, False).temperature == usual


def test_a_search_of_a_tour_turns_runs_and_begins_hotter_from_a_construction():
    problem = TSP()
    instance = next(problem.generate("lower_train", 0))
    near = np.ones((instance.size, 2))
    near[:, 1] = 5.0
    made, given = (first_order(problem, instance, near, given) for given in (False, True))
    assert made.exchanges == given.exchanges == 10
    assert given.temperature == pytest.approx(3.0)
    assert made.temperature == pytest.approx(3.0 * 13.0 / 9.0)
