import numpy as np
import pytest

from specahd.problems.vrptw.problem import VRPTW
from specahd.routing.geometry import Convention

SOLOMON = """X101
VEHICLE
NUMBER CAPACITY
3 10
CUSTOMER
CUST NO. XCOORD. YCOORD. DEMAND READY TIME DUE DATE SERVICE TIME
0 0 0 0 0 100 0
1 1 1 4 3 9.5 2
2 30 40 5 0 50 0
3 0 10 1 20 20 70
"""
CONVENTIONS = pytest.mark.parametrize("convention", ["dimacs", "float"])


def read(path, convention="dimacs", customers=None):
    return VRPTW(convention=convention, customers=customers).read(path)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text(SOLOMON)
    return path


def arrays(instance):
    windows = instance.windows
    return instance.coords, instance.demands, windows.ready, windows.due, windows.service


def test_dimacs_is_held_in_tenths(path):
    instance = read(path)
    assert (instance.convention, instance.measure, instance.parts) == (
        Convention.DIMACS,
        Convention.FLOOR_2D,
        10,
    )
    assert [array.tolist() for array in arrays(instance)] == [
        [[0, 0], [10, 10], [300, 400], [0, 100]],
        [0, 4, 5, 1],
        [0, 30, 0, 200],
        [1000, 95, 500, 200],
        [0, 20, 0, 700],
    ]


def test_float_is_held_as_it_is(path):
    instance = read(path, "float")
    assert (instance.measure, instance.parts) == (Convention.EXACT_2D, 1)
    assert instance.windows.due.tolist() == [100, 9.5, 50, 20]


def test_first_customers(path):
    whole = read(path)
    for customers, name in ((1, "X101.1"), (2, "X101.2"), (3, "X101")):
        part = read(path, customers=customers)
        assert (part.name, part.size) == (name, customers)
        for array, other in zip(arrays(part), arrays(whole), strict=True):
            np.testing.assert_array_equal(array, other[: customers + 1])


@CONVENTIONS
def test_text_reads_back_with_its_convention(path, convention):
    first = read(path, convention)
    path.write_text(VRPTW.dumps(first))
    # What the file says holds, whatever is asked of Solomon's format.
    again = read(path, "float" if convention == "dimacs" else "dimacs")
    assert (again.name, again.capacity) == (first.name, first.capacity)
    assert again.convention == first.convention
    for array, other in zip(arrays(again), arrays(first), strict=True):
        np.testing.assert_array_equal(array, other)
    assert VRPTW.dumps(read(path)) == VRPTW.dumps(first)


@pytest.mark.parametrize(
    ("old", "new", "customer"),
    [
        # Too far, without a way back, and open too late.
        ("0 50 0", "0 49.9 0", 2),
        ("0 50 0", "0 50 0.1", 2),
        ("20 20 70", "21 21 70", 3),
    ],
)
@CONVENTIONS
def test_what_nobody_can_serve_is_known(path, old, new, customer, convention):
    path.write_text(SOLOMON.replace(old, new))
    assert read(path, convention).unservable == {customer: "out of reach in time"}


def test_dimacs_admits_what_float_is_too_late_for(path):
    # 1.4 in tenths, 1.41... unrounded.
    path.write_text(SOLOMON.replace("3 9.5", "0 1.4"))
    assert not read(path).unservable
    assert list(read(path, "float").unservable) == [1]
