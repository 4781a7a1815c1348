from collections import Counter

import numpy as np


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
