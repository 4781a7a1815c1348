import numpy as np
import pytest

from specahd.core.errors import FileError
from specahd.problems.vrptw.instance import dumps, read
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


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text(SOLOMON)
    return path


def assert_equal(first, second):
    assert (first.name, first.capacity, first.convention) == (
        second.name,
        second.capacity,
        second.convention,
    )
    pairs = [(getattr(x, name) for x in (first, second)) for name in ("coords", "demands")]
    pairs += [
        (getattr(x.windows, name) for x in (first, second)) for name in ("ready", "due", "service")
    ]
    for one, other in pairs:
        np.testing.assert_array_equal(one, other)


def test_dimacs_is_held_in_tenths(path):
    instance = read(path)
    assert (instance.convention, instance.measure, instance.parts) == (
        Convention.DIMACS,
        Convention.FLOOR_2D,
        10,
    )
    assert instance.coords.tolist() == [[0, 0], [10, 10], [300, 400], [0, 100]]
    assert instance.windows.ready.tolist() == [0, 30, 0, 200]
    assert instance.windows.due.tolist() == [1000, 95, 500, 200]
    assert instance.windows.service.tolist() == [0, 20, 0, 700]
    with pytest.raises(ValueError, match="read-only"):
        instance.windows.due[0] = 1.0


def test_float_is_held_as_it_is(path):
    instance = read(path, Convention.EXACT_2D)
    assert (instance.measure, instance.parts) == (Convention.EXACT_2D, 1)
    assert instance.windows.due.tolist() == [100, 9.5, 50, 20]


def test_first_customers(path):
    assert (read(path, customers=2).name, read(path, customers=2).size) == ("X101.2", 2)
    assert (read(path, customers=1).size, read(path, customers=3).name) == (1, "X101")


@pytest.mark.parametrize("convention", [Convention.DIMACS, Convention.EXACT_2D])
def test_text_reads_back_with_its_convention(path, convention):
    first = read(path, convention)
    path.write_text(dumps(first))
    # What the file says holds, whatever is asked of Solomon's format.
    assert_equal(read(path, Convention.CEIL_2D), first)
    assert dumps(read(path)) == dumps(first)


BAD = {
    "heavy": ("1 1 1 4", "1 1 1 11", "DEMAND of customer 1 is 11, expected at most CAPACITY 10"),
    "too far": ("0 50 0", "0 49.9 0", "TIME_WINDOW of customer 2 is 0 to 49.9, expected one in"),
    "no way back": ("0 50 0", "0 50 0.1", "TIME_WINDOW of customer 2 is 0 to 50, expected one in"),
    "ready too late": ("20 20 70", "21 21 70", "TIME_WINDOW of customer 3 is 21 to 21, expected"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("convention", [Convention.DIMACS, Convention.EXACT_2D])
def test_what_is_no_instance_is_refused_in_one_sentence(path, case, convention):
    old, new, message = BAD[case]
    path.write_text(SOLOMON.replace(old, new))
    with pytest.raises(FileError, match=message) as caught:
        read(path, convention)
    assert str(caught.value).startswith(f"{path}: ")
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def test_dimacs_admits_what_float_is_too_late_for(path):
    # 1.4 in tenths, 1.41... unrounded.
    path.write_text(SOLOMON.replace("3 9.5", "0 1.4"))
    assert read(path).size == 3
    with pytest.raises(FileError, match=r"TIME_WINDOW of customer 1 is 0 to 1\.4"):
        read(path, Convention.EXACT_2D)
