import numpy as np
import pytest

from specahd.routing.formats.ranges import Range


@pytest.mark.parametrize(
    ("value", "number", "integer"),
    [
        *((0, True, True), (2.5, True, False), (3, True, True), (-1e-9, False, False)),
        *((3.0001, False, False), (np.nan, False, False), (np.inf, False, False)),
    ],
)
def test_one_number_and_many_are_judged_alike(value, number, integer):
    for accepted, expected in ((Range(0, 3), number), (Range(0, 3, integer=True), integer)):
        assert (value in accepted) is expected
        assert accepted.outside([1.0, value, 1.0, value]) == ([] if expected else [1, 3])


def test_of_a_table_the_rows_are_named_once():
    assert Range(-1, 1).outside(np.array([[0, 1], [2, np.nan], [1, -1], [0, 5]])) == [1, 3]


def test_bounds_are_told_in_full_and_short():
    assert str(Range(0, 1e9)) == "a number in [0, 1e9]"
    assert str(Range(-180, 2**31 - 1, integer=True)) == "an integer in [-180, 2147483647]"
