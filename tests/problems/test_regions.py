"""What is merged of a rebuild, and descriptors, of every problem that has its own."""

import numpy as np
import pytest

from offered import PROBLEMS, problem
from problems.instances import HEAP, instance_of, plan
from specahd.problems.sdvrp.problem import merge as merge_deliveries
from specahd.problems.tsp.problem import merge as merge_run
from specahd.routing.base import Region
from specahd.routing.kernels.descriptors import GROUP_NAMES
from specahd.routing.vehicles.routes import merge


def ints(*values):
    return np.array(values, np.int64)


SOLUTIONS = {
    "cvrp": ((1, 2, 3), (4, 5), (6, 7, 8)),
    "sdvrp": plan([(1, 4), (2, 6)], [(2, 3), (3, 5)], [(4, 7)]),
    "tsp": (3, 1, 4, 0, 5, 9, 2, 6, 8, 7),
}
MERGES = {"cvrp": merge, "sdvrp": lambda *given: merge_deliveries(*given, 9), "tsp": merge_run}
GOOD = {
    "cvrp": ((4, 5), [ints(1, 2)]),
    "sdvrp": ((2, 4), [ints(1, 2), ints(1, 2)]),
    "tsp": ((1, 4, 0, 5), [ints(1, 2)]),
}
"""Of each a region, and what may be answered for it."""
LONG = {"cvrp": [ints(*[1] * 6)], "sdvrp": [ints(*[1] * 19)] * 2, "tsp": [ints(1, 2, 1)]}
"""Answers that are longer than any sensible one."""


def merged(name, nodes, *output):
    return MERGES[name](SOLUTIONS[name], Region(nodes), list(output))


@pytest.mark.parametrize(
    ("name", "nodes", "output", "expected"),
    [
        # Sorted customers 2, 4, 5, 7 are local 1 to 4; the second route vanishes.
        ("cvrp", (7, 2, 5, 4), [ints(3, 1, 0, 4, 2)], ((1, 3), (6, 8), (5, 2), (7, 4))),
        # It passes over empty rebuilt routes, and judges no coverage.
        ("cvrp", (4, 5), [ints(0, 1, 0, 0, 2)], ((1, 2, 3), (6, 7, 8), (4,), (5,))),
        ("cvrp", (4, 5), [ints(1, 1)], ((1, 2, 3), (6, 7, 8), (4, 4))),
        # Every delivery is taken away.
        (
            "sdvrp", (4, 2), [ints(2, 1, 0, 1), ints(7, 3, 0, 6)],
            plan([(1, 4)], [(3, 5)], [(4, 7), (2, 3)], [(2, 6)]),
        ),
        # What one route delivers to one customer is joined.
        (
            "sdvrp", (2, 4), [ints(1, 2, 1, 1, 0, 1), ints(1, 7, 2, 3, 0, 3)],
            plan([(1, 4)], [(3, 5)], [(2, 6), (4, 7)], [(2, 3)]),
        ),
        (
            "sdvrp", (2, 4), [ints(0, 2, 0, 0, 1), ints(0, -7, 0, 0, 2**62)],
            plan([(1, 4)], [(3, 5)], [(4, -7)], [(2, 2**62)]),
        ),
        # Between the anchors 1 and 5 lie 0 and 4, local 1 and 2.
        ("tsp", (1, 4, 0, 5), [ints(1, 2)], (3, 1, 0, 4, 5, 9, 2, 6, 8, 7)),
        ("tsp", (1, 4, 0, 5), [ints(1, 1)], (3, 1, 0, 0, 5, 9, 2, 6, 8, 7)),
        ("tsp", (8, 7, 3, 1, 4), [ints(2, 1, 3)], (1, 7, 4, 0, 5, 9, 2, 6, 8, 3)),
    ],
)  # fmt: skip
def test_merge_by_hand(name, nodes, output, expected):
    assert merged(name, nodes, *output) == expected


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize(
    "spoil",
    [
        lambda array: array.astype(float),
        lambda array: array.astype(np.int32),
        lambda array: array.reshape(2, 1),
        lambda array: array.tolist(),
        lambda array: array[:0],
    ],
    ids=["reals", "short", "matrix", "list", "empty"],
)
def test_a_malformed_array_merges_to_nothing(name, place, spoil):
    nodes, output = GOOD[name]
    assert merged(name, nodes, *output) is not None
    if place < len(output):
        spoilt = [spoil(array) if i == place else array for i, array in enumerate(output)]
        assert merged(name, nodes, *spoilt) is None


