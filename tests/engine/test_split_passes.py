"""Passes over split deliveries: all is delivered at every step, and costs are exact."""

from dataclasses import replace
from itertools import combinations, combinations_with_replacement, permutations

import numpy as np
import pytest
from cases import Place, place_of, split

from specahd.engine import blocks, changes, deliveries, links
from specahd.engine.state import instance_for
from specahd.problems.sdvrp.problem import SDVRP
from specahd.routing.geometry import Convention
from specahd.routing.vehicles.fleet import reduced
from specahd.routing.vehicles.instance import VehicleInstance

PROBLEM = SDVRP(baseline="nearest")
FIELDS = ["plain", "directed", "open", "vehicles", "directed, vehicles"]
"""Optional fields with which the passes are run."""


def with_fields(instance, fields):
    """Return what a search sees of an instance with fields: ways of drawn lengths, few vehicles."""
    if "directed" in fields or "open" in fields:
        factors = np.random.default_rng(8).uniform(0.7, 1.4, (instance.size + 1,) * 2)
        nodes = np.arange(instance.size + 1)
        matrix = np.round(factors * instance.between(nodes[:, None], nodes))
        # No way is longer than one over another node (Floyd 1962).
        for over in nodes:
            matrix = np.minimum(matrix, matrix[:, [over]] + matrix[over])
        instance = replace(instance, matrix=matrix, convention=Convention.EXPLICIT)
    if "vehicles" in fields:
        least = -(-int(instance.demands.sum()) // instance.capacity)
        instance = replace(instance, fleet=1_000_000 if "million" in fields else least)
    return reduced(replace(instance, open="open" in fields))


def place_with(instance, fields):
    """Return a place that begins with the nearest neighbour construction."""
    seen = with_fields(instance, fields)
    shapes = blocks.layout(PROBLEM, seen)
    block = {name: np.zeros(shape, kind) for name, (kind, shape) in shapes.items()}
    blocks.fill(PROBLEM, seen, block)
    for array in block.values():
        array.flags.writeable = False
    return Place(PROBLEM, seen, PROBLEM.baseline(seen), block)


def optimum(instance, block):
    """Return the least cost of all solutions: of every choice of routes that deliver all.

    Routes deliver all if none of the sets of customers lacks more than those that come to it carry.
    """
    matrix, customers = block["distance_matrix"], range(1, instance.size + 1)
    sets = [set(some) for size in customers for some in combinations(customers, size)]
    needed = [-(-instance.demands[list(some)].sum() // instance.capacity) for some in sets]
    lengths = [
        min(
            sum(matrix[pair] for pair in zip((0, *order), (*order, 0), strict=True))
            for order in permutations(some)
        )
        for some in sets
    ]
    return min(
        sum(lengths[route] for route in routes)
        for count in range(1, (instance.fleet or instance.size) + 1)
        for routes in combinations_with_replacement(range(len(sets)), count)
        if all(
            sum(bool(sets[route] & some) for route in routes) >= need
            for some, need in zip(sets, needed, strict=True)
        )
    )


@pytest.mark.parametrize("fields", FIELDS)
@pytest.mark.parametrize("seed", range(4))
def test_tiny_instances_are_solved_to_the_optimum(seed, fields):
    place = place_with(split(seed, 4, (4, 10), 10), fields)
    report, found = place.slice(temperature=300.0, groups=1)
    assert place.matches_the_checker(report, found)
    assert report.best == optimum(place.instance, place.block)


@pytest.mark.parametrize("fields", FIELDS)
def test_the_state_is_what_was_counted(fields):
    """After annealing, hot to the end: lists, loads, deliveries and what upper programs see."""
    place = place_with(place_of("sdvrp").instance, fields)
    place.slice(temperature=2000.0)
    search, instance = place.search, place.instance
    state = search._state
    owners, quantities, heads, more, spare, left, *_ = state.own
    nodes, edges, matrix, size = (
        state.nodes,
        state.edges,
        place.block["distance_matrix"],
        instance.size,
    )
    last = len(more) - 1
    chains = {customer: [] for customer in range(1, size + 1)}
    for customer, chain in chains.items():
        node = heads[customer]
        while node:
            chain.append(int(node))
            node = more[node]
        assert (owners[chain] == customer).all()
        assert quantities[chain].sum() == search._instance.demands[customer]
        # No route stops at a customer twice.
        assert len(set(nodes[chain, links.ROUTE].tolist())) == len(chain)
    used = [node for chain in chains.values() for node in chain]
    assert sorted([*used, *spare[: left[0]].tolist()]) == list(range(1, last + 1))
    assert len(used) > size
    routes = nodes[used, links.ROUTE]
    assert (
        np.bincount(routes, quantities[used], len(state.route_loads)) == state.route_loads
    ).all()
    assert state.route_loads.max() <= instance.capacity
    free = state.free[: state.integers[changes.FREE]].tolist()
    driven = [*free, *set(routes.tolist())]
    if instance.fleet is None:
        assert sorted(driven) == list(range(len(state.route_loads)))
    else:
        assert len(set(driven)) == len(driven) == instance.fleet - len(search._direct)
    both = np.array([*used, *range(last + 1, len(nodes))])
    behind = nodes[both, links.BEHIND]
    assert (nodes[behind, links.BEFORE] == both).all()
    assert (edges[both, links.BEHIND] == matrix[owners[both], owners[behind]]).all()
    assert (edges[behind, links.BEFORE] == edges[both, links.BEHIND]).all()
    assert state.costs[changes.CURRENT] == edges[both, links.BEHIND].sum()
    deliveries.show(state, search._instance)
    shown = state.upper_inputs[:, 1:]
    first = heads[1:]
    assert (shown[changes.PRECEDING] == owners[nodes[first, links.BEFORE]]).all()
    assert (shown[changes.FOLLOWING] == owners[nodes[first, links.BEHIND]]).all()
    assert (shown[changes.ROUTE_OF] == nodes[first, links.ROUTE]).all()
    for customer, chain in chains.items():
        ends = owners[nodes[chain, links.BEFORE]], owners[nodes[chain, links.BEHIND]]
        assert state.gains[customer] == edges[chain, :2].sum() - matrix[ends].sum()


def test_a_group_that_needs_too_many_nodes_is_taken_back():
    place = place_of("sdvrp")
    report, _ = place.slice()
    nodes, own = place.search._state.nodes, place.search._state.own
    own.left[0] = 0
    before = nodes.copy(), own.heads.copy()
    later, _ = place.resume(repairs=100, temperature=1e6)
    assert later.repairs > report.repairs
    assert (nodes[:, :2] == before[0][:, :2]).all()
    assert (own.heads == before[1]).all()


@pytest.mark.parametrize("fields", ["plain", "vehicles", "a million vehicles"])
def test_whole_loads_to_one_customer_stay_apart(fields):
    """A demand of ten thousand loads costs a repair no more than one of two."""
    few = split(1, 12, (1, 20), 10)
    demands = few.demands.copy()
    demands[3] = 100_007
    instance = VehicleInstance("loads", few.coords, demands, 10, splits=True)
    place = place_with(instance, fields)
    report, found = place.slice()
    solution = place.solution(found)
    assert PROBLEM.check(place.instance, solution) == ()
    assert place.cost(solution) < place.cost(place.start)
    state = place.search._state
    routes = set(state.nodes[1 : len(state.own.more), links.ROUTE].tolist()) - {-1}
    left = len(routes) + state.integers[changes.FREE]
    most = place.instance.fleet or 1_000_000
    assert left == min(len(state.free), most - len(place.search._direct))
    assert place.search._instance.demands[3] == 17
    assert set(place.search._direct.tolist()) == {3}
    apart = len(place.search._direct) * 2 * place.block["distance_matrix"][0, 3]
    assert report.best + apart == place.cost(solution)


@pytest.mark.parametrize(
    ("routes", "given"),
    [
        ([], []),
        ([1, 2, 3], [5, 5]),
        ([1, 2, 3], [5, 5, 4]),
        ([1, 2, 0, 2, 3, 3], [5, 1, 0, 4, 6, -1]),
        ([1, 2, 4], [5, 5, 5]),
    ],
)
def test_deliveries_that_are_no_solution_are_refused(routes, given):
    near = np.ones((4, 1), np.int64), np.ones((4, 1))
    block = {"demands": np.array([0, 5, 5, 5]), "capacity": [10]}
    instance = instance_for(block, np.ones((4, 4)), *near)
    arrays = np.array(routes, np.int64), np.array(given, np.int64)
    with pytest.raises(ValueError, match="Expected"):
        deliveries.state_for(*arrays, instance, 0)
