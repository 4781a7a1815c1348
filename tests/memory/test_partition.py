"""Programs partitioned by what is alike in them."""

import numpy as np
import pytest

from specahd.core.contract import Parent
from specahd.core.program import Level, Program
from specahd.memory.partition import feature_rows, k_means, partition_programs

NEAREST = "def f(a, b):\n    return a[np.argmin(b[{0}] * {1})]\n"
LOOP = "def f(a, b):\n    {0} = 0\n    for x in a:\n        {0} = {0} + x * {1}\n    return {0}\n"


def parents():
    sources = [
        form.format(name, number)
        for form, names in ((NEAREST, "0123"), (LOOP, "stuv"))
        for name, number in zip(names, (1.01, 1.02, 1.03, 1.04), strict=True)
    ]
    return [
        Parent(Program(f"p{number}", Level.LOWER, source, "An idea.", "i1", contract="x"), number)
        for number, source in enumerate(sources)
    ]


def groups(*features, count=2, seed=0):
    found = partition_programs(parents(), features, count, np.random.default_rng(seed))
    return sorted(sorted(parent.score for parent in group) for group in found)


@pytest.mark.parametrize("seed", range(5))
def test_programs_of_one_form_come_together(seed):
    assert groups("syntax", seed=seed) == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_scores_may_be_what_is_alike():
    assert groups("score") == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert len(groups("syntax", "score", count=4)) == 4


def test_all_are_one_group_where_nothing_differs():
    assert groups("idea", count=3) == [[*range(8)]]


def test_chance_gives_other_groups():
    assert len({str(groups("random", seed=seed)) for seed in range(5)}) > 1


def test_features_are_reduced_to_ten_dimensions_that_keep_what_varies():
    rng = np.random.default_rng(0)
    table = feature_rows(parents(), ("syntax", "score", "random"), rng)
    assert table.shape == (8, 8)
    # A column of standardised values each: 8 similarities, a score, 20 draws.
    assert (table**2).sum() == pytest.approx(8 * 29)


def test_k_means_is_the_best_of_several_starts():
    rng = np.random.default_rng(0)
    centres = np.array([[9.0 * row, 9.0 * column] for row in range(4) for column in range(4)])
    points = (centres[:, None] + rng.normal(scale=0.5, size=(16, 4, 2))).reshape(64, 2)
    for seed in range(5):
        labels = k_means(points, 16, np.random.default_rng(seed)).reshape(16, 4)
        assert (labels == labels[:, :1]).all()
        assert len(set(labels[:, 0])) == 16


def test_each_point_is_nearest_to_the_mean_of_its_own_cluster():
    points = np.random.default_rng(0).random((60, 2))
    labels = k_means(points, 4, np.random.default_rng(1))
    means = np.stack([points[labels == number].mean(axis=0) for number in range(4)])
    apart = np.linalg.norm(points[:, None] - means[None], axis=2)
    assert (apart.argmin(axis=1) == labels).all()
