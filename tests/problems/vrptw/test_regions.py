import numpy as np
import pytest

from specahd.problems.vrptw.descriptor import NAMES
from specahd.problems.vrptw.instance import VRPTWInstance
from specahd.problems.vrptw.problem import VRPTW
from specahd.routing.base import Region
from specahd.routing.formats.vrplib import TimeWindows
from specahd.routing.geometry import Convention

PROBLEM = VRPTW()


def test_descriptor_by_hand(line):
    found = PROBLEM.describe(line, ((1, 2, 3), (4,)), Region((2, 3)))
    expected = {
        "log_size": np.log(2),
        "spread": 5 / line.spread,
        "elongation": 1.0,
        "depot_distance": 25 / line.spread,
        "edge_mean": np.mean([10, 10, 30]) / np.mean([10, 10, 10, 30]),
        "edge_variation": np.std([10, 10, 30]) / np.mean([10, 10, 30]),
        "depot_edges": 1 / 3,
        "detour": 1.0,
        "log_routes": 0.0,
        "completeness": 2 / 3,
        "fragmentation": 0.5,
        "slack": 0.0,
        "demand_mean": 2.5 / 7,
        # Customer 2: from 30 to 50, reached at 25; customer 3: at 60 sharp, reached at 45.
        "window_width": (20 + 0) / 2 / 100,
        # The route is back at 95.
        "waiting": (5 + 15) / 95,
        "time_slack": (20 + 0) / 2 / 100,
    }
    assert tuple(expected) == NAMES
    assert 8 <= len(NAMES) <= 16
    np.testing.assert_allclose(found, list(expected.values()))


def test_descriptor_does_not_depend_on_the_unit_of_dimacs():
    coords = np.array([(0, 0), (3, 4), (6, 8), (0, 5)], float)
    times = TimeWindows(np.array([0, 9.0, 0, 3]), np.array([40, 20.0, 30, 35]), np.full(4, 1.0))
    tenths = TimeWindows(10 * times.ready, 10 * times.due, 10 * times.service)
    demands = np.array([0, 2, 4, 3])
    # All distances are whole, so that rounding does nothing.
    plain = VRPTWInstance("x", coords, demands, 10, windows=times, convention=Convention.EUC_2D)
    dimacs = VRPTWInstance(
        "x", 10 * coords, demands, 10, windows=tenths, convention=Convention.DIMACS
    )
    region = Region((1, 2))
    found = (PROBLEM.describe(instance, ((1, 2), (3,)), region) for instance in (plain, dimacs))
    np.testing.assert_allclose(*found)


@pytest.mark.parametrize("coords", [np.zeros((4, 2)), np.array([[0, 0], [1, 1], [1, 1], [1, 1.0]])])
@pytest.mark.parametrize("closing", [0.0, 9.0])
def test_descriptor_of_degenerate_regions_is_finite(coords, closing):
    windows = TimeWindows(np.zeros(4), np.full(4, closing), np.zeros(4))
    instance = VRPTWInstance("heap", coords, np.zeros(4, np.int64), 1, windows=windows)
    for solution in (((1, 2, 3),), ((1,), (2,), (3,)), ()):
        assert np.isfinite(PROBLEM.describe(instance, solution, Region((1, 3)))).all()
