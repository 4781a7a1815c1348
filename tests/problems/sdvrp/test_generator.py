import hashlib
from collections import Counter

import numpy as np
import pytest
import vrplib as other_reader

from specahd.core.errors import ConfigError
from specahd.problems.sdvrp.generator import DEMANDS, FAMILIES, generate
from specahd.problems.sdvrp.instance import dumps, read
from specahd.routing.base import POOLS

GOLDEN = {
    "lower_train": "ae282d3c9db9fa40b5f6198f611d4aab73e8f2cf0ed661713740a2bb04a88272",
    "upper_train": "704e83901c50e74a62781ea352844f4f91f86c974919ce18017218130e32e6c2",
    "selection": "be8fdf71dc644a6abdfc32922cda58630a9874c99c6a30d99f2764f6fed19e09",
    "validation": "0313247fdc483a58c5507e29e9ebfd0acaddafc84b0d7192096333e5364b5e06",
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
        hashlib.sha256(instance.coords.tobytes() + instance.demands.tobytes()).digest()
        for pool in pools.values()
        for instance in pool
    ]
    serials = [name.rpartition("-s")[2] for name in names]
    assert len(names) == len(set(names)) == len(set(contents)) == len(set(serials)) == 240


def test_names_say_family_demand_size_and_seed(pools):
    instance = pools["lower_train"][6]
    assert instance.name == f"sdvrp-ring-heavy-n{instance.size + 1}-s2024006"


def test_what_the_pools_hold(pools):
    for pool in pools.values():
        kinds = Counter(tuple(instance.name.split("-")[1:3]) for instance in pool)
        assert kinds == {(family, demand): 5 for family in FAMILIES for demand in DEMANDS}
        for instance in pool:
            low, high = DEMANDS[instance.name.split("-")[2]]
            shares = 100 * instance.demands[1:] / instance.capacity
            assert low <= shares.min() <= shares.max() <= high
            assert shares.max() - shares.min() > 0.7 * (high - low)
            assert 100 <= instance.capacity <= 200
            assert instance.demands[0] == 0
            assert instance.coords.min() >= 0
            assert instance.coords.max() <= 1000
    for pool in ("lower_train", "upper_train", "selection"):
        sizes = [instance.size for instance in pools[pool]]
        assert 200 <= min(sizes) < 230
        assert 470 < max(sizes) <= 500
    sizes = Counter(instance.size for instance in pools["validation"])
    assert sizes == dict.fromkeys((200, 250, 300, 400, 500), 12)


def test_boards_are_rows_of_holes(pools):
    for instance in (*pools["selection"], *pools["validation"]):
        # Where five share a coordinate is a row; elsewhere that happens by chance only.
        shares = []
        for axis in (0, 1):
            values = instance.coords[1:, axis]
            rows = np.unique(values, return_counts=True)[1]
            shares.append(rows[rows >= 5].sum() / len(values))
        assert (max(shares) > 0.25) == ("-tsplib-" in instance.name), instance.name


def test_files_read_back_here_and_elsewhere(pools, tmp_path):
    for instance in [pools["lower_train"][0], pools["validation"][0]]:
        path = tmp_path / "x.vrp"
        path.write_text(dumps(instance))
        again, theirs = read(path), other_reader.read_instance(path)
        assert (again.name, again.comment) == (instance.name, instance.comment)
        assert again.capacity == instance.capacity == theirs["capacity"]
        assert theirs["type"] == "SDVRP"
        for coords in (again.coords, theirs["node_coord"]):
            np.testing.assert_array_equal(coords, instance.coords)
        for demands in (again.demands, theirs["demand"]):
            np.testing.assert_array_equal(demands, instance.demands)


def test_another_seed_gives_other_instances():
    assert dumps(next(generate("selection", 1))) != dumps(next(generate("selection", 2)))


@pytest.mark.parametrize(("pool", "seed"), [("public", 2024), ("selection", -1)])
def test_what_cannot_be_generated(pool, seed):
    with pytest.raises(ConfigError, match="Expected a pool"):
        next(generate(pool, seed))
