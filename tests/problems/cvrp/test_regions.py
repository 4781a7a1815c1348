import numpy as np
import pytest

from specahd.problems.cvrp.instance import CVRPInstance
from specahd.problems.cvrp.problem import CVRP
from specahd.routing.base import Region
from specahd.routing.vehicles.descriptor import NAMES
from specahd.routing.vehicles.routes import merge

SOLUTION = ((1, 2, 3), (4, 5), (6, 7, 8))


def ints(*values):
    return np.array(values, np.int64)


def test_merge_closes_gaps_and_appends():
    # Sorted customers 2, 4, 5, 7 are local 1 to 4; the second route vanishes.
    region = Region((7, 2, 5, 4))
    merged = merge(SOLUTION, region, [ints(3, 1, 0, 4, 2)])
    assert merged == ((1, 3), (6, 8), (5, 2), (7, 4))


def test_merge_passes_over_empty_rebuilt_routes():
    merged = merge(SOLUTION, Region((4, 5)), [ints(0, 1, 0, 0, 2)])
    assert merged == ((1, 2, 3), (6, 7, 8), (4,), (5,))


def test_merge_judges_no_coverage():
    merged = merge(SOLUTION, Region((4, 5)), [ints(1, 1)])
    assert merged == ((1, 2, 3), (6, 7, 8), (4, 4))


@pytest.mark.parametrize(
    "output",
    [
        [],
        [ints(1, 2), ints(0)],
        [ints()],
        [ints(1, 3)],
        [ints(1, -1)],
        [ints(1, 2, 1, 2, 1, 2)],
        [np.array([1.0, 2.0])],
        [ints(1, 2).astype(np.int32)],
        [ints(1, 2).reshape(2, 1)],
        [[1, 2]],
    ],
)
def test_malformed_output_merges_to_nothing(output):
    assert merge(SOLUTION, Region((4, 5)), output) is None


def test_descriptor_by_hand():
    coords = np.array([[0, 0], [3, 4], [6, 8], [0, 5], [-5, 0]], float)
    instance = CVRPInstance("hand", coords, np.array([0, 2, 4, 3, 1]), 10)
    found = CVRP().describe(instance, ((1, 2), (3,), (4,)), Region((2, 1)))
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
    assert tuple(expected) == NAMES
    np.testing.assert_allclose(found, list(expected.values()))


@pytest.mark.parametrize("coords", [np.zeros((4, 2)), np.array([[0, 0], [1, 1], [1, 1], [1, 1.0]])])
def test_descriptor_of_degenerate_regions_is_finite(coords):
    instance = CVRPInstance("heap", coords, np.zeros(4, np.int64), 1)
    for solution in (((1, 2, 3),), ((1,), (2,), (3,)), ()):
        assert np.isfinite(CVRP().describe(instance, solution, Region((1, 3)))).all()
