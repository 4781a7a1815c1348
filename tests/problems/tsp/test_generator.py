from collections import Counter

import numpy as np
import pytest

from specahd.problems.tsp.generator import SIDE


def test_names_say_size_and_seed(pools):
    instance = pools["lower_train"][17]
    assert instance.name == f"tsp-clustered-n{instance.size}-s2024017"


def families(pool):
    return Counter(instance.name.split("-")[1] for instance in pool)


def test_what_the_pools_hold(pools):
    for pool in pools.values():
        for instance in pool:
            assert instance.coords.min() >= 0
            assert instance.coords.max() <= SIDE
            assert (instance.coords == np.round(instance.coords)).all()
    for pool, low, high in [
        ("lower_train", 10, 200),
        ("upper_train", 200, 1000),
        ("selection", 200, 1000),
    ]:
        sizes = [instance.size for instance in pools[pool]]
        assert min(sizes) >= low
        assert max(sizes) <= high
        assert max(sizes) - min(sizes) > 0.9 * (high - low)
    assert families(pools["lower_train"]) == {"clustered": 128}
    for pool in ("upper_train", "selection"):
        assert families(pools[pool]) == {"clustered": 48, "uniform": 12}
    assert families(pools["validation"]) == dict.fromkeys(("ring", "corridor", "mixed"), 20)
    kinds = Counter(
        (instance.name.split("-")[1], instance.size) for instance in pools["validation"]
    )
    assert len(kinds) == 12
    assert set(kinds.values()) == {5}
    assert {size for _, size in kinds} == {200, 500, 800, 1000}


def scatter(points, clusters, rng):
    """Return the scatter per axis within the clusters that Lloyd's algorithm finds."""
    centres = points[rng.choice(len(points), clusters, replace=False)]
    for _ in range(20):
        gaps = np.linalg.norm(points[:, None] - centres, axis=2)
        owner = gaps.argmin(axis=1)
        centres = np.array([points[owner == k].mean(axis=0) for k in np.unique(owner)])
    return np.sqrt(np.square(gaps.min(axis=1)).mean() / 2)


@pytest.mark.parametrize(
    ("block", "clusters", "spread"), [(0, 3, 0.03), (1, 3, 0.07), (2, 10, 0.03), (3, 10, 0.07)]
)
def test_clusters_are_as_many_and_as_wide_as_they_should(pools, block, clusters, spread):
    rng = np.random.default_rng(block)
    large = [i for i in pools["lower_train"][32 * block : 32 * block + 32] if i.size >= 100]
    assert len(large) > 8
    # The least of several starts; ten clusters overlap, which makes them seem narrower.
    found = [min(scatter(i.coords, clusters, rng) for _ in range(10)) / SIDE for i in large]
    assert 0.7 * spread < np.median(found) < 1.15 * spread
