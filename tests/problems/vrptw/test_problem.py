import numpy as np
import pytest

from specahd.problems.vrptw.problem import VRPTW
from specahd.routing.base import Region
from specahd.routing.geometry import Convention, distances


@pytest.mark.parametrize("convention", ["dimacs", "float"])
def test_the_child_sees_the_instance_in_its_own_unit(tmp_path, convention):
    path = tmp_path / "x.txt"
    path.write_text(
        "X\nVEHICLE\nNUMBER CAPACITY\n1 9\nCUSTOMER\nCUST NO. XCOORD. YCOORD. DEMAND\n"
        "0 0 0 0 0 90 0\n1 1 1 4 3 9 2\n2 3 4 5 0 50 1\n"
    )
    problem = VRPTW(convention=convention)
    instance = problem.read(path)
    arrays = {
        name: np.zeros(shape, dtype) for name, (dtype, shape) in problem.layout(instance).items()
    }
    problem.fill(instance, arrays)
    unit = 10 if convention == "dimacs" else 1
    assert arrays["coords"].tolist() == [[0, 0], [unit, unit], [3 * unit, 4 * unit]]
    assert arrays["demands"].tolist() == [0, 4, 5]
    assert arrays["capacity"].tolist() == [9]
    assert arrays["ready_times"].tolist() == [0, 3 * unit, 0]
    assert arrays["due_times"].tolist() == [90 * unit, 9 * unit, 50 * unit]
    assert arrays["service_times"].tolist() == [0, 2 * unit, unit]
    diagonal = 14 if convention == "dimacs" else 2**0.5
    assert arrays["distance_matrix"][0].tolist() == [0, diagonal, 5 * unit]
    # Costs are in the file's unit.
    assert problem.cost(instance, ((1,),)) == 2 * diagonal / unit
    measured = distances(instance.coords[:, None], instance.coords[None], instance.measure)
    np.testing.assert_array_equal(arrays["distance_matrix"], measured)


def test_first_customers_of_a_file(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text(
        "X\nVEHICLE\nNUMBER CAPACITY\n1 9\nCUSTOMER\nCUST NO.\n"
        "0 0 0 0 0 90 0\n1 1 1 4 3 9 2\n2 3 4 5 0 50 1\n"
    )
    assert VRPTW(customers=1).read(path).name == "X.1"
    assert VRPTW().read(path).convention is Convention.DIMACS


def test_inputs_of_the_runners(line):
    problem = VRPTW(max_regions=3, max_size=20)
    lengths, values, budget = problem.operator.selector.inputs(line, ((1, 3), (2,), (4,)))
    assert (lengths.tolist(), values.tolist()) == ([2, 1, 1], [1, 3, 2, 4])
    assert budget.tolist() == [3, 20]
    [customers] = problem.operator.inputs(line, (), Region((4, 1, 3)))
    assert customers.tolist() == [1, 3, 4]
    assert {array.dtype for array in (lengths, values, budget, customers)} == {np.dtype(np.int64)}


def test_repairing_by_hand(line):
    problem = VRPTW()
    solution = ((1, 2), (3,), (4,))
    [region] = problem.operator.selector.validate(
        line, solution, [np.array([2]), np.array([3, 2])]
    ).regions
    merged = problem.operator.merge(line, solution, region, [np.array([1, 2])])
    assert merged == ((1,), (4,), (2, 3))
    assert problem.check(line, merged) == ()
    late = problem.operator.merge(line, solution, region, [np.array([2, 1])])
    assert [violation.kind for violation in problem.check(line, late)] == ["late"]
    assert problem.describe(line, solution, region).shape == (len(problem.descriptor_names),)