@pytest.mark.parametrize("name", GOOD)
def test_so_do_strangers_and_arrays_too_few_or_too_many(name):
    nodes, (local, *others) = GOOD[name]
    strangers = [[ints(1, stranger), *others] for stranger in (3, -1)]
    for output in ([], others, [local, *others, ints(0)], LONG[name], *strangers):
        assert merged(name, nodes, *output) is None


def test_a_path_visits_no_anchor_and_every_other_node():
    nodes, _ = GOOD["tsp"]
    for path in (ints(0, 1), ints(1)):
        assert merged("tsp", nodes, path) is None


def test_the_operator_says_how_many_stops_are_a_flood():
    few = instance_of("sdvrp", HEAP, [0, 4, 12, 3])
    crumbs = np.tile([1, 0], 3_000)
    solution = plan([(1, 4), (2, 6)], [(2, 6), (3, 3)])
    output = [crumbs, np.ones_like(crumbs)]
    assert problem("sdvrp").operator.merge(few, solution, Region((2, 3)), output) is None


SOLVED = {
    "cvrp": [((1, 2, 3),), ((1,), (2,), (3,)), ()],
    "sdvrp": [plan([(1, 1), (2, 1)], [(3, 2)], [(3, 1)])],
    "tsp": [(0, 1, 2, 3, 4)],
    "vrptw": [((1, 2, 3),), ((1,), (2,), (3,)), ()],
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_descriptors_of_degenerate_regions_are_finite(name):
    size = 5 if name == "tsp" else 4
    one_far = np.minimum(1.0, np.arange(size))[:, None] * np.ones(2)
    regions = [(0, 1, 2, 3), (4, 0, 1, 2, 3), (0, 1, 2, 3, 4, 0)] if name == "tsp" else [(1, 3)]
    for coords in (np.zeros((size, 2)), one_far):
        for closing in (0.0, 9.0):
            demands = [0, 1, 1, 3] if name == "sdvrp" else np.zeros(size, int)
            due = np.full(size, closing)
            instance = instance_of(name, coords, demands, 2, due=due)
            for solution in SOLVED[name]:
                for nodes in regions:
                    found = problem(name).describe(instance, solution, Region(nodes))
                    assert np.isfinite(found).all()


def test_the_descriptor_of_vehicles_by_hand():
    coords = [[0, 0], [3, 4], [6, 8], [0, 5], [-5, 0]]
    instance = instance_of("cvrp", coords, [0, 2, 4, 3, 1])
    found = problem("cvrp").describe(instance, ((1, 2), (3,), (4,)), Region((2, 1)))
    expected = {
        "log_size": np.log(2),
        "spread": 2.5 / instance.spread,
        "elongation": 1.0,
        "depot_distance": 7.5 / instance.spread,
        "edge_mean": 1.0,
        "edge_variation": np.std([5, 5, 10]) / np.mean([5, 5, 10]),
        "depot_edges": 2 / 3,
        "detour": 1.0,
        "log_routes": 0.0,
        "completeness": 1.0,
        "fragmentation": 0.5,
        "slack": 0.4,
        "demand_mean": 0.3,
        "demand_variation": 1 / 3,
    }
    assert tuple(expected) == GROUP_NAMES
    np.testing.assert_allclose(found, list(expected.values()))
