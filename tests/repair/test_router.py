"""The router against the formula of the paper, worked by hand."""

import numpy as np
import pytest

from specahd.repair.router import Router

NAN = float("nan")


def router(descriptors, scores, n_neighbors=5):
    descriptors = np.array(descriptors, dtype=float)
    width = descriptors.shape[1]
    return Router(
        descriptors,
        np.array(scores, dtype=float),
        mean=np.zeros(width),
        scale=np.ones(width),
        n_neighbors=n_neighbors,
    )


def test_weighted_mean_of_observed_neighbours():
    route = router([[1, 0], [1, 1], [0, 1]], [[0.4, NAN], [0.1, 0.3], [0.9, 0.0]], n_neighbors=2)
    # Cosines to (1, 0): 1, 1/√2, 0. The second member was seen on the second task only.
    expected = (0.4 + 0.1 / 2**0.5) / (1 + 1 / 2**0.5)
    assert route.estimate(np.array([1.0, 0.0])) == pytest.approx([expected, 0.3])


def test_a_member_unseen_nearby_is_judged_by_its_archive_mean():
    route = router([[1, 0], [-1, 0]], [[0.2, NAN], [0.0, 0.6]], n_neighbors=1)
    assert route.estimate(np.array([1.0, 0.0])) == pytest.approx([0.2, 0.6])


def test_a_member_never_seen_counts_as_zero():
    route = router([[1, 0]], [[0.2, NAN]])
    assert route.estimate(np.array([1.0, 0.0])) == pytest.approx([0.2, 0.0])


def test_opposite_tasks_have_no_weight_unless_all_are_opposite():
    route = router([[1, 0], [-1, 0]], [[0.2], [0.8]])
    assert route.estimate(np.array([1.0, 0.0])) == pytest.approx([0.2])
    opposite = router([[-1, 0], [-1, -0.1]], [[0.2], [0.8]])
    assert opposite.estimate(np.array([1.0, 0.0])) == pytest.approx([0.5])
    # The nearest of them, not the whole archive.
    one = router([[-1, 0], [-1, -0.1]], [[0.2], [0.8]], n_neighbors=1)
    assert one.estimate(np.array([1.0, 0.0])) == pytest.approx([0.8])


def test_the_older_task_is_nearer_on_ties():
    route = router([[1, 0], [2, 0], [3, 0]], [[0.1], [0.2], [0.3]], n_neighbors=1)
    assert route.estimate(np.array([1.0, 0.0])) == pytest.approx([0.1])


def test_ties_go_to_the_archive_mean_then_to_the_index():
    route = router([[1, 0], [0, 1]], [[0.2, 0.5, 0.2, 0.2], [0.9, 0.0, 0.1, 0.9]], n_neighbors=1)
    asked = np.array([1.0, 0.0])
    assert route.rank(asked, 9) == [1, 0, 3, 2]
    assert route.rank(asked, 2) == [1, 0]
    assert route.choose(asked) == 1


def test_an_empty_archive_chooses_the_first():
    assert router(np.zeros((0, 2)), np.zeros((0, 3))).choose(np.array([1.0, 0.0])) == 0


def test_descriptors_are_standardised_before_they_are_compared():
    route = Router(
        np.array([[10.0, 5.0], [14.0, 3.0]]),
        np.array([[0.2], [0.8]]),
        mean=np.array([12.0, 4.0]),
        scale=np.array([2.0, 0.1]),
        n_neighbors=2,
    )
    # Standardised: (-1, 10), (1, -10), and the query (1, 10), of cosine 0.98 with the first.
    assert route.estimate(np.array([14.0, 5.0])) == pytest.approx([0.2])
    # (1, 0) points away from the first; neither mean nor scale could be left out.
    assert route.estimate(np.array([14.0, 4.0])) == pytest.approx([0.8])
    # (10, 2): weights of 0.98 and 0.98, one of them negative.
    assert route.estimate(np.array([32.0, 4.2])) == pytest.approx([0.2])
