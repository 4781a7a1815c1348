"""The compiled passes over a closed tour: exact lengths, and the positions that are offered."""

from itertools import permutations

import numpy as np
import pytest
from cases import Place, place_of, tour

from specahd.engine import changes, links, tours
from specahd.engine.state import Scratch
from specahd.problems.tsp.instance import TSPInstance
from specahd.problems.tsp.problem import TSP

EXCHANGES = pytest.mark.parametrize("exchanges", [0, 20])


@EXCHANGES
@pytest.mark.parametrize(("size", "seed"), [(2, 1), (3, 1), (4, 1), (5, 2), (8, 3), (8, 4)])
def test_small_tours_become_shortest(size, seed, exchanges):
    place = Place(TSP(), tour(size, seed))
    shortest = min(place.cost((0, *order)) for order in permutations(range(1, size)))
    report, found = place.slice(repairs=2000, temperature=200.0, exchanges=exchanges)
    assert report.best == shortest
    assert place.matches_the_checker(report, found)


@EXCHANGES
def test_the_state_is_what_was_counted(exchanges):
    """Length, edges and what upper programs see, after annealing, against the instance."""
    place = place_of("tsp")
    report, found = place.slice(temperature=200.0, exchanges=exchanges)
    assert place.matches_the_checker(report, found)
    state, matrix = place.search._state, place.block["distance_matrix"]
    nodes = np.arange(place.instance.size)
    before, behind = state.nodes[:, links.BEFORE], state.nodes[:, links.BEHIND]
    assert (before[behind] == nodes).all()
    assert (state.edges == matrix[nodes, behind]).all()
    assert state.costs[changes.CURRENT] == state.edges.sum()
    assert sorted(tours.flat_tour(behind.copy()).tolist()) == nodes[1:].tolist()
    tours.show(state, place.search._instance)
    assert (state.upper_inputs[changes.PRECEDING] == before).all()
    assert (state.upper_inputs[changes.FOLLOWING] == behind).all()
    assert (state.gains == state.edges + state.edges[before] - matrix[before, behind]).all()
    assert state.upper_inputs[changes.EXPOSURES, 0] == 0
    assert (state.upper_inputs[changes.EXPOSURES, 1:] > 0).all()


@pytest.mark.parametrize("longest", [1000, 4])
def test_turned_runs_alone_shorten_a_tour_and_change_what_they_say(longest, monkeypatch):
    """Two edges are replaced, or none; what lies between them has the other direction."""
    monkeypatch.setattr(tours, "LONGEST_RUN", longest)
    # Not compiled: a compiled function holds the length that it was compiled with.
    turn = tours.exchange_tails.py_func
    place = place_of("tsp")
    search = place.groups.search_for(place.block, place.routes, 0)
    state, given, matrix = search._state, search._instance, place.block["distance_matrix"]
    nodes, first, best = np.arange(place.instance.size), state.edges.sum(), state.best.copy()
    moves = 0
    for _ in range(2000):
        followers = state.nodes[:, links.BEHIND].copy()
        turn(state, given, 1, 1e-9)
        behind = state.nodes[:, links.BEHIND]
        assert (state.nodes[behind, links.BEFORE] == nodes).all()
        assert (state.edges == matrix[nodes, behind]).all()
        assert state.costs[changes.CURRENT] == state.edges.sum()
        before, after = (
            {frozenset(edge) for edge in zip(nodes.tolist(), each.tolist(), strict=True)}
            for each in (followers, behind)
        )
        assert len(after - before) in (0, 2)
        turned = np.count_nonzero(followers != behind)
        moves += turned > 0
        # Those in the run, and the one before it.
        assert turned <= longest + 1
    assert sorted(tours.flat_tour(behind.copy()).tolist()) == nodes[1:].tolist()
    assert moves > 5
    assert state.edges.sum() < (0.8 if longest > len(nodes) else 1.0) * first
    # The best tour is that of before until it is noted.
    assert (state.best == best).all()
    changes.keep_best(state)
    assert (state.best == behind).all()


def test_crossed_edges_are_uncrossed():
    """Upper programs that name nobody leave the work to turned runs."""
    square = TSPInstance("square", np.array([[0, 0], [0, 9], [9, 0], [9, 9]]) * 1.0)
    place = Place(TSP(), square, start=(0, 3, 1, 2))
    nobody = place.upper_of("return np.zeros(1, np.int64)")
    assert place.slice(nobody, temperature=0.0)[1] == []
    report, found = place.slice(nobody, temperature=0.0, exchanges=20)
    assert report.best == 36.0
    assert place.matches_the_checker(report, found)


def test_positions_are_the_gaps_next_to_neighbours_each_once():
    place = place_of("tsp")
    search = place.groups.search_for(place.block, place.routes, 0)
    state, given = search._state, search._instance
    matrix, size, near = place.block["distance_matrix"], place.instance.size, given.neighbours
    found, before = np.zeros((6, 21)), np.zeros(21, np.int64)
    log, nobody = (np.zeros((40, 3), np.int32), np.zeros((40, 3))), np.zeros(0, np.int64)
    scratch = Scratch(nobody, *log, found, before, np.zeros(0))
    tours.remove(state, given, scratch, 0, 30, 0.0)
    count = tours.find_positions(state, given, scratch, 30, 1, np.inf)
    ahead, behind = before[:count], state.nodes[before[:count], links.BEHIND]
    around = set(near[30, :10].tolist())
    gaps = {(node, int(state.nodes[node, links.BEHIND])) for node in range(size) if node != 30}
    expected = {gap for gap in gaps if around & set(gap)}
    assert sorted(zip(ahead.tolist(), behind.tolist(), strict=True)) == sorted(expected)
    there, back, edge = matrix[ahead, 30], matrix[30, behind], matrix[ahead, behind]
    assert (found[:4, :count] == [there + back - edge, there, back, edge]).all()


def test_without_neighbours_on_the_tour_a_node_comes_behind_the_first():
    """All nodes leave at once: the first that is inserted has no neighbour there."""
    place = Place(TSP(), tour(20, 8))
    everybody = place.upper_of("return np.arange(1, len(preceding))")
    report, found = place.slice(everybody, repairs=19)
    assert report.repairs == 19
    assert place.matches_the_checker(report, found)
