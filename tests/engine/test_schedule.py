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
    temperatures,
)
from specahd.problems.cvrp.problem import CVRP
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


def test_large_instances_have_more_groups_and_fewer_neighbours():
    assert [group_count(size) for size in (1, 1000, 10_000, 10**6)] == [1, 8, 64, 64]
    assert neighbour_count(5000) > neighbour_count(5001)


@pytest.mark.parametrize(
    ("capacity", "short", "neighbours", "exchanged"),
    [(199, True, 100, False), (200, False, 50, True)],
)
def test_on_long_routes_with_time_windows_tails_are_exchanged_and_fewer_neighbours_looked_at(
    capacity, short, neighbours, exchanged
):
    instance = SimpleNamespace(capacity=capacity, demands=np.array([0, 5, 15]))
    assert on_short_routes(instance) is short
    assert VRPTW.engine.neighbours(instance) == neighbours
    assert (VRPTW.engine.exchanges(instance) > 0) is exchanged
    assert CVRP.engine.exchanges(instance) == 0


@pytest.mark.parametrize(("stops", "exchanges"), [(10, 0), (30, 128)])
def test_every_search_of_an_instance_tries_the_same_exchanges(stops, exchanges):
    ordered = []

    def call(asked):
        ordered.append(Order.decode(asked.inputs[0]))
        return Result(Outcome.CRASHED)

    problem = VRPTW()
    instance = next(problem.generate("lower_train", 0))
    instance = replace(instance, capacity=int(stops * instance.demands[1:].mean()))
    near = np.ones((instance.size + 1, 1))
    engine = SandboxedEngine(SimpleNamespace(call=call), problem, instance, near, 1, seed=0)
    engine.improve(None, 5, 0.0, 1.0)
    assert [order.exchanges for order in ordered] == [exchanges]
