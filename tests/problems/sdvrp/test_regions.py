import numpy as np
import pytest

from offered import problem
from problems.instances import instance_of, plan
from specahd.problems.sdvrp.problem import SDVRP
from specahd.routing.base import Region
from specahd.routing.kernels.descriptors import GROUP_NAMES


def test_descriptor_by_hand():
    instance = instance_of("sdvrp", [[0, 0], [3, 4], [6, 8], [0, 5]], [0, 2, 12, 3])
    solution = plan([(1, 2), (2, 8)], [(2, 4)], [(3, 3)])
    values = problem("sdvrp").describe(instance, solution, Region((2, 1)))
    found = dict(zip(SDVRP.descriptor_names, values, strict=True))
    # Three deliveries of 2, 8 and 4 on two routes; the third route is not touched.
    expected = {
        "log_size": np.log(3),
        "log_routes": np.log(2),
        "completeness": 1.0,
        "slack": 1 - 14 / 20,
        "demand_mean": 14 / 3 / 10,
        "demand_variation": np.std([2, 8, 4]) / np.mean([2, 8, 4]),
        "customer_demand": 7 / 10,
        "log_splits": np.log(3 / 2),
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    assert SDVRP.descriptor_names[:14] == GROUP_NAMES


def test_descriptor_without_a_split_is_the_shared_one():
    coords = [[0, 0], [3, 4], [6, 8], [0, 5], [-5, 0]]
    instance = instance_of("sdvrp", coords, [0, 2, 4, 3, 1])
    solution = plan([(1, 2), (2, 4)], [(3, 3)], [(4, 1)])
    found = problem("sdvrp").describe(instance, solution, Region((2, 1)))
    expected = problem("cvrp").describe(instance, ((1, 2), (3,), (4,)), Region((2, 1)))
    np.testing.assert_allclose(found[:14], expected)
    assert found[15] == 0.0
