"""The compiled passes over a tour on directed ways: exact lengths, positions, and moved runs."""

from contextlib import closing
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from cases import Place

from specahd.engine import blocks, changes, directed_tours, links, tours
from specahd.engine.neighbours import directed_neighbours
from specahd.engine.state import Scratch
from specahd.problems.tsp.instance import TSPInstance
from specahd.problems.tsp.problem import TSP
from specahd.routing.distances import DIRECTED
from specahd.routing.geometry import Convention


def directed(size, seed):
    """Ways that differ much from the ways back, with ties, and without the triangle inequality."""
    rng = np.random.default_rng(seed)
    matrix = rng.integers(1, 40, (size, size)).astype(float)
    np.fill_diagonal(matrix, 0.0)
    return TSPInstance("directed", rng.random((size, 2)), Convention.EXPLICIT, matrix)


def place_at(size, seed):
    instance = directed(size, seed)
    with closing(blocks.shared_block(TSP(), instance)) as shared:
        return Place(TSP(), instance, block=shared.arrays(0))


@pytest.mark.parametrize(("size", "seed"), [(3, 1), (4, 1), (5, 2), (8, 3), (8, 4)])
@pytest.mark.parametrize("exchanges", [0, 8])
def test_small_tours_become_shortest(size, seed, exchanges):
    place = place_at(size, seed)
    shortest = min(place.cost((0, *order)) for order in permutations(range(1, size)))
    report, found = place.slice(repairs=3000, temperature=10.0, exchanges=exchanges)
    assert report.best == shortest
    assert place.matches_the_checker(report, found)


@pytest.mark.parametrize("exchanges", [0, 40])
def test_the_state_is_what_was_counted(exchanges):
    place = place_at(60, 5)
    report, found = place.slice(temperature=10.0, exchanges=exchanges)
    assert place.matches_the_checker(report, found)
    state, matrix = place.search._state, place.instance.matrix
    nodes = np.arange(60)
    before, behind = state.nodes[:, links.BEFORE], state.nodes[:, links.BEHIND]
    assert (before[behind] == nodes).all()
    assert (state.edges == matrix[nodes, behind]).all()
    assert state.costs[changes.CURRENT] == state.edges.sum()
    assert sorted(tours.flat_tour(behind.copy()).tolist()) == nodes[1:].tolist()
    directed_tours.show(state, place.search._instance)
    assert (state.upper_inputs[changes.PRECEDING] == before).all()
    assert (state.upper_inputs[changes.FOLLOWING] == behind).all()
    assert (state.gains == state.edges + state.edges[before] - matrix[before, behind]).all()


def test_moved_runs_alone_shorten_a_tour_and_change_what_they_say():
    place = place_at(60, 6)
    search = place.groups.search_for(place.block, place.routes, 0)
    state, given, matrix = search._state, search._instance, place.instance.matrix
    nodes, first = np.arange(60), state.edges.sum()
    for _ in range(200):
        followers = state.nodes[:, links.BEHIND].copy()
        directed_tours.exchange_tails(state, given, 1, 1e-9)
        behind = state.nodes[:, links.BEHIND]
        # Three ways are replaced, or none.
        assert np.count_nonzero(behind != followers) in (0, 3)
        assert (state.nodes[behind, links.BEFORE] == nodes).all()
        assert (state.edges == matrix[nodes, behind]).all()
        assert state.costs[changes.CURRENT] == state.edges.sum()
    assert sorted(tours.flat_tour(behind.copy()).tolist()) == nodes[1:].tolist()
    assert state.edges.sum() < 0.8 * first


def test_positions_are_behind_and_before_near_nodes_each_once():
    place = place_at(60, 7)
    search = place.groups.search_for(place.block, place.routes, 0)
    state, given, matrix = search._state, search._instance, place.instance.matrix
    found, before = np.zeros((6, 49)), np.zeros(49, np.int64)
    log = np.zeros((40, 3), np.int32), np.zeros((40, 3))
    scratch = Scratch(np.zeros(0, np.int64), *log, found, before, np.zeros(0))
    directed_tours.remove(state, given, scratch, 0, 30, 0.0)
    count = directed_tours.find_positions(state, given, scratch, 30, 1, np.inf)
    ahead, behind = before[:count], state.nodes[before[:count], links.BEHIND]
    into, out_of = (set(each[30].tolist()) for each in place.block[DIRECTED])
    gaps = {(node, int(state.nodes[node, links.BEHIND])) for node in range(60) if node != 30}
    expected = {gap for gap in gaps if gap[0] in into or gap[1] in out_of}
    assert sorted(zip(ahead.tolist(), behind.tolist(), strict=True)) == sorted(expected)
    there, back, edge = matrix[ahead, 30], matrix[30, behind], matrix[ahead, behind]
    assert (found[:4, :count] == [there + back - edge, there, back, edge]).all()


def test_without_near_nodes_on_the_tour_a_node_comes_behind_the_first():
    place = place_at(30, 8)
    everybody = place.upper_of("return np.arange(1, len(preceding))")
    report, found = place.slice(everybody, repairs=29)
    assert report.repairs == 29
    assert place.matches_the_checker(report, found)


def test_neighbours_in_each_direction_against_slow_lists():
    for size, seed in ((3, 0), (12, 1), (40, 2)):
        matrix = directed(size, seed).matrix
        into, out_of = directed_neighbours(matrix, 10)
        for node in range(size):
            for found, ways in ((into, matrix[:, node]), (out_of, matrix[node])):
                others = sorted(set(range(size)) - {node}, key=lambda each: (ways[each], each))
                chosen = found[node].tolist()
                assert ways[chosen].tolist() == ways[others[:10]].tolist()
                assert len(set(chosen)) == len(chosen)
                assert node not in chosen


def test_only_directed_ways_have_lists_in_each_direction():
    instance = directed(20, 3)
    assert DIRECTED in TSP().layout(instance)
    assert DIRECTED not in TSP().layout(
        replace(instance, matrix=instance.matrix + instance.matrix.T)
    )
    assert TSP.engine.exchanges(instance) > 0
