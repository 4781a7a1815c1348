import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specahd.routing.base import Rejection
from specahd.routing.groups import concatenated, nested, separated, validate_groups

MALFORMED = -(2**63)


def validate(*groups, largest=20, max_regions=3, max_size=4):
    return validate_groups(concatenated(groups), largest, max_regions, max_size)


@given(st.lists(st.lists(st.integers(-5, 5))))
def test_concatenated_groups_nest_again(groups):
    assert nested(*concatenated(groups)) == tuple(map(tuple, groups))


def test_zeros_separate_groups():
    assert separated(np.array([0, 4, 2, 0, 0, 5, 0])) == ((4, 2), (5,))
    assert separated(np.array([], np.int64)) == ()


@pytest.mark.parametrize(
    ("groups", "regions"),
    [
        # The order of proposals and customers is kept, and a group of the largest size.
        (([5, 2, 9], [1, 3, 4, 6]), [(5, 2, 9), (1, 3, 4, 6)]),
        ((), []),
        # The depot, strangers and repetitions are dropped, and then the size is judged.
        (([0, 1, 21, -3, MALFORMED, 20, 1],), [(1, 20)]),
        (([1, 1, 2, 2, 3, 3, 0, 99],), [(1, 2, 3)]),
    ],
)
def test_kept_regions(groups, regions):
    result = validate(*groups)
    assert [region.nodes for region in result.regions] == regions
    assert (result.proposed, result.rejections) == (len(groups), ())


def test_rejections_keep_their_reason():
    result = validate([1], [0, 2, 2], [1, 2, 3, 4, 5], [6, 7], [], [8, 9], [10, 11], [12, 13], [])
    assert [region.nodes for region in result.regions] == [(6, 7), (8, 9), (10, 11)]
    assert result.rejections == (
        Rejection(0, "empty"),
        Rejection(1, "empty"),
        Rejection(2, "oversized"),
        Rejection(4, "empty"),
        Rejection(7, "over_budget"),
        Rejection(8, "over_budget"),
    )


def test_only_kept_regions_use_their_customers():
    # The first is oversized, so 1 and 2 are free for the second, not for the third.
    result = validate([1, 2, 3, 4, 5], [1, 2], [2, 1, 6], [2, 7, 6])
    assert [region.nodes for region in result.regions] == [(1, 2), (7, 6)]
    assert result.rejections == (Rejection(0, "oversized"), Rejection(2, "empty"))


ints = lambda *values: np.array(values, np.int64)  # noqa: E731


@pytest.mark.parametrize(
    "output",
    [
        [ints(-1), ints()],
        [],
        [ints(2)],
        [ints(2), ints(1, 2), ints()],
        [ints(3), ints(1, 2)],
        [ints(1), ints(1, 2)],
        [ints(2, -1, 1), ints(1, 2)],
        [ints(2**62, 2**62, 2**62, 2**62), ints()],
        [ints(2).astype(np.int32), ints(1, 2)],
        [ints(2), np.array([1.0, 2.0])],
        [ints(2), ints(1, 2).reshape(1, 2)],
        [[2], [1, 2]],
    ],
)
def test_inconsistent_arrays_are_malformed(output):
    result = validate_groups(output, 20, 3, 4)
    assert (result.proposed, result.regions) == (1, ())
    assert result.rejections == (Rejection(0, "malformed"),)


@given(st.lists(st.lists(st.integers(-2, 14), max_size=9), max_size=9))
def test_regions_are_disjoint_and_bounded(groups):
    result = validate(*groups, largest=12)
    nodes = [node for region in result.regions for node in region.nodes]
    assert len(nodes) == len(set(nodes))
    assert set(nodes) <= set(range(1, 13))
    assert all(2 <= len(region.nodes) <= 4 for region in result.regions)
    assert len(result.regions) <= 3
    assert len(result.regions) + len(result.rejections) == result.proposed == len(groups)
