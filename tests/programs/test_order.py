import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specahd.core.seeding import generator
from specahd.programs.runtime import BLOCK, float_keys, stable_order

FLOATS = st.floats(width=64)


@given(st.lists(st.one_of(FLOATS, st.sampled_from([0.0, -0.0, np.inf, -np.inf, np.nan]))))
def test_floats_are_ordered_as_by_a_stable_sort(values):
    array = np.array(values, dtype=np.float64)
    expected = np.argsort(array, kind="stable")
    assert stable_order(float_keys(array)).tolist() == expected.tolist()


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_integers_too(values):
    array = np.array(values, dtype=np.int64)
    assert stable_order(array).tolist() == np.argsort(array, kind="stable").tolist()


@pytest.mark.parametrize("size", [BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 3 * BLOCK + 17, 5000])
def test_blocks_are_merged(size):
    for values in (
        generator(size, "test").random(size),
        generator(size, "test").integers(0, 9, size=size).astype(float),
    ):
        expected = np.argsort(values, kind="stable")
        assert stable_order(float_keys(values)).tolist() == expected.tolist()
