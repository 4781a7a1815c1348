from collections import Counter

import numpy as np

from specahd.problems.sdvrp.generator import DEMANDS, FAMILIES


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
