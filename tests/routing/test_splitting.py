"""One's own instances in pools: by content, with near copies together, and steady as files come."""

import numpy as np
import pytest

from specahd import api
from specahd.core.errors import ConfigError
from specahd.core.settings import Pools
from specahd.routing.base import POOLS
from specahd.routing.labels import Labels
from specahd.routing.splitting import split
from specahd.routing.vehicles.instance import VehicleInstance

STOPS = 20


def day(number, **more):
    """Return a day of other customers than all other days."""
    rng = np.random.default_rng(number)
    coords = rng.integers(0, 1000, (STOPS + 1, 2)).astype(float)
    demands = np.append(0, rng.integers(1, 9, STOPS))
    return VehicleInstance(f"day {number}", coords, demands, 30, **more)


def changed(instance, stops):
    """Return the same day in another order, with another demand at the first stops."""
    order = np.append(0, np.random.default_rng(0).permutation(np.arange(1, STOPS + 1)))
    demands = instance.demands.copy()
    demands[1 : stops + 1] += 10
    return VehicleInstance("again", instance.coords[order], demands[order], instance.capacity)


def pools_of(instances, **options):
    named = {str(place): instance for place, instance in enumerate(instances)}
    return [place.pool for place in split(named, Pools(**options)).values()]


def test_pools_have_their_shares_and_no_pool_is_empty():
    days = list(map(day, range(40)))
    counts = [pools_of(days).count(pool) for pool in POOLS]
    assert counts == [12, 8, 8, 12]
    few = [pools_of(days[:5], shares=[0.9, 0.02, 0.02, 0.06]).count(pool) for pool in POOLS]
    assert few == [2, 1, 1, 1]


def test_neither_order_nor_name_decides():
    days = list(map(day, range(12)))
    assert pools_of(days[::-1]) == pools_of(days)[::-1]
    renamed = [VehicleInstance("x", one.coords, one.demands, one.capacity) for one in days]
    assert pools_of(renamed) == pools_of(days)
    assert pools_of([changed(one, 0) for one in days]) == pools_of(days)


@pytest.mark.parametrize("shares", [[0.3, 0.2, 0.2, 0.3], [0.4, 0.01, 0.05, 0.54]])
def test_one_more_day_moves_none_between_training_and_validation(shares):
    days = list(map(day, range(60)))
    before = pools_of(days[:4], shares=shares)
    for count in range(5, 61):
        after = pools_of(days[:count], shares=shares)
        for old, new in zip(before, after, strict=False):
            assert abs(POOLS.index(old) - POOLS.index(new)) <= 1
            assert {old, new} != {"upper_train", "validation"}
        before = after


@pytest.mark.parametrize(("stops", "near"), [(0, True), (4, True), (5, False)])
def test_a_near_copy_is_in_the_same_pool(stops, near):
    """Of 20 stops 16 are equal: 0.8."""
    together = 0
    for number in range(12):
        days = [*map(day, range(12)), changed(day(number), stops)]
        found = pools_of(days)
        together += found[number] == found[-1]
    assert together == 12 if near else together < 12
    days = [*map(day, range(3)), changed(day(0), stops)]
    if near:
        with pytest.raises(ConfigError, match=r"at least 4 .* no near copies .* got 3 of 4: add"):
            pools_of(days)
    else:
        assert sorted(pools_of(days)) == sorted(POOLS)
    assert sorted(pools_of(days, near=1)) == sorted(POOLS) if stops else True


def test_the_copy_of_a_copy_belongs_to_both():
    first = day(0)
    second = changed(first, 4)
    third = changed(second, 4)
    with pytest.raises(ConfigError, match="got 3 of 5"):
        pools_of([first, second, third, day(1), day(2)])


def test_degrees_and_parts_and_the_horizon_of_a_day_are_no_stops(tmp_path):
    """What one other stop changes at all stops makes no other day."""
    head = "name,lon,lat,demand,ready,due"
    rows = [f"s{i},{13 + i / 97},{52 + i / 89},{i % 7 + 1},{i}," for i in range(20)]
    for name, last in (("a", "t,13.9,52.9,4,5,"), ("b", "t,11.1,51.2,4.5,99,")):
        lines = [head, "depot,13.4,52.5,,,", *rows, last]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines))
    both = [api.read(tmp_path / f"{name}.csv", capacity=50).data for name in "ab"]
    assert both[0].windows.due.max() != both[1].windows.due.max()
    assert not np.array_equal(both[0].coords[1:9], both[1].coords[1:9])
    assert both[1].labels.decimals == 1
    with pytest.raises(ConfigError, match="got 1 of 2"):
        pools_of(both)


def test_distances_alone_tell_copies():
    rng = np.random.default_rng(1)

    def tour(rows):
        points = rng.integers(0, 1000, (30, 2)) if rows is None else rows
        away = np.rint(np.hypot(*np.moveaxis(points[:, None] - points, 2, 0)))
        return points, VehicleInstance(
            "x", np.zeros((30, 2)), np.ones(30, int), 9, matrix=away, coords_from_scaling=True
        )

    points, first = tour(None)
    _, again = tour(points[[0, *range(29, 0, -1)]])
    others = [tour(None)[1] for _ in range(4)]
    found = pools_of([first, *others, again], near=0.8)
    assert found[0] == found[-1]
    with pytest.raises(ConfigError, match="got 3 of 4"):
        pools_of([first, *others[:2], again])


def test_labels_of_instances_count_in_their_own_unit():
    plain = day(0)
    tenths = VehicleInstance("x", plain.coords, plain.demands * 10, 300, labels=Labels(decimals=1))
    with pytest.raises(ConfigError, match="got 1 of 2"):
        pools_of([plain, tenths])
