from collections import Counter

import numpy as np
import pytest
import pyvrp
import vrplib as other_reader

from specahd.problems.vrptw.instance import dumps, read
from specahd.routing.base import POOLS
from specahd.routing.geometry import Convention, distances

CLASSES = ("c1", "c2", "r1", "r2", "rc1", "rc2")
SIZES = (200, 400, 600, 800, 1000)


def family(instance):
    return instance.name.split("-")[1]


def test_names_say_class_size_and_seed(pools):
    assert pools["lower_train"][10].name == "vrptw-rc1-n400-s2024010"
    for instance in pools["selection"]:
        assert instance.name.split("-")[2] == f"n{instance.size}"


@pytest.mark.parametrize("pool", POOLS)
def test_what_the_pools_hold(pools, pool):
    kinds = Counter((family(instance), instance.size) for instance in pools[pool])
    assert kinds == {(name, size): 2 for name in CLASSES for size in SIZES}
    for instance in pools[pool]:
        arrays = (instance.coords, *(getattr(instance.windows, x) for x in ("ready", "due")))
        assert all(np.array_equal(array, np.rint(array)) for array in arrays)
        assert instance.demands[0] == 0
        assert instance.demands[1:].min() >= 1
        assert instance.demands.max() <= 46 <= instance.capacity
        side = 2 * instance.coords[0, 0]
        assert instance.coords.min() >= 0
        assert instance.coords.max() <= side


@pytest.mark.parametrize("pool", POOLS)
def test_every_customer_can_be_served_alone(pools, pool):
    for instance in pools[pool]:
        ready, due = instance.windows.ready, instance.windows.due
        away = distances(instance.coords[0], instance.coords, Convention.EUC_2D)
        assert (ready <= due).all()
        start = np.maximum(away, ready)
        assert (start <= due).all()
        assert (start + instance.windows.service + away <= due[0]).all()


def test_types_differ_in_capacity_horizon_and_width(pools):
    instances = [instance for pool in pools.values() for instance in pool]

    def width(instance):
        bound = instance.windows.ready > 0
        widths = (instance.windows.due - instance.windows.ready)[bound]
        return widths.mean()

    for name in ("c", "r", "rc"):
        narrow, wide = (
            [instance for instance in instances if family(instance) == f"{name}{kind}"]
            for kind in (1, 2)
        )
        assert {instance.capacity for instance in narrow} == {200}
        assert min(instance.capacity for instance in wide) >= 700
        closing = [max(instance.windows.due[0] for instance in part) for part in (narrow, wide)]
        assert closing[1] > 2 * closing[0]
        assert np.mean(list(map(width, wide))) > 2 * np.mean(list(map(width, narrow)))


def test_families_differ_in_crowding(pools):
    def crowding(instance):
        """Mean distance to the nearest other customer, in units of the side."""
        points = instance.coords[1:]
        gaps = distances(points[:, None], points[None], Convention.EXACT_2D)
        np.fill_diagonal(gaps, np.inf)
        return gaps.min(axis=1).mean() / (2 * instance.coords[0, 0])

    by_family = {
        name: np.mean(
            [
                crowding(instance)
                for instance in pools["selection"]
                if family(instance).rstrip("12") == name and instance.size <= 600
            ]
        )
        for name in ("c", "rc", "r")
    }
    assert by_family["c"] < 0.7 * by_family["rc"] < 0.7 * by_family["r"]


def test_shares_of_bound_windows(pools):
    shares = Counter()
    for pool in pools.values():
        for instance in pool:
            # An unbound customer is open from the start.
            shares[round(4 * (instance.windows.ready[1:] > 0).mean())] += 1
    assert set(shares) == {1, 2, 3, 4}
    assert min(shares.values()) > 30


def test_files_read_back_here_and_elsewhere(pools, tmp_path):
    path = tmp_path / "x.vrp"
    for instance in pools["validation"][:6]:
        path.write_text(dumps(instance))
        again, theirs = read(path), other_reader.read_instance(path)
        windows = instance.windows
        assert (again.name, again.comment) == (instance.name, instance.comment)
        assert again.capacity == instance.capacity == theirs["capacity"]
        for coords in (again.coords, theirs["node_coord"]):
            np.testing.assert_array_equal(coords, instance.coords)
        for demands in (again.demands, theirs["demand"]):
            np.testing.assert_array_equal(demands, instance.demands)
        for ready in (again.windows.ready, theirs["time_window"][:, 0]):
            np.testing.assert_array_equal(ready, windows.ready)
        for due in (again.windows.due, theirs["time_window"][:, 1]):
            np.testing.assert_array_equal(due, windows.due)
        for service in (again.windows.service, theirs["service_time"]):
            np.testing.assert_array_equal(service, windows.service)
        data = pyvrp.read(path, round_func="round")
        matrix = distances(instance.coords[:, None], instance.coords[None], Convention.EUC_2D)
        np.testing.assert_array_equal(data.distance_matrix(0), matrix)
        clients = data.clients()
        assert [client.tw_early for client in clients] == windows.ready[1:].tolist()
        assert [client.tw_late for client in clients] == windows.due[1:].tolist()
        assert [client.service_duration for client in clients] == windows.service[1:].tolist()
        assert [client.delivery[0] for client in clients] == instance.demands[1:].tolist()
