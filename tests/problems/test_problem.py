"""What children of the sandbox, and the engine, get of every problem, and give back."""

from dataclasses import replace

import numpy as np
import pytest

from offered import PROBLEMS, arrays_of, problem
from problems.instances import TIMES, instance_of, line, matrix_of, plan
from specahd.routing.base import Region
from specahd.routing.geometry import Convention

MATRIX = np.array([[0, 7, 1], [7, 0, 2], [1, 2, 0]], float)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("explicit", [False, True])
def test_the_child_sees_the_instance(name, explicit):
    instance = instance_of(name, [[0, 0], [10, 10], [30, 40]], convention=Convention.DIMACS)
    if explicit:
        instance = replace(instance, convention=Convention.EXPLICIT, matrix=MATRIX)
    arrays = arrays_of(problem(name), instance)
    expected = {"coords": instance.coords, "distance_matrix": matrix_of(instance)}
    if name != "tsp":
        expected |= {"demands": instance.demands, "capacity": [instance.capacity]}
    if name == "vrptw":
        for field in TIMES:
            expected[f"{field}_times"] = getattr(instance.windows, field)
    assert set(arrays) == set(expected)
    for field, values in expected.items():
        np.testing.assert_array_equal(arrays[field], values)


SOLUTIONS = {
    "cvrp": ((1, 3), (2, 4), (5,)),
    "sdvrp": plan([(1, 2), (2, None)], [(3, 3), (4, 2)], [(4, 5)]),
    "tsp": (3, 1, 2, 0, 5, 4),
    "vrptw": ((1, 3), (2,), (4,)),
}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("cvrp", [[2, 2, 1], [1, 3, 2, 4, 5]]),
        ("sdvrp", [[2, 2, 1], [1, 2, 3, 4, 4], [2, 4, 3, 2, 5]]),
        ("tsp", [[3, 1, 2, 0, 5, 4]]),
        ("vrptw", [[2, 1, 1], [1, 3, 2, 4]]),
    ],
)
def test_inputs_of_the_runners(name, shown):
    solved = type(problem(name))(max_regions=3, max_size=20)
    made = solved.operator.selector.inputs(line(name), SOLUTIONS[name])
    assert [array.tolist() for array in made] == [*shown, [3, 20]]
    region = line(name), SOLUTIONS[name], Region((4, 3, 1, 2))
    nodes, planned = solved.operator.inputs(*region)
    # The anchors of a run stay outside; what is between them does not tell its order.
    assert nodes.tolist() == ([4, 1, 3, 2] if name == "tsp" else [1, 2, 3, 4])
    assert {array.dtype for array in (*made, nodes, planned)} == {np.dtype(np.int64)}
    assert planned.tolist() == [1]


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("repair", ["append", "construct"])
def test_single_actions_are_a_form_of_the_contract(name, repair):
    make = type(problem(name))
    single = make(repair=repair, actions="single").operator
    either = make(repair=repair).operator
    region = line(name), SOLUTIONS[name], Region((4, 3, 1, 2))
    assert single.inputs(*region)[1].tolist() == [0]
    told = "a plan. It"
    assert told in " ".join(either.contract.document.split())
    assert told not in " ".join(single.contract.document.split())
    assert single.contract.seed == either.contract.seed


FLAT = {
    "cvrp": [[1, 3, 0, 2, 4, 0, 5, 0]],
    "sdvrp": [[1, 2, 0, 3, 4, 0, 4, 0], [2, 4, 0, 3, 2, 0, 5, 0]],
}
"""The solutions above as the engine has them."""


@pytest.mark.parametrize("name", FLAT)
def test_the_engine_takes_solutions_and_gives_them_back(name):
    instance, solved = line(name), problem(name)
    arrays = solved.flat(instance, SOLUTIONS[name])
    assert [array.tolist() for array in arrays] == FLAT[name]
    # A delivery of a whole demand has its quantity.
    whole = plan([(1, 2), (2, 4)], [(3, 3), (4, 2)], [(4, 5)])
    assert solved.unflat(instance, arrays) == (whole if name == "sdvrp" else SOLUTIONS[name])
    spoilt = [
        [], [*arrays, np.array([0])], [array.astype(float) for array in arrays],
        [array.reshape(2, -1) for array in arrays], arrays[1:],
    ]  # fmt: skip
    if name == "cvrp":
        spoilt.append([np.ones(2 * instance.size + 2, np.int64)])
    else:
        spoilt.append([arrays[0], arrays[1][:-1]])
    for output in spoilt:
        assert solved.unflat(instance, output) is None
