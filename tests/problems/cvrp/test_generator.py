import hashlib
from collections import Counter

import numpy as np
import pytest
import vrplib as other_reader

from specahd.core.errors import ConfigError
from specahd.problems.cvrp.generator import generate
from specahd.problems.cvrp.instance import dumps, read
from specahd.routing.base import POOLS

GOLDEN = {
    "lower_train": "e77dd5446ea802b31a3a58eb90576182e54baf5337964d42d70f3915d6f59cbf",
    "upper_train": "73573c2a2066060e30efee5f1ee0fcf38648ef88d39196bfdd530aa858005f71",
    "selection": "659abf19343a9dee92afd93c6611ac9f1919e858ca6c2027b281c5f213931e25",
    "validation": "3248d3d68348cefcedefaed04a16c440556b3600732f19846a09d01d5ca3c1a4",
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
    assert len(names) == len(set(names)) == len(set(contents)) == len(set(serials)) == 436


def test_names_say_size_and_seed(pools):
    instance = pools["lower_train"][17]
    assert instance.name == f"cvrp-uniform-n{instance.size + 1}-s2024017"


def test_what_the_pools_hold(pools):
    for pool in pools.values():
        for instance in pool:
            assert 10 <= instance.capacity <= 150
            assert instance.demands[0] == 0
            assert set(instance.demands[1:].tolist()) <= set(range(1, 10))
            assert instance.coords.min() >= 0
            assert instance.coords.max() <= 1000
    for pool in ("lower_train", "upper_train", "selection"):
        nodes = [instance.size + 1 for instance in pools[pool]]
        assert min(nodes) >= 20
        assert max(nodes) <= 200
        assert max(nodes) - min(nodes) > 150
        assert all("-uniform-" in instance.name for instance in pools[pool])
    sizes = Counter(instance.size for instance in pools["validation"])
    assert sizes == dict.fromkeys((100, 200, 300, 500, 800), 12)
    families = Counter(instance.name.split("-")[1] for instance in pools["validation"])
    assert families == dict.fromkeys(("clustered", "ring", "corridor", "mixed"), 15)


def test_demands_have_linear_weights(pools):
    demands = np.concatenate([instance.demands[1:] for instance in pools["lower_train"]])
    shares = np.bincount(demands, minlength=10)[1:] / len(demands)
    np.testing.assert_allclose(shares, np.arange(1, 10) / 45, atol=0.01)


def test_files_read_back_here_and_elsewhere(pools, tmp_path):
    for instance in [pools["lower_train"][0], pools["validation"][0]]:
        path = tmp_path / "x.vrp"
        path.write_text(dumps(instance))
        again, theirs = read(path), other_reader.read_instance(path)
        assert (again.name, again.comment) == (instance.name, instance.comment)
        assert again.capacity == instance.capacity == theirs["capacity"]
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
