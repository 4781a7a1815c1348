"""The state of passes over routes of vehicles: kept up to date change by change."""

import numpy as np
from cases import place_of

from specahd.engine import capacitated, changes, links


def check_state(place):
    state, demands = place.search._state, place.instance.demands
    matrix, size = place.block["distance_matrix"], place.instance.size
    nodes, edges = state.nodes, state.edges
    at = np.where(np.arange(len(nodes)) > size, 0, np.arange(len(nodes)))
    behind = nodes[1:, links.BEHIND]
    assert (edges[1:, links.BEHIND] == matrix[at[1:], at[behind]]).all()
    assert (nodes[behind, links.BEFORE] == np.arange(1, len(nodes))).all()
    assert (edges[behind, links.BEFORE] == edges[1:, links.BEHIND]).all()
    assert state.costs[changes.CURRENT] == edges[1:, links.BEHIND].sum()
    routes = nodes[1 : size + 1, links.ROUTE]
    assert (np.bincount(routes, demands[1:], len(state.route_loads)) == state.route_loads).all()
    free = state.free[: state.integers[changes.FREE]]
    assert sorted([*free.tolist(), *set(routes.tolist())]) == list(range(len(state.route_loads)))
    capacitated.show(state, place.search._instance)
    shown = state.upper_inputs[:, 1:]
    assert (shown[changes.PRECEDING] == at[nodes[1 : size + 1, links.BEFORE]]).all()
    assert (shown[changes.FOLLOWING] == at[nodes[1 : size + 1, links.BEHIND]]).all()
    assert (shown[changes.ROUTE_OF] == routes).all()
    around = matrix[shown[changes.PRECEDING], shown[changes.FOLLOWING]]
    assert (state.gains[1:] == edges[1 : size + 1, :2].sum(axis=1) - around).all()


def test_the_state_is_what_was_counted():
    """Costs, loads, edges and what upper programs see, after annealing, against the instance."""
    place = place_of("cvrp")
    place.slice(temperature=200.0)
    check_state(place)


def test_exchanges_keep_the_state_and_the_best_solution():
    """Slices of a few groups, in which most changes are exchanges of parts of routes."""
    place = place_of("cvrp")
    start = place.cost(place.start)
    costs = []
    for seed in range(40):
        report, found = place.slice(seed=seed, repairs=20, groups=1, exchanges=100)
        check_state(place)
        assert place.matches_the_checker(report, found)
        costs.append(report.best / start)
    assert max(costs) < 0.8
