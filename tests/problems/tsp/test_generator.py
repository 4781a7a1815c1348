import hashlib
from collections import Counter

import numpy as np
import pytest
import vrplib as other_reader

from specahd.core.errors import ConfigError
from specahd.problems.tsp.generator import SIDE, generate
from specahd.problems.tsp.instance import dumps, read
from specahd.routing.base import POOLS

GOLDEN = {
    "lower_train": "68e5ed984bce3ff8890612dac1113362071ff159e51d463d04ddcfb0886b2fdf",
    "upper_train": "a7ba562067efbef8072c0d4744b608c3c401d6f4b069c743f6b78927d405de73",
    "selection": "b47e4615457c8806f9523d77d2318d3a078559fb9a913f059f8a399bd77c8f9a",
    "validation": "a4c9357fe332f0b06334f2645e3140d76d903d72b7e153eb6c953929ca37243b",
}


@pytest.fixture(scope="module")
def pools():
    return {pool: list(generate(pool, 2024)) for pool in POOLS}


@pytest.mark.parametrize("pool", POOLS)
def test_same_bytes_everywhere(pools, pool):
    text = "".join(map(dumps, pools[pool]))
    assert hashlib.sha256(text.encode()).hexdigest() == GOLDEN[pool]


def test_pools_are_disjoint(pools):
    names = [instance.name for pool in pools.values() for instance in pool]
    contents = [
        hashlib.sha256(instance.coords.tobytes()).digest()
        for pool in pools.values()
        for instance in pool
    ]
    serials = [name.rpartition("-s")[2] for name in names]
    assert len(names) == len(set(names)) == len(set(contents)) == len(set(serials)) == 308


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


def test_files_read_back_here_and_elsewhere(pools, tmp_path):
    for instance in [pools["lower_train"][0], pools["validation"][0]]:
        path = tmp_path / "x.tsp"
        path.write_text(dumps(instance))
        again = read(path)
        theirs = other_reader.read_instance(path)
        assert (again.name, again.comment) == (instance.name, instance.comment)
        for coords in (again.coords, theirs["node_coord"]):
            np.testing.assert_array_equal(coords, instance.coords)


def test_another_seed_gives_other_instances():
    assert dumps(next(generate("selection", 1))) != dumps(next(generate("selection", 2)))


@pytest.mark.parametrize(("pool", "seed"), [("public", 2024), ("selection", -1)])
def test_what_cannot_be_generated(pool, seed):
    with pytest.raises(ConfigError, match="Expected a pool"):
        next(generate(pool, seed))
