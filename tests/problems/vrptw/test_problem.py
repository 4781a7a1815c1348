import numpy as np

from offered import problem
from problems.instances import instance_of, line
from specahd.problems.cvrp.problem import CVRP
from specahd.problems.vrptw.problem import VRPTW
from specahd.routing.base import Region
from specahd.routing.geometry import Convention


def test_descriptor_by_hand():
    timed, routes, region = line("vrptw"), ((1, 2, 3), (4,)), Region((2, 3))
    found = dict(
        zip(VRPTW.descriptor_names, problem("vrptw").describe(timed, routes, region), strict=True)
    )
    untimed = dict(zip(CVRP.descriptor_names, CVRP().describe(timed, routes, region), strict=True))
    expected = {
        name: untimed[name] for name in CVRP.descriptor_names if name != "demand_variation"
    } | {
        # Customer 2: from 30 to 50, reached at 25; customer 3: at 60 sharp, reached at 45.
        "window_width": (20 + 0) / 2 / 100,
        # The route is back at 95.
        "waiting": (5 + 15) / 95,
        "time_slack": (20 + 0) / 2 / 100,
    }
    assert tuple(expected) == VRPTW.descriptor_names
    np.testing.assert_allclose(list(found.values()), list(expected.values()))


def test_descriptor_does_not_depend_on_the_unit_of_dimacs():
    coords = np.array([(0, 0), (3, 4), (6, 8), (0, 5)], float)
    times = {"ready": [0, 9.0, 0, 3], "due": [40, 20.0, 30, 35], "service": [1.0, 1, 1, 1]}
    found = []
    # All distances are whole, so that rounding does nothing.
    for unit, convention in ((1, Convention.EUC_2D), (10, Convention.DIMACS)):
        scaled = {field: unit * np.array(values) for field, values in times.items()}
        demands = [0, 2, 4, 3]
        instance = instance_of("vrptw", unit * coords, demands, convention=convention, **scaled)
        found.append(problem("vrptw").describe(instance, ((1, 2), (3,)), Region((1, 2))))
    np.testing.assert_allclose(*found)
